// SPDX-License-Identifier: Apache-2.0
#include "stab/device/file_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(FileTree, TakesSizesAndHashesFromAList) {
  FileEntry model = text_entry("model", "bytes", 0755);
  model.text.reset();
  model.source = "/nowhere/model";
  FileEntry link;
  link.path = "link";
  link.kind = FileKind::link;
  link.link_target = "model";
  FileEntry folder;
  folder.path = "metadata";
  folder.kind = FileKind::folder;
  const FileList list{link, folder, text_entry("metadata/MANIFEST", "{}"), model};
  const FileTree tree = FileTree::of_list("pkg", list);
  FileTree same("pkg");
  same.add_bytes("metadata/MANIFEST", "{}");
  same.add_bytes("model", "bytes", true);
  same.add_link("link", "model");
  EXPECT_EQ(tree.name(), same.name());
  EXPECT_EQ(tree.bytes(), 7);
}

TEST(FileTree, RefusesWhatCannotBeCarriedOver) {
  test::TempDir dir;
  FileTree tree("in");
  EXPECT_THROW(tree.add_file("a", dir.path() / "absent", false), Error);
  EXPECT_THROW(tree.add_file("a", dir.path(), false), Error);
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
