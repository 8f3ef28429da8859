// SPDX-License-Identifier: Apache-2.0
#include "upload_stream.h"

#include <gtest/gtest.h>

#include "stab/device/gzip.h"

namespace stab {
namespace {

constexpr std::uint64_t k_mega = 1'000'000;

TEST(LevelChooser, PacksOnASlowLink) {
  LevelChooser chooser(false);
  EXPECT_EQ(chooser.level(), 0);
  for (int i = 0; i < 20; ++i) chooser.sent(k_mega, 0.1);  // 10 MB/s
  EXPECT_EQ(chooser.level(), 1);
}

TEST(LevelChooser, PassesOnOnAFastLink) {
  LevelChooser chooser(true);
  EXPECT_EQ(chooser.level(), 1);
  for (int i = 0; i < 20; ++i) chooser.sent(k_mega, 0.005);  // 200 MB/s
  EXPECT_EQ(chooser.level(), 0);
}

TEST(LevelChooser, PassesOnWhatPackingDoesNotMakeSmaller) {
  LevelChooser chooser(true);
  chooser.sent(k_mega, 0.1);
  for (int i = 0; i < 30; ++i) chooser.packed(k_mega, k_mega, 0.02);
  EXPECT_EQ(chooser.level(), 0);
}

TEST(LevelChooser, TriesPackingAgainAfterAWhileOnASlowLink) {
  LevelChooser chooser(true);
  chooser.sent(k_mega, 0.5);
  for (int i = 0; i < 30; ++i) chooser.packed(k_mega, k_mega, 0.02);
  ASSERT_EQ(chooser.level(), 0);
  for (int i = 0; i < 10 && chooser.level() == 0; ++i) chooser.passed(k_mega);
  EXPECT_EQ(chooser.level(), 1);
}

TEST(LevelChooser, PassesOnWhenPackingIsSlowerThanTheLink) {
  LevelChooser chooser(true);
  for (int i = 0; i < 30; ++i) {
    chooser.sent(k_mega, 0.025);              // 40 MB/s
    chooser.packed(k_mega, k_mega / 2, 0.1);  // 10 MB/s
  }
  EXPECT_EQ(chooser.level(), 0);
}

std::string drain(UploadStream& stream, std::size_t piece) {
  std::string all;
  std::string buffer(piece, '\0');
  while (const std::size_t count = stream.read(buffer)) all.append(buffer, 0, count);
  return all;
}

TEST(UploadStream, SendsOrdersAsTheyAreAndThenTheArchive) {
  std::vector<TarMember> members{{"a", 5, false, {}, {}, std::string("bytes")}};
  UploadStream plain("R x\n.\n", members, false, true, {});
  UploadStream packed("R x\n.\n", members, true, true, {});
  const std::string as_is = drain(plain, 100);
  const std::string gzip = drain(packed, 100);
  ASSERT_TRUE(as_is.starts_with("R x\n.\n"));
  ASSERT_TRUE(gzip.starts_with("R x\n.\n\x1f\x8b"));
  std::string unpacked;
  Gunzip gunzip;
  gunzip.feed(gzip.substr(6), [&](std::string_view bytes) { unpacked += bytes; });
  EXPECT_TRUE(gunzip.ended());
  EXPECT_EQ(unpacked, as_is.substr(6));
  EXPECT_EQ(packed.stream_bytes(), gzip.size());
  EXPECT_TRUE(packed.compressed());
  EXPECT_FALSE(plain.compressed());
}

}  // namespace
}  // namespace stab
