// SPDX-License-Identifier: Apache-2.0
#include "stab/core/sha256.h"

#include <gtest/gtest.h>

namespace stab {
namespace {

TEST(Sha256, GivesTheStandardsOwnExamples) {
  EXPECT_EQ(sha256_hex(std::string_view()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, IsTheSameInPiecesAndStartsAnewAfterwards) {
  Sha256 hash;
  hash.update("a").update(std::string_view()).update("bc");
  EXPECT_EQ(hash.finish(), sha256_hex(std::string_view("abc")));
  EXPECT_EQ(hash.update("abc").finish(), sha256_hex(std::string_view("abc")));
}

TEST(Sha256, TellsAHashFromOtherText) {
  const std::string hash = sha256_hex(std::string_view("abc"));
  EXPECT_TRUE(is_sha256_hex(hash));
  EXPECT_FALSE(is_sha256_hex(hash.substr(1)));
  EXPECT_FALSE(is_sha256_hex(hash.substr(1) + "G"));
  EXPECT_FALSE(is_sha256_hex(hash + "0"));
}

}  // namespace
}  // namespace stab
