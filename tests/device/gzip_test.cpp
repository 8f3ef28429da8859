// SPDX-License-Identifier: Apache-2.0
#include "stab/device/gzip.h"

#include <gtest/gtest.h>

#include "stab/core/error.h"

namespace stab {
namespace {

std::string unpacked(std::string_view packed, std::size_t piece) {
  std::string out;
  Gunzip gunzip;
  for (std::size_t at = 0; at < packed.size(); at += piece) {
    gunzip.feed(packed.substr(at, piece), [&](std::string_view bytes) { out += bytes; });
  }
  EXPECT_TRUE(gunzip.ended());
  return out;
}

std::string sample() {
  std::string text;
  unsigned state = 1;
  for (int i = 0; i < 300'000; ++i) {
    state = state * 1103515245U + 12345U;
    text += i % 50'000 < 25'000 ? static_cast<char>(state >> 24) : 'x';
  }
  return text;
}

TEST(Gzip, KeepsTheBytesWhenItsLevelChangesUnderWay) {
  const std::string text = sample();
  std::string packed;
  Gzip gzip(0);
  const std::size_t third = text.size() / 3;
  gzip.feed(std::string_view(text).substr(0, third), false, packed);
  gzip.set_level(1, packed);
  gzip.feed(std::string_view(text).substr(third, third), false, packed);
  gzip.set_level(0, packed);
  gzip.feed(std::string_view(text).substr(2 * third), true, packed);
  EXPECT_LT(packed.size(), text.size());
  EXPECT_EQ(unpacked(packed, packed.size()), text);
  EXPECT_EQ(unpacked(packed, 7), text);
}

TEST(Gunzip, RefusesWhatIsNotGzipAndWhatIsDamaged) {
  std::string packed;
  Gzip(1).feed("some text", true, packed);
  const auto nothing = [](std::string_view) {};
  EXPECT_THROW(Gunzip().feed("not gzip at all", nothing), Error);
  std::string damaged = packed;
  damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);
  EXPECT_THROW(Gunzip().feed(damaged, nothing), Error);
  EXPECT_THROW(Gunzip().feed(packed + "more", nothing), Error);
  Gunzip cut;
  cut.feed(std::string_view(packed).substr(0, packed.size() - 1), nothing);
  EXPECT_FALSE(cut.ended());
}

}  // namespace
}  // namespace stab
