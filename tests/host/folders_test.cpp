// SPDX-License-Identifier: Apache-2.0
#include "stab/host/folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stab/core/error.h"
#include "stab/core/sha256.h"
#include "stab/host/files.h"
#include "support/full_disk.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::FullDisk;
using test::read_text;
using test::TempDir;
using ::testing::HasSubstr;

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

FileEntry file_entry(const fs::path& source, std::string path, unsigned mode) {
  FileEntry entry;
  entry.path = std::move(path);
  entry.source = source;
  entry.mode = mode;
  entry.size = fs::file_size(source);
  entry.sha256 = sha256_of_file(source);
  return entry;
}

unsigned mode_of(const fs::path& path) {
  struct stat status = {};
  return lstat(path.c_str(), &status) == 0 ? status.st_mode & 0777U : 0;
}

TEST(TemporaryFolder, IsPrivateAndGoneAfterwards) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    EXPECT_EQ(mode_of(path), 0700U);
    write_file_atomically(path / "a" / "b", "x");
    fs::permissions(path / "a", fs::perms::owner_read | fs::perms::owner_exec);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Folders, CopiesContentModesAndLinks) {
  const TempDir source;
  const TempDir target;
  source.write("a", "one");
  FileEntry folder;
  folder.path = "d";
  folder.kind = FileKind::folder;
  folder.mode = 0555;
  FileEntry link;
  link.path = "d/link";
  link.kind = FileKind::link;
  link.link_target = "../a";
  copy_files({file_entry(source.path() / "a", "a", 0555), folder, link, text_entry("e/f", "two")},
             target.path());
  EXPECT_EQ(read_text(target.path() / "a"), "one");
  EXPECT_EQ(mode_of(target.path() / "a"), 0555U);
  EXPECT_EQ(mode_of(target.path() / "d"), 0755U);
  EXPECT_EQ(fs::read_symlink(target.path() / "d" / "link"), "../a");
  EXPECT_EQ(read_text(target.path() / "e" / "f"), "two");
}

TEST(Folders, NoticesAFileThatChangedSinceItWasListed) {
  const TempDir source;
  const TempDir target;
  const FileList files = {file_entry(source.write("a", "one"), "a", 0644)};
  source.write("a", "two");
  EXPECT_THROW(copy_files(files, target.path()), Error);
}

TEST(Folders, ReplacesAFolderInOneStep) {
  const TempDir dir;
  dir.write("out/x/old", "old");
  replace_folder_atomically(dir.path() / "out" / "x", [&](const fs::path& draft) {
    EXPECT_TRUE(fs::exists(dir.path() / "out" / "x" / "old"));
    write_file_atomically(draft / "new", "new");
  });
  EXPECT_EQ(read_text(dir.path() / "out" / "x" / "new"), "new");
  EXPECT_FALSE(fs::exists(dir.path() / "out" / "x" / "old"));
  EXPECT_EQ(entries_in(dir.path() / "out"), 1U);
  EXPECT_EQ(mode_of(dir.path() / "out" / "x"), 0755U);
}

TEST(Folders, LeavesTheOldFolderAsItWasWhenFillingFails) {
  const TempDir dir;
  dir.write("out/x/old", "old");
  EXPECT_THROW(replace_folder_atomically(dir.path() / "out" / "x",
                                         [](const fs::path& draft) {
                                           write_file_atomically(draft / "new", "new");
                                           throw Error(ErrorKind::input, "cannot", "x", "y");
                                         }),
               Error);
  EXPECT_EQ(read_text(dir.path() / "out" / "x" / "old"), "old");
  EXPECT_EQ(entries_in(dir.path() / "out"), 1U);
}

TEST(Folders, LeavesTheOldFolderAsItWasWhenAFileCannotGrow) {
  const TempDir source;
  const TempDir dir;
  const FileList files = {file_entry(source.write("a", std::string(500'000, 'x')), "a", 0644)};
  dir.write("out/x/old", "old");
  {
    const FullDisk full(100'000);
    EXPECT_THROW(
        replace_folder_atomically(dir.path() / "out" / "x",
                                  [&](const fs::path& draft) { copy_files(files, draft); }),
        Error);
  }
  EXPECT_EQ(read_text(dir.path() / "out" / "x" / "old"), "old");
  EXPECT_EQ(entries_in(dir.path() / "out"), 1U);
}

TEST(Folders, RemovesLinksAndNotWhatTheyLeadTo) {
  const TempDir dir;
  const fs::path kept = dir.write("kept/a", "x");
  fs::create_directory(dir.path() / "gone");
  fs::create_directory_symlink(dir.path() / "kept", dir.path() / "gone" / "link");
  EXPECT_TRUE(remove_tree(dir.path() / "gone"));
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_TRUE(remove_tree(dir.path() / "never there"));
}

/// In a mount namespace of its own: a file system of 256 KiB at `folder`, then `body`. 0: all as
/// expected.
int on_small_disk(const fs::path& folder, const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                         mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=256k") == 0;
    _exit(mounted ? body() : 77);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(Folders, LeavesTheOldFolderAsItWasOnAFullDisk) {
  const TempDir source;
  const TempDir dir;
  const FileList files = {file_entry(source.write("a", std::string(500'000, 'x')), "a", 0644)};
  const int result = on_small_disk(dir.path(), [&] {
    write_file_atomically(dir.path() / "x" / "old", "old");
    try {
      replace_folder_atomically(dir.path() / "x",
                                [&](const fs::path& draft) { copy_files(files, draft); });
      return 1;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::output) return 2;
      if (std::string(error.what()).find("No space left on device") == std::string::npos) return 3;
    }
    if (read_text(dir.path() / "x" / "old") != "old") return 4;
    return entries_in(dir.path()) == 1 ? 0 : 5;
  });
  if (result == 77) GTEST_SKIP() << "this user may not mount a small file system";
  EXPECT_EQ(result, 0);
}

}  // namespace
}  // namespace stab
