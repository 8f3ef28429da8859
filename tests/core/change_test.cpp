// SPDX-License-Identifier: Apache-2.0
#include "stab/core/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stab {
namespace {

using testing::Each;
using testing::ElementsAre;

/// Nights and rounds with known truth.
class Sky {
 public:
  explicit Sky(unsigned seed, double night_percent, double round_percent = 1.5)
      : random_(seed), night_(night_percent / 100), round_(round_percent / 100) {}

  std::vector<double> night(double true_us, int rounds = 10) {
    const double factor = night_ * normal_(random_);
    std::vector<double> medians;
    for (int i = 0; i < rounds; ++i)
      medians.push_back(true_us * std::exp(factor + round_ * normal_(random_)));
    return medians;
  }

 private:
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  double night_, round_;
};

struct Alarms {
  int slower = 0;
  int faster = 0;
  int same = 0;
};

constexpr int k_repeats = 500;

Alarms compare_many(int baselines, double night_percent, double change, int repeats = k_repeats) {
  Sky sky(7, night_percent);
  Alarms alarms;
  for (int i = 0; i < repeats; ++i) {
    std::vector<std::vector<double>> earlier;
    for (int k = 0; k < baselines; ++k) earlier.push_back(sky.night(1000));
    const auto verdict =
        judge_change(change_between_nights(earlier, sky.night(1000 * change)), k_same_percent);
    alarms.slower += verdict == ChangeVerdict::slower;
    alarms.faster += verdict == ChangeVerdict::faster;
    alarms.same += verdict == ChangeVerdict::same;
  }
  return alarms;
}

TEST(ChangeBetweenNights, RaisesFewFalseAlarmsHoweverNightsDiffer) {
  for (const double night_percent : {0.0, 1.0, 2.0, 3.0}) {
    for (const int baselines : {1, 2, 3, 5, 10, 20}) {
      const Alarms alarms = compare_many(baselines, night_percent, 1);
      EXPECT_LE(alarms.slower, k_repeats / 20)
          << baselines << " baselines, " << night_percent << " %";
      EXPECT_LE(alarms.slower + alarms.faster, k_repeats * 6 / 100)
          << baselines << " baselines, " << night_percent << " %";
    }
  }
}

TEST(ChangeBetweenNights, NeverCallsTwoFilesTheSame) {
  const Alarms alarms = compare_many(1, 0, 1);
  EXPECT_EQ(alarms.same, 0);
  EXPECT_EQ(alarms.slower + alarms.faster, 0) << "one baseline is unsure";
}

TEST(ChangeBetweenNights, KnowsMoreWhereSeveralBaselinesShowAQuietDevice) {
  EXPECT_GE(compare_many(20, 0.5, 1).same, k_repeats * 9 / 10);
  EXPECT_GE(compare_many(10, 1, 1.1).slower, k_repeats * 95 / 100);
  EXPECT_LE(compare_many(1, 1, 1.1).slower, k_repeats / 2);
}

TEST(ChangeBetweenNights, SeesWhatIsLargeWithOneBaseline) {
  EXPECT_GE(compare_many(1, 3, 1.5).slower, k_repeats * 95 / 100);
  EXPECT_GE(compare_many(1, 3, 0.6).faster, k_repeats * 95 / 100);
}

TEST(ChangeBetweenNights, IsCautiousWhereRoundsAreFewOrWild) {
  int alarms = 0;
  Sky sky(3, 3, 30);
  for (int i = 0; i < 1000; ++i) {
    const std::vector<std::vector<double>> earlier = {sky.night(1000, 3)};
    const auto verdict = judge_change(change_between_nights(earlier, sky.night(1000, 3)), 5);
    alarms += verdict == ChangeVerdict::slower || verdict == ChangeVerdict::faster;
  }
  EXPECT_LE(alarms, 60);
}

TEST(ChangeBetweenNights, HasNoBoundsWhereOneRoundIsAllThereIs) {
  const auto change =
      change_between_nights(std::vector<std::vector<double>>{{100}}, std::vector{110.0});
  ASSERT_TRUE(change);
  EXPECT_NEAR(change->percent.median, 10, 1e-9);
  EXPECT_FALSE(change->percent.low);
  EXPECT_EQ(judge_change(change, 5), ChangeVerdict::unsure);
  EXPECT_EQ(judge_gate(change, 5), GateStatus::unsure);
  const std::vector<std::vector<double>> three = {{100}, {101}, {99}};
  EXPECT_TRUE(change_between_nights(three, std::vector{100.0, 101.0})->percent.low)
      << "three nights of one round show how nights differ";
}

TEST(ChangeBetweenNights, IsAbsentWithoutTimes) {
  const std::vector<std::vector<double>> good = {{100, 101}};
  EXPECT_FALSE(change_between_nights(good, {}));
  EXPECT_FALSE(change_between_nights({}, good.front()));
  EXPECT_FALSE(change_between_nights(std::vector<std::vector<double>>{{}}, good.front()));
  EXPECT_FALSE(change_between_nights(good, std::vector{0.0, 1.0}));
}

TEST(ChangeBetweenNights, TakesAClockThatReadsZeroForALittle) {
  const std::vector<std::vector<double>> nothing = {{0, 0, 0}};
  const auto change = change_between_nights(nothing, std::vector{0.0, 1.0, 0.0}, 1);
  ASSERT_TRUE(change);
  EXPECT_EQ(judge_change(change, 5), ChangeVerdict::unsure);
}

TEST(ChangeInPairs, CancelsWhatTheNightDoesToBoth) {
  Sky quiet(5, 0);
  int alarms = 0;
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    std::vector<double> now = quiet.night(1000);
    std::vector<double> then = quiet.night(1000);
    alarms += judge_change(change_in_pairs(now, then), 5) == ChangeVerdict::slower;
    for (double& us : now) us *= 1.1;
    found += judge_gate(change_in_pairs(now, then), 5) == GateStatus::fail;
  }
  EXPECT_LE(alarms, 50);
  EXPECT_GE(found, 990);
}

TEST(ChangeInPairs, GivesTheProbabilityThatGoesWithItsInterval) {
  const std::vector<double> then = {100, 101, 99, 100, 102};
  std::vector<double> now = {104, 103, 102, 105, 103};
  const auto change = change_in_pairs(now, then);
  ASSERT_TRUE(change);
  EXPECT_GT(*change->percent.low, 0);
  EXPECT_LT(change->p, 0.05);
  EXPECT_EQ(change_in_pairs(then, then)->p, 1);
  EXPECT_FALSE(change_in_pairs(now, std::vector{1.0}));
}

TEST(JudgeChange, NeedsTheWholeIntervalOnOneSide) {
  const auto of = [](double low, double high) {
    return judge_change(Change{{(low + high) / 2, low, high}, 0, {}}, 5);
  };
  EXPECT_EQ(of(0.5, 9), ChangeVerdict::slower);
  EXPECT_EQ(of(-9, -0.5), ChangeVerdict::faster);
  EXPECT_EQ(of(-4, 4), ChangeVerdict::same);
  EXPECT_EQ(of(-1, 9), ChangeVerdict::unsure);
}

TEST(JudgeGate, FailsOnlyWhenItIsSurelyCrossed) {
  const auto of = [](double low, double high) {
    return judge_gate(Change{{(low + high) / 2, low, high}, 0, {}}, 5);
  };
  EXPECT_EQ(of(5.1, 9), GateStatus::fail);
  EXPECT_EQ(of(4.9, 9), GateStatus::unsure);
  EXPECT_EQ(of(1, 5), GateStatus::pass);
  EXPECT_EQ(judge_gate(std::nullopt, 5), GateStatus::unsure);
  EXPECT_EQ(judge_gate(std::nullopt, std::nullopt), GateStatus::none);
}

TEST(JudgeTogether, KeepsFalseAlarmsOfAllOperationsTogetherAtFivePercent) {
  int nights_with_alarm = 0;
  int nights_alone = 0;
  for (unsigned i = 0; i < 300; ++i) {
    Sky sky(1000 + i, 3);
    std::vector<std::optional<Change>> changes;
    bool alone = false;
    for (int op = 0; op < 64; ++op) {
      const std::vector<std::vector<double>> earlier = {sky.night(100), sky.night(100),
                                                        sky.night(100), sky.night(100)};
      changes.push_back(change_between_nights(earlier, sky.night(100)));
      alone = alone || judge_change(changes.back(), 5) == ChangeVerdict::slower;
    }
    nights_alone += alone;
    const auto verdicts = judge_together(changes, 5);
    nights_with_alarm += std::any_of(verdicts.begin(), verdicts.end(), [](ChangeVerdict verdict) {
      return verdict == ChangeVerdict::slower || verdict == ChangeVerdict::faster;
    });
  }
  EXPECT_LE(nights_with_alarm, 15);
  EXPECT_GE(nights_alone, 60) << "the correction is what keeps them low";
}

TEST(JudgeTogether, StepsDownAsHolmDoes) {
  const auto of = [](double p) { return Change{{10, 1, 20}, p, {}}; };
  const std::vector<std::optional<Change>> changes = {of(0.04), of(0.001), std::nullopt, of(0.02)};
  EXPECT_THAT(judge_together(changes, 5), ElementsAre(ChangeVerdict::slower, ChangeVerdict::slower,
                                                      ChangeVerdict::unsure, ChangeVerdict::slower))
      << "0.001 <= 0.05/3, 0.02 <= 0.05/2, 0.04 <= 0.05";
  const std::vector<std::optional<Change>> stopped = {of(0.026), of(0.001), of(0.026)};
  EXPECT_THAT(judge_together(stopped, 5),
              ElementsAre(ChangeVerdict::unsure, ChangeVerdict::slower, ChangeVerdict::unsure))
      << "after the first that is not rejected none is";
  EXPECT_THAT(judge_together(std::vector<std::optional<Change>>(3), 5),
              Each(ChangeVerdict::unsure));
}

TEST(StudentT, HasTheTailsOfTheTables) {
  for (const std::size_t degrees : {1, 2, 3, 4, 5, 9, 10, 29, 30, 120})
    EXPECT_NEAR(student_t_two_sided(student_t_975(degrees), degrees), 0.05, 1e-6) << degrees;
  EXPECT_NEAR(student_t_two_sided(63.6567, 1), 0.01, 1e-6);
  EXPECT_NEAR(student_t_two_sided(-4.6041, 4), 0.01, 1e-5);
  EXPECT_EQ(student_t_two_sided(0, 7), 1);
  EXPECT_GE(student_t_two_sided(1e9, 3), 0);
}

}  // namespace
}  // namespace stab
