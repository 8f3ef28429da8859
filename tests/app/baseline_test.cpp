// SPDX-License-Identifier: Apache-2.0
// The baseline of a run on simulated devices and nights whose truth is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stab/app/compare_job.h"
#include "stab/app/prove.h"
#include "stab/core/compare_report.h"
#include "stab/core/schedule_keys.h"
#include "support/simulated_device.h"

namespace stab {
namespace {

using test::chain_model;
using test::SimulatedDevice;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double k_gate = 5;
constexpr int k_nights = 200;

class Baseline : public testing::Test {
 protected:
  Baseline() {
    device_.round_noise = 0.015;
    device_.run_noise = 0.005;
    request_.model = &model_;
    for (int i = 0; i < 4; ++i) request_.operations.push_back({0, i});
    request_.backends = {"cpu", "ruy"};
    request_.runs = 50;
    request_.rounds = 10;
    request_.check = false;
    request_.make_keys = [](const Plan& plan, const std::optional<std::string>& planner) {
      KeyRequest keys;
      keys.placement = plan.placement;
      keys.backends = {"cpu", "ruy"};
      keys.memory_planner = planner;
      return schedule_keys(keys);
    };
    request_.price = [](Plan&) {};
    set_truth(1);
    add("p1", PlanKind::averse, {0, 1});
    add("p2", PlanKind::single, {});
    add("p3", PlanKind::baseline, {2, 3});
  }

  /// Two operations on ruy, whichever they are, save 40 us each of 405; `baseline_gain` of what is
  /// left is saved beyond that by the baseline's two.
  void set_truth(double night, double baseline_gain = 0) {
    device_.true_us["cpu"] = {100, 100, 100, 100};
    device_.true_us["ruy"] = {60, 60, 60 - baseline_gain / 2, 60 - baseline_gain / 2};
    device_.overhead_us = 5 * night;
    for (auto& [backend, times] : device_.true_us) {
      for (double& us : times) us *= night;
    }
  }

  void add(const std::string& id, PlanKind kind, const std::vector<int>& on_ruy) {
    Plan plan;
    plan.id = id;
    plan.kind = kind;
    if (kind == PlanKind::single) plan.backend = "cpu";
    for (const int i : on_ruy) plan.placement[{0, i}] = "ruy";
    plan.keys = request_.make_keys(plan, std::nullopt);
    request_.plans.push_back(plan);
  }

  static const Plan& plan(const ProofOutcome& outcome, const std::string& id) {
    for (const Plan& plan : outcome.plans) {
      if (plan.id == id) return plan;
    }
    throw std::runtime_error("no plan " + id);
  }

  static EarlierResult as_result(const Plan& plan) {
    EarlierResult result;
    result.name = "last.json";
    result.plan = plan;
    return result;
  }

  double night_factor() { return std::exp(0.03 * normal_(random_)); }

  Comparison tonight() {
    const ProofOutcome outcome = prove(device_, request_);
    EXPECT_EQ(outcome.chosen, "p1");
    const Plan& then = plan(outcome, "p3");
    return compare_tonight(as_result(last_night_), as_result(plan(outcome, outcome.chosen)), then,
                           k_gate);
  }

  Model model_ = chain_model(4);
  SimulatedDevice device_{4};
  ProofRequest request_;
  Plan last_night_;  ///< as the baseline's file has it; no rounds unless a test gives them
  std::mt19937 random_{2026};
  std::normal_distribution<double> normal_;
};

TEST_F(Baseline, RaisesFewFalseAlarms) {
  constexpr int k_many = 5 * k_nights;  // so that luck with 200 of them does not decide
  int slower = 0;
  int crossed = 0;
  for (int i = 0; i < k_many; ++i) {
    set_truth(night_factor());
    const Comparison comparison = tonight();
    slower += comparison.verdict == ChangeVerdict::slower;
    crossed += comparison.gate == GateStatus::fail;
  }
  RecordProperty("slower", slower);
  RecordProperty("crossed", crossed);
  EXPECT_LE(slower, k_many / 20);
  EXPECT_EQ(crossed, 0);
}

TEST_F(Baseline, FindsARegressionOfTenPercent) {
  const double ten_percent = 325 - 325 / 1.1;
  int slower = 0;
  int crossed = 0;
  for (int i = 0; i < k_nights; ++i) {
    set_truth(night_factor(), ten_percent);
    const Comparison comparison = tonight();
    slower += comparison.verdict == ChangeVerdict::slower;
    crossed += comparison.gate == GateStatus::fail;
  }
  RecordProperty("slower", slower);
  RecordProperty("crossed", crossed);
  EXPECT_GE(slower, k_nights * 9 / 10);
  EXPECT_GE(crossed, k_nights * 9 / 10);
}

TEST_F(Baseline, FilesAloneAreUnsureRatherThanAlarmed) {
  for (const double deviation : {0.01, 0.02, 0.03}) {
    int slower = 0;
    int unsure = 0;
    std::optional<EarlierResult> before;
    for (int i = 0; i <= k_nights; ++i) {
      set_truth(std::exp(deviation * normal_(random_)));
      const EarlierResult now = as_result(plan(prove(device_, request_), "p1"));
      if (before) {
        const Comparison comparison = compare_nights(std::span(&*before, 1), now, k_gate);
        slower += comparison.verdict == ChangeVerdict::slower;
        unsure += comparison.verdict == ChangeVerdict::unsure;
        EXPECT_NE(comparison.gate, GateStatus::fail);
      }
      before = now;
      before->sha256 = std::to_string(i);
    }
    EXPECT_LE(slower, k_nights / 20) << deviation;
    EXPECT_GE(unsure, k_nights * 9 / 10) << deviation;
  }
}

TEST_F(Baseline, SaysWhereItsOwnScheduleIsSlowerThanItsFileSays) {
  last_night_ = request_.plans[0];
  last_night_.faster.round_medians_us = std::vector<double>(10, 325);
  for (std::size_t i = 0; i < 10; ++i)
    last_night_.faster.round_medians_us[i] += static_cast<double>(i);
  set_truth(1.5);
  const ProofOutcome outcome = prove(device_, request_);
  const EarlierResult now = as_result(plan(outcome, "p1"));
  const Comparison comparison = compare_tonight(as_result(last_night_), now, now.plan, k_gate);
  EXPECT_EQ(comparison.basis, ComparisonBasis::same_plan);
  EXPECT_EQ(comparison.verdict, ChangeVerdict::same);
  EXPECT_EQ(comparison.gate, GateStatus::unsure) << "the night or the runtime: pairs cannot tell";
  ASSERT_TRUE(comparison.moved_percent);
  EXPECT_GT(*comparison.moved_percent->low, k_gate);

  Options options;
  options.max_regression = k_gate;
  Result result;
  add_comparison(as_result(last_night_), now, &now.plan, options, result);
  EXPECT_EQ(result.exit_status, 0);
  std::string warnings;
  for (const Warning& warning : result.warnings) warnings += warning.id + " " + warning.text + "\n";
  EXPECT_THAT(warnings, HasSubstr("baseline_moved its own schedule takes "));
  EXPECT_THAT(warnings,
              HasSubstr("gate_unsure gate of 5 %: unsure, for the baseline's own schedule takes "));
  options.strict = true;
  Result strict;
  add_comparison(as_result(last_night_), now, &now.plan, options, strict);
  EXPECT_EQ(strict.exit_status, 6);
  ASSERT_TRUE(strict.error);
  EXPECT_EQ(strict.error->kind, ErrorKind::proof);
}

TEST_F(Baseline, IsKeptUnlessBeatenWhereThereIsNoEarlierPlan) {
  request_.baseline_may_win = true;
  int kept = 0;
  for (int i = 0; i < 50; ++i) kept += prove(device_, request_).chosen == "p3";
  EXPECT_GE(kept, 45);
  set_truth(1, -30);
  EXPECT_EQ(prove(device_, request_).chosen, "p1") << "surely slower";
}

TEST_F(Baseline, HasToBeatAnEarlierPlanThatIsThere) {
  request_.baseline_may_win = true;
  request_.plans[0].kind = PlanKind::previous;
  int taken = 0;
  for (int i = 0; i < 50; ++i) taken += prove(device_, request_).chosen == "p3";
  EXPECT_LE(taken, 5);
  set_truth(1, 30);
  EXPECT_EQ(prove(device_, request_).chosen, "p3");
}

TEST_F(Baseline, IsTimedAndNoMoreWhereItMayNotBeWritten) {
  set_truth(1, 60);
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p1");
  EXPECT_EQ(plan(outcome, "p3").faster.round_medians_us.size(), 10U);
  EXPECT_EQ(plan(outcome, "p1").faster.round_medians_us.size(), 10U);
}

TEST_F(Baseline, ThatCannotRunTonightLeavesTheGateUnsureAndSaysWhy) {
  request_.plans[2].placement.begin()->second = "acl_neon";
  request_.plans[2].keys = request_.make_keys(request_.plans[2], std::nullopt);
  device_.missing_backend = "acl_neon";
  const ProofOutcome outcome = prove(device_, request_);
  Options options;
  options.max_regression = k_gate;
  Result result;
  add_comparison(as_result(last_night_), as_result(plan(outcome, outcome.chosen)),
                 &plan(outcome, "p3"), options, result);
  EXPECT_EQ(result.comparison->gate, GateStatus::unsure);
  ASSERT_FALSE(result.warnings.empty());
  EXPECT_EQ(result.warnings[0].id, "baseline_not_timed");
  EXPECT_THAT(result.warnings[0].text, HasSubstr("Fail to find backend"));
}

TEST_F(Baseline, OfEqualKeysIsNotTimedTwice) {
  request_.plans[2].placement = request_.plans[0].placement;
  request_.plans[2].keys = request_.plans[0].keys;
  const std::size_t before = device_.trials.size();
  const ProofOutcome outcome = prove(device_, request_);
  for (std::size_t i = before; i < device_.trials.size(); ++i)
    EXPECT_THAT(device_.trials[i].label, Not(HasSubstr("p3")));
  EXPECT_EQ(plan(outcome, "p3").faster.round_medians_us,
            plan(outcome, "p1").faster.round_medians_us);
}

}  // namespace
}  // namespace stab
