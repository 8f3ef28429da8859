// SPDX-License-Identifier: Apache-2.0
#include "stab/core/file_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/sha256.h"

namespace stab {
namespace {

TEST(FileList, NormalisesPathsAndRefusesThoseThatLeave) {
  EXPECT_EQ(normal_path("a/./b//c/"), "a/b/c");
  EXPECT_EQ(normal_path("a/../b"), "b");
  for (const std::string& path :
       {std::string(), std::string("/a"), std::string(".."), std::string("a/../.."),
        std::string("."), std::string("a/.."), std::string("a\0b", 3)}) {
    EXPECT_EQ(normal_path(path), std::nullopt) << path;
  }
}

TEST(FileList, RefusesNamesThatDocumentsCannotHold) {
  for (const char* name :
       {"a b", "x;'\"$", "-a", "gr\xc3\xbcn", "\xe6\x97\xa5", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(why_bad_name(name), std::nullopt) << name;
  }
  for (const char* name : {"a\nb", "\x1b[0m", "a\x7f", "\xff", "\xc0\x80", "\xed\xa0\x80",
                           "\xe6\x97", "\xf4\x90\x80\x80"}) {
    EXPECT_NE(why_bad_name(name), std::nullopt) << name;
  }
}

TEST(FileList, PutsTextsInPlaceAndInOrder) {
  FileList files = {text_entry("a", "1"), text_entry("c", "3")};
  files[1].kind = FileKind::link;
  files[1].link_target = "a";
  files = with_texts(files, {{"b", "two"}, {"c", "three"}});
  ASSERT_EQ(files.size(), 3U);
  EXPECT_EQ(files[1].path, "b");
  EXPECT_EQ(files[2].kind, FileKind::regular);
  EXPECT_EQ(files[2].text, "three");
  EXPECT_EQ(files[2].sha256, sha256_hex(std::string_view("three")));
  EXPECT_EQ(total_bytes(files), 9U);
  EXPECT_EQ(find_entry(files, "b"), &files[1]);
  EXPECT_EQ(find_entry(files, "bb"), nullptr);
}

TEST(FileList, HashesContentAndPathsButNotModes) {
  const FileList files = {text_entry("a", "1"), text_entry("b", "2")};
  FileList same = files;
  same[0].mode = 0755;
  EXPECT_EQ(hash_of(same), hash_of(files));
  FileList moved = files;
  moved[1].path = "c";
  EXPECT_NE(hash_of(moved), hash_of(files));
  FileList changed = {files[0], text_entry("b", "3")};
  EXPECT_NE(hash_of(changed), hash_of(files));
}

}  // namespace
}  // namespace stab
