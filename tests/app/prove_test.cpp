// SPDX-License-Identifier: Apache-2.0
#include "stab/app/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stab/core/schedule_keys.h"
#include "support/simulated_device.h"

namespace stab {
namespace {

using test::chain_model;
using test::SimulatedDevice;
using testing::HasSubstr;

class Prove : public testing::Test {
 protected:
  Prove() {
    device_.true_us["cpu"] = {100, 100, 100, 100, 100, 100};
    device_.true_us["ruy"] = {60, 150, 60, 150, 60, 150};
    request_.model = &model_;
    for (int i = 0; i < 6; ++i) request_.operations.push_back({0, i});
    request_.backends = {"cpu", "ruy"};
    request_.runs = 30;
    request_.rounds = 6;
    request_.seeds = {1, 2, 3};
    request_.input_sets = {{"a"}, {"b"}, {"c"}};
    request_.make_keys = [](const Plan& plan, const std::optional<std::string>& planner) {
      KeyRequest keys;
      keys.placement = plan.placement;
      keys.backends = {"cpu", "ruy"};
      keys.memory_planner = planner;
      return schedule_keys(keys);
    };
    request_.price = [](Plan& plan) { plan.switches = static_cast<int>(plan.placement.size()); };
    add("p1", PlanKind::averse, {0, 2, 4});
    add("p2", PlanKind::single, {});
    add("p3", PlanKind::single, {0, 1, 2, 3, 4, 5});
    request_.plans[2].backend = "ruy";
  }

  void add(const std::string& id, PlanKind kind, const std::vector<int>& on_ruy) {
    Plan plan;
    plan.id = id;
    plan.kind = kind;
    if (kind == PlanKind::single) plan.backend = "cpu";
    for (const int i : on_ruy) plan.placement[{0, i}] = "ruy";
    plan.keys = request_.make_keys(plan, std::nullopt);
    plan.estimate = Estimate{device_.true_graph_us(plan.placement), 0, 0, 0, 0, 0};
    request_.plans.push_back(plan);
  }

  static const Plan& plan(const ProofOutcome& outcome, const std::string& id) {
    for (const Plan& plan : outcome.plans) {
      if (plan.id == id) return plan;
    }
    throw std::runtime_error("no plan " + id);
  }

  Model model_ = chain_model(6);
  SimulatedDevice device_{6};
  ProofRequest request_;
};

TEST_F(Prove, WritesTheMixThatIsFasterAppliedAndEqual) {
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p1");
  EXPECT_EQ(outcome.baseline, "p2");
  EXPECT_EQ(plan(outcome, "p1").applied.status, ProofStatus::pass);
  EXPECT_EQ(plan(outcome, "p1").equal.status, ProofStatus::pass);
  EXPECT_EQ(plan(outcome, "p1").faster.status, FasterStatus::faster);
  ASSERT_TRUE(outcome.speedup);
  EXPECT_NEAR(outcome.speedup->median, 605.0 / 485.0, 1e-6);
  EXPECT_EQ(outcome.delivery.works, "config");
  EXPECT_EQ(outcome.delivery.per_operation, "0=ruy;2=ruy;4=ruy");
}

TEST_F(Prove, FindsThatOnlyTheEnvironmentReachesARuntimeThatIgnoresThePackage) {
  device_.reads_config = false;
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.delivery.works, "env");
  EXPECT_EQ(outcome.delivery.tried_config, false);
  EXPECT_EQ(outcome.delivery.tried_env, true);
  EXPECT_EQ(outcome.chosen, "p1");
}

TEST_F(Prove, FindsThatOnlyTheApiReachesARuntimeThatIgnoresBoth) {
  device_.reads_config = false;
  device_.reads_env = false;
  EXPECT_EQ(prove(device_, request_).delivery.works, "api");
}

TEST_F(Prove, FallsBackToCpuWhereNoPlanCanBeDelivered) {
  device_.reads_config = false;
  device_.reads_env = false;
  device_.reads_api = false;
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p2");
  EXPECT_EQ(outcome.delivery.works, "none_needed");
  EXPECT_EQ(plan(outcome, "p1").applied.status, ProofStatus::fail);
  EXPECT_EQ(plan(outcome, "p1").applied.mismatches.size(), 3U);
}

TEST_F(Prove, WritesNothingWhereTheBestSingleBackendCannotBeDelivered) {
  device_.reads_config = false;
  device_.reads_env = false;
  device_.reads_api = false;
  request_.plans[2].estimate->total_us = 400;
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "");
  EXPECT_THAT(outcome.refusal, HasSubstr("gain that is lost: 51 % over cpu"));
}

TEST_F(Prove, WritesWhatLastsWhenThePlanOfFirstChoiceFailsInItsLastRounds) {
  int timed = 0;
  device_.crashes = [&](const Trial& trial) {
    return trial.label == "p1" && !trial.traced && !trial.wants_outputs &&
           ++timed > request_.rounds + 2;
  };
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p2");
  EXPECT_EQ(plan(outcome, "p1").applied.status, ProofStatus::fail);
  EXPECT_EQ(plan(outcome, "p2").applied.status, ProofStatus::pass);
}

TEST_F(Prove, RefusesWhenEveryPlanFailsInTheLastRounds) {
  int timed = 0;
  device_.crashes = [&](const Trial& trial) {
    return !trial.traced && !trial.wants_outputs && ++timed > 3 * request_.rounds;
  };
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "");
  EXPECT_THAT(outcome.refusal, HasSubstr("signal 11"));
}

TEST_F(Prove, SaysHowMuchSlowerWhatLeftTheRaceEarlyWas) {
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(plan(outcome, "p3").faster.status, FasterStatus::slower);
}

TEST_F(Prove, KeepsPinsWhateverTheirOutputs) {
  device_.wrong = [](const Placement& placement, const std::string&, int) {
    return placement.contains({0, 2}) && placement.size() < 6;
  };
  request_.pinned = {{0, 2}};
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(plan(outcome, "p1").equal.status, ProofStatus::fail);
  EXPECT_TRUE(plan(outcome, "p1").placement.contains({0, 2}));
  EXPECT_THAT(plan(outcome, "p1").equal.reason, HasSubstr("it is pinned"));
}

TEST_F(Prove, RefusesAPlanThatIsSlowerInCompany) {
  device_.company = [](const Placement& placement) { return placement.size() == 3 ? 1.4 : 1.0; };
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p2");
  EXPECT_EQ(outcome.speedup, std::nullopt);
}

TEST_F(Prove, CuresWrongOutputsWithAnotherMemoryPlanner) {
  device_.wrong = [](const Placement& placement, const std::string& planner, int) {
    return placement.size() == 3 && planner != "Bump";
  };
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p1");
  const Plan& chosen = plan(outcome, "p1");
  EXPECT_EQ(chosen.equal.status, ProofStatus::pass);
  EXPECT_EQ(chosen.equal.remedy, "CPU_MEMORY_PLANNER=Bump");
  ASSERT_NE(find_key(chosen.keys, "CPU_MEMORY_PLANNER"), nullptr);
  EXPECT_EQ(*find_key(chosen.keys, "CPU_MEMORY_PLANNER"), "Bump");
  EXPECT_EQ(chosen.peak_rss_kb, 31000);
  ASSERT_EQ(outcome.warnings.size(), 1U);
  EXPECT_EQ(outcome.warnings[0].id, "remedy_memory");
}

TEST_F(Prove, CuresPlansThatAreAlikeOnce) {
  device_.wrong = [](const Placement& placement, const std::string& planner, int) {
    return placement.size() == 3 && planner != "Bump";
  };
  add("p4", PlanKind::optimum, {0, 2, 4});
  add("p5", PlanKind::baseline, {0, 2, 4});
  const ProofOutcome outcome = prove(device_, request_);
  for (const char* id : {"p1", "p4", "p5"}) {
    EXPECT_EQ(plan(outcome, id).equal.status, ProofStatus::pass);
    EXPECT_EQ(plan(outcome, id).equal.remedy, "CPU_MEMORY_PLANNER=Bump");
    EXPECT_EQ(plan(outcome, id).keys, plan(outcome, "p1").keys);
  }
  EXPECT_EQ(outcome.warnings.size(), 1U);
}

TEST_F(Prove, RearrangesItsOwnPlanWhateverWasProvenBefore) {
  device_.wrong = [](const Placement& placement, const std::string&, int) {
    return placement.contains({0, 2});
  };
  request_.plans.erase(request_.plans.begin());
  add("p4", PlanKind::baseline, {0, 2, 4});
  add("p5", PlanKind::optimum, {0, 2, 4});
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(plan(outcome, "p4").equal.status, ProofStatus::fail);
  EXPECT_EQ(plan(outcome, "p5").equal.status, ProofStatus::pass);
  EXPECT_EQ(plan(outcome, "p5").placement.size(), 2U);
}

TEST_F(Prove, RearrangesOfPlansThatAreAlikeOnlyItsOwn) {
  device_.wrong = [](const Placement& placement, const std::string&, int) {
    return placement.contains({0, 2});
  };
  add("p4", PlanKind::optimum, {0, 2, 4});
  add("p5", PlanKind::baseline, {0, 2, 4});
  const ProofOutcome outcome = prove(device_, request_);
  for (const char* id : {"p1", "p4"}) {
    EXPECT_THAT(plan(outcome, id).equal.guilty, testing::ElementsAre(OpId{0, 2}));
    EXPECT_EQ(plan(outcome, id).placement.size(), 2U);
    EXPECT_EQ(plan(outcome, id).switches, 2);
  }
  EXPECT_EQ(plan(outcome, "p5").equal.status, ProofStatus::fail);
  EXPECT_EQ(plan(outcome, "p5").placement.size(), 3U);
}

TEST_F(Prove, PinsTheOneOperationThatComputesWrongOutputs) {
  device_.wrong = [](const Placement& placement, const std::string&, int) {
    return placement.contains({0, 2});
  };
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p1");
  EXPECT_THAT(plan(outcome, "p1").equal.guilty, testing::ElementsAre(OpId{0, 2}));
  EXPECT_FALSE(plan(outcome, "p1").placement.contains({0, 2}));
  EXPECT_EQ(plan(outcome, "p1").applied.status, ProofStatus::pass);
  EXPECT_EQ(plan(outcome, "p3").equal.status, ProofStatus::fail)
      << "a single backend is not rearranged";
}

TEST_F(Prove, PinsOneOfThePairThatComputesWrongOutputsTogether) {
  device_.wrong = [](const Placement& placement, const std::string&, int) {
    return placement.contains({0, 0}) && placement.contains({0, 4});
  };
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_THAT(plan(outcome, "p1").equal.guilty, testing::ElementsAre(OpId{0, 4}));
  EXPECT_EQ(outcome.chosen, "p1");
}

TEST_F(Prove, CatchesOutputsThatAreWrongOnlyWithTwoThreads) {
  device_.wrong = [](const Placement& placement, const std::string&, int threads) {
    return !placement.empty() && threads == 2;
  };
  EXPECT_EQ(plan(prove(device_, request_), "p1").equal.status, ProofStatus::pass);
  request_.make_keys = [](const Plan& plan, const std::optional<std::string>& planner) {
    KeyRequest keys;
    keys.placement = plan.placement;
    keys.backends = {"cpu", "ruy"};
    keys.threads = 2;
    keys.memory_planner = planner;
    return schedule_keys(keys);
  };
  for (Plan& candidate : request_.plans)
    candidate.keys = request_.make_keys(candidate, std::nullopt);
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(plan(outcome, "p3").equal.status, ProofStatus::fail);
  EXPECT_EQ(plan(outcome, "p1").equal.guilty.size(), 3U);
  EXPECT_TRUE(plan(outcome, outcome.chosen).placement.empty());
}

TEST_F(Prove, CallsOutputsUnsureThatCpuItselfDoesNotRepeat) {
  device_.unrepeatable = true;
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(plan(outcome, outcome.chosen).equal.status, ProofStatus::unsure);
}

TEST_F(Prove, KeepsThePlanOfYesterdayUnlessItIsBeatenBeyondNoise) {
  add("p4", PlanKind::previous, {0, 2});
  device_.true_us["ruy"][4] = 99.9;
  device_.round_noise = 0.02;
  EXPECT_EQ(prove(device_, request_).chosen, "p4");
  device_.true_us["ruy"][4] = 20;
  EXPECT_EQ(prove(device_, request_).chosen, "p1");
}

TEST_F(Prove, KeepsThePlanOfYesterdayAlsoWhenItIsOneOfTodaysCandidates) {
  add("p4", PlanKind::optimum, {0, 2});
  add("p5", PlanKind::previous, {0, 2, 4});
  device_.true_us["ruy"][4] = 100.1;
  device_.round_noise = 0.02;
  int kept = 0;
  for (int night = 0; night < 20; ++night) kept += prove(device_, request_).chosen == "p1";
  EXPECT_GE(kept, 18) << "yesterday's is p1 of today";
}

TEST_F(Prove, KeepsThePlanOfYesterdayWithoutTimesOnlyIfItMayBeAsFast) {
  request_.verify = false;
  add("p4", PlanKind::previous, {0, 2});
  for (Plan& plan : request_.plans) {
    if (plan.id == "p1") plan.estimate->high_us = plan.estimate->total_us + 50;
  }
  EXPECT_EQ(prove(device_, request_).chosen, "p4");
  request_.plans[0].estimate->high_us = request_.plans[0].estimate->total_us + 5;
  EXPECT_EQ(prove(device_, request_).chosen, "p1");
}

TEST_F(Prove, WritesTheBestSingleBackendWhereTheMixIsNotBetterBeyondNoise) {
  device_.true_us["ruy"] = {99.9, 150, 99.9, 150, 99.9, 150};
  device_.round_noise = 0.03;
  EXPECT_EQ(prove(device_, request_).chosen, "p2");
}

TEST_F(Prove, ChoosesTheAversePlanWithoutTimesWhenTheyAreNotWanted) {
  request_.verify = false;
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(outcome.chosen, "p1");
  EXPECT_EQ(outcome.baseline, "p2");
  EXPECT_EQ(plan(outcome, "p1").faster.status, FasterStatus::skipped);
}

TEST_F(Prove, SendsNoKeyOfItsOwnToTheSourcePackageOfToday) {
  const ProofOutcome outcome = prove(device_, request_);
  EXPECT_EQ(plan(outcome, "today").kind, PlanKind::today);
  ASSERT_TRUE(outcome.today_us);
  for (const Trial& trial : device_.trials) {
    EXPECT_EQ(trial.source_as_is, trial.keys.empty());
  }
}

TEST_F(Prove, PrintsNoGainForEqualPlansOnAverage) {
  device_.true_us["ruy"] = std::vector<double>(6, 100);
  device_.round_noise = 0.02;
  device_.run_noise = 0.01;
  request_.check = false;
  double sum = 0;
  int gains = 0;
  constexpr int k_repeats = 60;
  for (int i = 0; i < k_repeats; ++i) {
    const ProofOutcome outcome = prove(device_, request_);
    const Plan& mix = plan(outcome, "p1");
    if (outcome.chosen == "p1") ++gains;
    if (outcome.speedup) sum += std::log(outcome.speedup->median);
    EXPECT_EQ(mix.applied.status, ProofStatus::pass);
  }
  EXPECT_LE(gains, k_repeats / 10);
  EXPECT_NEAR(sum / k_repeats, 0, 0.005);
}

}  // namespace
}  // namespace stab
