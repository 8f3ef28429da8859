// SPDX-License-Identifier: Apache-2.0
#include "stab/device/file_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "stab/core/error.h"
#include "stab/device/tar_stream.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

TEST(FileTree, HasOneNameForOneContent) {
  FileTree a("pkg");
  a.add_bytes("m", "model");
  a.add_bytes("metadata/MANIFEST", "{}");
  FileTree b("pkg");
  b.add_bytes("metadata/MANIFEST", "{}");
  b.add_bytes("m", "model");
  EXPECT_EQ(a.name(), b.name());
  EXPECT_EQ(a.name().size(), 4 + 16);
  FileTree c("pkg");
  c.add_bytes("metadata/MANIFEST", "{}");
  c.add_bytes("m", "model", true);
  EXPECT_NE(a.name(), c.name());
  EXPECT_EQ(a.bytes(), 7);
}

TEST(FileTree, KeepsLinksThatStayInsideAndFollowsThoseThatLeadOut) {
  test::TempDir dir;
  dir.write("rt/lib/a.so.1", "a");
  const fs::path outside = dir.write("outside.so", "out");
  fs::create_symlink("a.so.1", dir.path() / "rt/lib/a.so");
  fs::create_symlink(outside, dir.path() / "rt/lib/b.so");
  fs::create_symlink("../../outside.so", dir.path() / "rt/lib/c.so");
  const FileTree tree = FileTree::of_folder("rt", dir.path() / "rt");
  ASSERT_EQ(tree.files().size(), 4);
  EXPECT_EQ(tree.files()[0].link_target, "a.so.1");
  EXPECT_FALSE(tree.files()[2].is_link());
  EXPECT_EQ(tree.files()[2].size, 3);
  EXPECT_FALSE(tree.files()[3].is_link());
}

TEST(FileTree, RefusesWhatCannotBeCarriedOver) {
  test::TempDir dir;
  fs::create_directories(dir.path() / "rt");
  ASSERT_EQ(mkfifo((dir.path() / "rt/fifo").c_str(), 0600), 0);
  EXPECT_THROW(FileTree::of_folder("rt", dir.path() / "rt"), Error);
  EXPECT_THROW(FileTree::of_folder("rt", dir.path() / "absent"), Error);
  FileTree tree("in");
  for (const char* path : {"", "/a", "a/../b", "./a", "a//b", "a/", "a\nb", "a\\b"})
    EXPECT_THROW(tree.add_bytes(path, "x"), Error) << path;
  tree.add_bytes("a", "x");
  EXPECT_THROW(tree.add_bytes("a", "y"), Error);
  EXPECT_THROW(tree.add_link("l", "/etc/passwd"), Error);
  EXPECT_THROW(tree.add_link("d/l", "../../x"), Error);
  EXPECT_THROW(tree.add_link("d/l", "../../d/x"), Error);
  EXPECT_NO_THROW(tree.add_link("d/l", "../a"));
}

TEST(TarStream, RefusesAFileThatChangesUnderItsHands) {
  test::TempDir dir;
  const fs::path file = dir.write("f", "12345");
  for (const std::uint64_t size : {4, 6}) {
    TarStream tar({TarMember{"f", size, false, {}, {}, file}});
    const auto drain = [&] {
      char piece[4096];
      while (tar.read(piece) > 0) {
      }
    };
    EXPECT_THROW(drain(), Error) << size;
  }
}

}  // namespace
}  // namespace stab
