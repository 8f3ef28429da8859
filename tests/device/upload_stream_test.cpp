// SPDX-License-Identifier: Apache-2.0
#include "upload_stream.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

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

TEST(FastLinkCheck, FindsALinkTooSlowOnceWindowsAndQueuesAreFull) {
  FastLinkCheck check;
  EXPECT_FALSE(check.too_slow(3 * k_mega, 1));    // taken at once, or while a shell started
  EXPECT_FALSE(check.too_slow(4 * k_mega, 2));    // here it begins
  EXPECT_FALSE(check.too_slow(5 * k_mega, 2.1));  // 10 MB/s
  EXPECT_TRUE(check.too_slow(6 * k_mega, 2.2));
}

TEST(FastLinkCheck, BelievesInAFastLinkOnceItHasJudged) {
  FastLinkCheck check;
  EXPECT_FALSE(check.too_slow(4 * k_mega, 1));
  EXPECT_FALSE(check.too_slow(FastLinkCheck::k_bytes, 1.1));  // 30 MB/s
  EXPECT_FALSE(check.too_slow(20 * k_mega, 100));
}

std::string drain(UploadStream& stream, std::size_t piece) {
  std::string all;
  std::string buffer(piece, '\0');
  while (const std::size_t count = stream.read(buffer)) all.append(buffer, 0, count);
  return all;
}

TEST(UploadStream, SendsOrdersAsTheyAreAndThenTheArchive) {
  std::vector<TarMember> members{{"a", 5, false, {}, {}, std::string("bytes")}};
  UploadStream plain("R x\n.\n", members, Packing::never, true, {});
  UploadStream packed("R x\n.\n", members, Packing::always, true, {});
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

TEST(UploadStream, EndsEarlyWhereTheLinkIsTooSlow) {
  UploadStream stream(".\n", {{"a", 9 * k_mega, false, {}, {}, std::string(9 * k_mega, 'a')}},
                      Packing::if_too_slow, false, {});
  std::string buffer(10'000, '\0');
  while (stream.stream_bytes() < 41 * k_mega / 10 && stream.read(buffer) > 0) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  drain(stream, buffer.size());
  EXPECT_TRUE(stream.gave_up());
  EXPECT_LT(stream.stream_bytes(), 5 * k_mega);
}

}  // namespace
}  // namespace stab
