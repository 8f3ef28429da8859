// SPDX-License-Identifier: Apache-2.0
#include "stab/core/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace stab {
namespace {

using Sample = std::vector<double>;

// Normal noise that is the same with every standard library.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : engine_(seed) {}
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  double lognormal(double median, double sigma) { return median * std::exp(sigma * normal()); }

 private:
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  std::mt19937_64 engine_;
};

TEST(Statistics, FindsTheMiddleOfOddAndEvenSamples) {
  EXPECT_EQ(median(Sample{3, 1, 2}), 2);
  EXPECT_EQ(median(Sample{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(Sample{7}), 7);
  EXPECT_EQ(median(Sample{0, 0, 0}), 0);
  EXPECT_EQ(median(Sample{}), std::nullopt);
}

TEST(Statistics, InterpolatesQuantiles) {
  const Sample sample{10, 20, 30, 40, 50};
  EXPECT_EQ(quantile(sample, 0), 10);
  EXPECT_EQ(quantile(sample, 1), 50);
  EXPECT_EQ(quantile(sample, 0.25), 20);
  EXPECT_EQ(quantile(sample, 0.1), 14);
  EXPECT_EQ(quantile(Sample{}, 0.5), std::nullopt);
}

TEST(Statistics, TakesZeroAsATimeInTheGeometricMean) {
  EXPECT_DOUBLE_EQ(*geometric_mean(Sample{1, 10, 100}), 10);
  EXPECT_EQ(geometric_mean(Sample{0, 5}), 0);
  EXPECT_EQ(geometric_mean(Sample{-1, 5}), std::nullopt);
  EXPECT_EQ(geometric_mean(Sample{}), std::nullopt);
}

TEST(Statistics, MeasuresSpreadByTheMedianDistance) {
  EXPECT_EQ(median_absolute_deviation(Sample{1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_EQ(median_absolute_deviation(Sample{5, 5, 5}), 0);
  EXPECT_EQ(median_absolute_deviation(Sample{}), std::nullopt);
}

TEST(Statistics, CountsOutliersAndNothingElse) {
  EXPECT_EQ(outlier_count(Sample{10, 11, 12, 11, 10, 12, 100}), 1);
  EXPECT_EQ(outlier_count(Sample{10, 11, 12, 11, 10, 12, 11}), 0);
  EXPECT_EQ(outlier_count(Sample{10, 10, 10, 10, 10, 10, 10, 10, 10, 90}), 1);
  EXPECT_EQ(outlier_count(Sample{10, 10, 10}), 0);
  EXPECT_EQ(outlier_count(Sample{}), 0);
}

TEST(Statistics, NeverCountsAStepOfTheClockAsAnOutlier) {
  const Sample sample{3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 4};
  EXPECT_EQ(outlier_count(sample), 1);
  EXPECT_EQ(outlier_count(sample, k_clock_resolution_us), 0);
}

// 97.5 % of Student's density lie below the quantile: Simpson's rule from 0.
TEST(Statistics, HasTheQuantilesOfStudentsDistribution) {
  std::vector<std::size_t> all = {100, 200, 5000};
  for (std::size_t degrees = 1; degrees <= 50; ++degrees) all.push_back(degrees);
  for (const std::size_t degrees : all) {
    const double n = static_cast<double>(degrees);
    const double factor =
        std::exp(std::lgamma((n + 1) / 2) - std::lgamma(n / 2)) / std::sqrt(n * std::numbers::pi);
    const auto density = [&](double t) { return factor * std::pow(1 + t * t / n, -(n + 1) / 2); };
    constexpr int k_steps = 4000;
    const double step = student_t_975(degrees) / k_steps;
    double sum = density(0) + density(student_t_975(degrees));
    for (int i = 1; i < k_steps; ++i) sum += density(i * step) * (i % 2 == 1 ? 4 : 2);
    EXPECT_NEAR(0.5 + sum * step / 3, 0.975, 1e-7) << degrees;
  }
}

TEST(Statistics, HasNoBoundsForOneRoundAndNothingForNone) {
  EXPECT_EQ(round_interval(Sample{}), std::nullopt);
  EXPECT_EQ(round_interval(Sample{5}, 1), (Interval{5, {}, {}}));
  EXPECT_EQ(paired_log_interval(Sample{}, Sample{}), std::nullopt);
  EXPECT_EQ(paired_log_interval(Sample{6}, Sample{3}).value().low, std::nullopt);
  EXPECT_EQ(paired_difference_interval(Sample{6}, Sample{4}, 1), (Interval{2, {}, {}}));
  EXPECT_EQ(half_width_percent({5, {}, {}}), std::nullopt);
  EXPECT_EQ(drift_percent(Sample{1, 2}), std::nullopt);
  EXPECT_EQ(between_rounds_percent(Sample{1}), std::nullopt);
}

TEST(Statistics, DoesNotTakeEqualReadingsOfACoarseClockForCertainty) {
  const Interval interval = *round_interval(Sample{3, 3, 3, 3}, k_clock_resolution_us);
  EXPECT_EQ(interval, (Interval{3, 2.5, 3.5}));
  EXPECT_EQ(paired_difference_interval(Sample{3, 3}, Sample{2, 2}, k_clock_resolution_us),
            (Interval{1, 0, 2}));
}

TEST(Statistics, KeepsAnIntervalAroundZeroTimes) {
  const Interval zeros = *round_interval(Sample{0, 0, 0}, k_clock_resolution_us);
  EXPECT_EQ(zeros, (Interval{0, 0, 0.5}));
  const Interval some = *round_interval(Sample{0, 1, 0, 2, 1}, k_clock_resolution_us);
  EXPECT_EQ(some.median, 1);
  EXPECT_EQ(some.low, 0);
  EXPECT_NEAR(*some.high, 0.8 + 2.7764451 * std::sqrt(0.7 / 5), 1e-9);
  EXPECT_EQ(paired_log_interval(Sample{0, 1}, Sample{1, 1}), std::nullopt);
  EXPECT_EQ(drift_percent(Sample{0, 1, 2}), std::nullopt);
  EXPECT_EQ(half_width_percent({0, 0, 1}), std::nullopt);
}

TEST(Statistics, HoldsItsOwnMedianEvenInASkewedSample) {
  const Sample skewed{1, 1, 1, 1, 1, 1, 2.7, 2.7, 2.7, 2.7};
  const Interval interval = *round_interval(skewed);
  EXPECT_EQ(interval.median, 1);
  EXPECT_EQ(interval.low, 1);
  const Sample ones(10, 1.0);
  EXPECT_EQ(paired_log_interval(skewed, ones)->low, 1);
}

TEST(Statistics, RefusesToPairWhatIsNotPaired) {
  EXPECT_EQ(paired_log_interval(Sample{1, 2}, Sample{1}), std::nullopt);
  EXPECT_EQ(paired_difference_interval(Sample{1, 2}, Sample{1}), std::nullopt);
}

TEST(Statistics, SeesADriftBetweenRoundsThroughAnOutlier) {
  Sample rounds;
  for (int i = 0; i < 10; ++i) rounds.push_back(1000 * std::pow(1.1, i / 9.0));
  EXPECT_NEAR(*drift_percent(rounds), 10, 1e-9);
  rounds[4] *= 3;
  EXPECT_NEAR(*drift_percent(rounds), 10, 0.5);
  EXPECT_EQ(drift_percent(Sample{5, 5, 5, 5}), 0);
}

TEST(Statistics, TellsTheNoiseBetweenRoundsInPercent) {
  EXPECT_NEAR(*between_rounds_percent(Sample{100 * std::exp(-0.01), 100 * std::exp(0.01)}),
              std::sqrt(2.0), 1e-9);
  EXPECT_EQ(half_width_percent({100, 99, 103}), 3);
}

// A nominal 95 % of 1,000 simulations: the count is binomial, so 930 to 970 holds it with a
// probability above 99 %.
constexpr int k_simulations = 1000;
constexpr int k_least = 930;
constexpr int k_most = 970;

TEST(Statistics, CoversTheTrueTimeInNinetyFivePercentOfSimulations) {
  Noise noise(1);
  for (const double sigma : {0.002, 0.05, 0.3}) {
    for (const std::size_t rounds : {3U, 10U, 20U}) {
      int covered = 0;
      for (int i = 0; i < k_simulations; ++i) {
        Sample medians;
        for (std::size_t r = 0; r < rounds; ++r) medians.push_back(noise.lognormal(500, sigma));
        const Interval interval = *round_interval(medians);
        covered += *interval.low <= 500 && 500 <= *interval.high;
      }
      EXPECT_GE(covered, k_least) << sigma << " " << rounds;
      EXPECT_LE(covered, k_most) << sigma << " " << rounds;
    }
  }
}

// Rounds differ much (a device that heats up), the two sides of a round little: pairing sees
// through it.
TEST(Statistics, CoversTheTrueRatioOfPairedRoundsWhateverTheRoundsShare) {
  Noise noise(2);
  for (const double sigma : {0.005, 0.1}) {
    int covered = 0;
    double width = 0;
    for (int i = 0; i < k_simulations; ++i) {
      Sample a, b;
      for (int r = 0; r < 10; ++r) {
        const double shared = noise.lognormal(1, 0.4);
        a.push_back(shared * noise.lognormal(800, sigma));
        b.push_back(shared * noise.lognormal(1000, sigma));
      }
      const Interval ratio = *paired_log_interval(a, b);
      covered += *ratio.low <= 0.8 && 0.8 <= *ratio.high;
      width += *ratio.high - *ratio.low;
    }
    EXPECT_GE(covered, k_least) << sigma;
    EXPECT_LE(covered, k_most) << sigma;
    EXPECT_LT(width / k_simulations, 2.5 * sigma) << sigma;
  }
}

TEST(Statistics, CoversTheTrueDifferenceOfPairedRounds) {
  Noise noise(3);
  int covered = 0;
  for (int i = 0; i < k_simulations; ++i) {
    Sample a, b;
    for (int r = 0; r < 10; ++r) {
      a.push_back(120 + 5 * noise.normal());
      b.push_back(100 + 5 * noise.normal());
    }
    const Interval difference = *paired_difference_interval(a, b);
    covered += *difference.low <= 20 && 20 <= *difference.high;
  }
  EXPECT_GE(covered, k_least);
  EXPECT_LE(covered, k_most);
}

TEST(Statistics, SeesNoGainBetweenEqualsOnAverage) {
  Noise noise(4);
  int claimed = 0;
  double sum = 0;
  for (int i = 0; i < k_simulations; ++i) {
    Sample a, b;
    for (int r = 0; r < 10; ++r) {
      a.push_back(noise.lognormal(700, 0.03));
      b.push_back(noise.lognormal(700, 0.03));
    }
    const Interval ratio = *paired_log_interval(a, b);
    claimed += *ratio.high < 1 || *ratio.low > 1;
    sum += std::log(ratio.median);
  }
  EXPECT_LE(claimed, k_simulations - k_least);
  EXPECT_NEAR(sum / k_simulations, 0, 0.002);
}

}  // namespace
}  // namespace stab
