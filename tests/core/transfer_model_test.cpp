// SPDX-License-Identifier: Apache-2.0
#include "stab/core/transfer_model.h"

#include <gtest/gtest.h>

#include <random>

namespace stab {
namespace {

const std::vector<std::string> k_backends = {"cpu", "ruy", "acl_neon", "acl_cl"};

std::vector<TransferPoint> points_on_a_line(double latency, double bytes_per_us, int count) {
  std::vector<TransferPoint> points;
  for (int k = 0; k < count; ++k) {
    const auto bytes = static_cast<std::uint64_t>(400 << (k % 10));
    points.push_back(
        {k_portable, "acl_neon", bytes, latency + static_cast<double>(bytes) / bytes_per_us});
  }
  return points;
}

TEST(TransferModel, TakesPortableBackendsForOneClassWithoutCopies) {
  const TransferModel model(k_backends, {});
  for (const std::string from : {"cpu", "ruy", "xnnpack", "builtin"}) {
    for (const std::string to : {"cpu", "ruy", "xnnpack", "builtin"})
      EXPECT_EQ(model.cost_us(from, to, 1 << 20), 0.0);
  }
  EXPECT_EQ(model.cost_us("acl_cl", "acl_cl", 1 << 20), 0.0);
}

TEST(TransferModel, HasAPriorForEachPairWithoutPoints) {
  const TransferModel model(k_backends, {});
  ASSERT_EQ(model.transfers().size(), 6u);
  for (const Transfer& transfer : model.transfers())
    EXPECT_EQ(transfer.source, TransferSource::prior);
  EXPECT_EQ(model.cost_us("cpu", "acl_neon", 2000), 52.0);
  EXPECT_EQ(model.cost_us("acl_cl", "acl_neon", 0), 50.0);
  EXPECT_EQ(model.cost_us("cpu", "srcn", 1000), 51.0);
}

TEST(TransferModel, HasNoPriceForASizeThatIsNotKnown) {
  const TransferModel model(k_backends, {});
  EXPECT_EQ(model.cost_us("cpu", "acl_neon", std::nullopt), std::nullopt);
  EXPECT_EQ(model.cost_us("cpu", "ruy", std::nullopt), 0.0);
}

TEST(TransferModel, FindsTheLineThroughCleanPoints) {
  const Transfer transfer = fit_transfer(k_portable, "acl_neon", points_on_a_line(40, 2500, 10));
  EXPECT_EQ(transfer.source, TransferSource::fitted);
  EXPECT_EQ(transfer.points, 10);
  EXPECT_NEAR(transfer.latency_us, 40, 1e-6);
  EXPECT_NEAR(transfer.bytes_per_us, 2500, 1e-6);
  EXPECT_NEAR(transfer.residual_us.value(), 0, 1e-6);
}

TEST(TransferModel, IsNotMovedByAQuarterOfWildPoints) {
  std::mt19937_64 random(1);
  std::vector<TransferPoint> points = points_on_a_line(45, 2000, 40);
  for (std::size_t k = 0; k < points.size(); ++k) {
    points[k].us += static_cast<double>(random() % 1000) / 250 - 2;
    if (k % 4 == 0) points[k].us *= 8;
  }
  const Transfer transfer = fit_transfer(k_portable, "acl_neon", points);
  EXPECT_NEAR(transfer.latency_us, 45, 5);
  EXPECT_NEAR(transfer.bytes_per_us, 2000, 200);
}

TEST(TransferModel, KeepsDirectionsApart) {
  std::vector<TransferPoint> points = points_on_a_line(40, 2500, 10);
  for (const TransferPoint& point : points_on_a_line(90, 500, 10)) {
    points.push_back({point.to, point.from, point.bytes, point.us});
  }
  const TransferModel model(k_backends, points);
  EXPECT_NEAR(model.cost_us("cpu", "acl_neon", 5000).value(), 42, 1e-6);
  EXPECT_NEAR(model.cost_us("acl_neon", "ruy", 5000).value(), 100, 1e-6);
}

TEST(TransferModel, MovesThePriorByAFewPoints) {
  const std::vector<TransferPoint> few = {{k_portable, "acl_neon", 10'000, 30},
                                          {k_portable, "acl_neon", 10'000, 31}};
  const Transfer transfer = fit_transfer(k_portable, "acl_neon", few);
  EXPECT_EQ(transfer.source, TransferSource::measured);
  EXPECT_NEAR(transfer.cost_us(10'000), 30.5, 1e-6);
  EXPECT_NEAR(transfer.latency_us, 50 * 30.5 / 60, 1e-6);
}

TEST(TransferModel, StaysPositiveWhateverThePointsSay) {
  std::vector<TransferPoint> falling;
  for (int k = 0; k < 10; ++k) {
    falling.push_back(
        {k_portable, "acl_neon", static_cast<std::uint64_t>(1000 * (k + 1)), 100.0 - 9 * k});
  }
  const Transfer transfer = fit_transfer(k_portable, "acl_neon", falling);
  EXPECT_GE(transfer.latency_us, 0);
  EXPECT_GT(transfer.bytes_per_us, 0);
  EXPECT_GE(transfer.cost_us(0), 0);
  const std::vector<TransferPoint> nothing(6, {k_portable, "acl_neon", 0, 0});
  EXPECT_GT(fit_transfer(k_portable, "acl_neon", nothing).bytes_per_us, 0);
}

}  // namespace
}  // namespace stab
