// SPDX-License-Identifier: Apache-2.0
#include "stab/host/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stab/core/error.h"
#include "stab/core/sha256.h"
#include "support/full_disk.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::FullDisk;
using test::read_text;
using test::TempDir;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

template <typename Function>
Error error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::internal, "", "", "");
}

TEST(Files, ReadsAWholeFileUpToItsLimit) {
  const TempDir dir;
  const fs::path file = dir.write("a", std::string("1\0\n", 3));
  EXPECT_EQ(read_file(file, 3), std::string("1\0\n", 3));
  EXPECT_EQ(read_prefix(file, 2), std::string("1\0", 2));
  EXPECT_EQ(read_prefix(file, 10).size(), 3U);
  const Error error = error_of([&] { read_file(file, 2); });
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr("larger than 2 bytes"));
}

TEST(Files, RefusesWhatIsNoRegularFileWithoutWaitingForIt) {
  const TempDir dir;
  ASSERT_EQ(mkfifo((dir.path() / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(error_of([&] { read_file(dir.path() / "fifo", 10); }).what(),
              HasSubstr("not a regular file"));
  EXPECT_THAT(error_of([&] { read_file(dir.path(), 10); }).what(), HasSubstr("it is a folder"));
  EXPECT_THAT(error_of([&] { read_file(dir.path() / "none", 10); }).what(),
              HasSubstr("No such file"));
}

TEST(Files, HashesAFileLikeItsBytes) {
  const TempDir dir;
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(sha256_of_file(dir.write("a", text)), sha256_hex(text));
}

TEST(Files, WritesAFileWholeWithMissingFoldersAboveIt) {
  const TempDir dir;
  const fs::path file = dir.path() / "x" / "y" / "a";
  write_file_atomically(file, "one");
  write_file_atomically(file, "two");
  EXPECT_EQ(read_text(file), "two");
  EXPECT_EQ(names_in(file.parent_path()).size(), 1U);
  struct stat status = {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST(Files, KeepsTheOldContentWhenTheDiskIsFull) {
  const TempDir dir;
  const fs::path file = dir.write("a", "old");
  Error error(ErrorKind::internal, "", "", "");
  {
    const FullDisk full(1000);
    error = error_of([&] { write_file_atomically(file, std::string(2000, 'x')); });
  }
  EXPECT_EQ(error.kind(), ErrorKind::output);
  EXPECT_THAT(error.what(), HasSubstr(file.string()));
  EXPECT_EQ(read_text(file), "old");
  EXPECT_EQ(names_in(dir.path()).size(), 1U);
}

TEST(Files, SaysWhyAFolderCannotBeWritten) {
  const TempDir dir;
  const fs::path file = dir.write("a", "x");
  const Error error = error_of([&] { write_file_atomically(file / "b", "y"); });
  EXPECT_EQ(error.kind(), ErrorKind::output);
  EXPECT_THAT(error.what(), HasSubstr("Not a directory"));
  EXPECT_EQ(error_of([&] { check_writable(file / "b", 1); }).kind(), ErrorKind::output);
}

TEST(Files, FindsBeforehandThatAFolderCannotBeWrittenOrIsTooFull) {
  const TempDir dir;
  EXPECT_NO_THROW(check_writable(dir.path() / "not" / "there" / "yet", 1));
  const Error error = error_of([&] { check_writable(dir.path(), std::uint64_t{1} << 60U); });
  EXPECT_EQ(error.kind(), ErrorKind::output);
  EXPECT_THAT(error.what(), HasSubstr("1152921504606846976 bytes"));
  if (geteuid() != 0) {
    fs::permissions(dir.path(), fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(error_of([&] { check_writable(dir.path(), 1); }).kind(), ErrorKind::output);
    fs::permissions(dir.path(), fs::perms::owner_all);
  }
  EXPECT_EQ(error_of([] { check_writable("/proc/1/none", 1); }).kind(), ErrorKind::output);
}

}  // namespace
}  // namespace stab
