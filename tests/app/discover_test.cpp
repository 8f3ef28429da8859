// SPDX-License-Identifier: Apache-2.0
#include "stab/app/discover.h"

#include <gtest/gtest.h>

#include <set>

#include "support/simulated_device.h"

namespace stab {
namespace {

using test::chain_model;

std::vector<OpId> all_of(int count) {
  std::vector<OpId> operations;
  for (int i = 0; i < count; ++i) operations.push_back({0, i});
  return operations;
}

TrialOutcome failed(const std::string& reason) {
  TrialOutcome outcome;
  outcome.status = RunStatus::failed;
  outcome.reason = reason;
  return outcome;
}

TEST(Discover, TakesEverythingWhenEverythingRuns) {
  const Model model = chain_model(8);
  const Discovery found =
      discover(model, "acl_neon", all_of(8), [](const auto&) { return TrialOutcome(); });
  EXPECT_EQ(found.runnable, all_of(8));
  EXPECT_TRUE(found.refused.empty());
  EXPECT_EQ(found.trials, 1);
}

TEST(Discover, LeavesOutTheTypeThatTheRuntimeNames) {
  Model model = chain_model(6);
  for (const int i : {1, 4}) {
    model.subgraphs[0].operations[static_cast<std::size_t>(i)].key = "ElementwiseActivation";
    model.subgraphs[0].operations[static_cast<std::size_t>(i)].type = "ReLU";
  }
  const auto attempt = [](const std::vector<OpId>& operations) {
    for (const OpId op : operations) {
      if (op.index == 1 || op.index == 4)
        return failed(
            "Error during model prepare : KernelGenerator: NYI for operation "
            "'ElementwiseActivation'");
    }
    return TrialOutcome();
  };
  const Discovery found = discover(model, "xnnpack", all_of(6), attempt);
  EXPECT_EQ(found.runnable, (std::vector<OpId>{{0, 0}, {0, 2}, {0, 3}, {0, 5}}));
  EXPECT_EQ(found.refused.size(), 2U);
  EXPECT_EQ(found.trials, 2);
}

TEST(Discover, BisectsToTheOperationsThatFailWithoutAName) {
  const Model model = chain_model(40);
  const std::set<int> bad = {7, 23};
  const auto attempt = [&](const std::vector<OpId>& operations) {
    for (const OpId op : operations) {
      if (bad.contains(op.index)) return failed("Conv: unsupported data type");
    }
    return TrialOutcome();
  };
  const Discovery found = discover(model, "ruy", all_of(40), attempt);
  EXPECT_EQ(found.runnable.size(), 38U);
  ASSERT_EQ(found.refused.size(), 2U);
  EXPECT_EQ(found.refused[0].op, (OpId{0, 7}));
  EXPECT_EQ(found.refused[1].op, (OpId{0, 23}));
}

TEST(Discover, GivesUpAtOnceOnABackendThatCannotBeLoaded) {
  const Model model = chain_model(8);
  const auto attempt = [](const auto&) {
    return failed("Fail to find backend for Conv2D operation");
  };
  const Discovery found = discover(model, "acl_neon", all_of(8), attempt);
  EXPECT_TRUE(found.runnable.empty());
  EXPECT_EQ(found.trials, 1);
  EXPECT_EQ(found.reason, "Fail to find backend for Conv2D operation");
}

TEST(Discover, EndsAfterItsBudgetEvenIfEverythingFails) {
  const Model model = chain_model(500);
  const auto attempt = [](const auto&) { return failed("crashed"); };
  const Discovery found = discover(model, "gpu_cl", all_of(500), attempt, 30);
  EXPECT_TRUE(found.runnable.empty());
  EXPECT_LE(found.trials, 30);
}

TEST(Discover, LeavesOutWhatTheRuntimeRanElsewhere) {
  const Model model = chain_model(3);
  const auto attempt = [](const std::vector<OpId>& operations) {
    TrialOutcome outcome;
    outcome.trace.emplace();
    for (const OpId op : operations) {
      OpTrace trace;
      trace.op = op;
      trace.backend = op.index == 1 ? "cpu" : "gpu_cl";
      outcome.trace->ops.push_back(trace);
    }
    return outcome;
  };
  const Discovery found = discover(model, "gpu_cl", all_of(3), attempt);
  EXPECT_EQ(found.runnable, (std::vector<OpId>{{0, 0}, {0, 2}}));
  ASSERT_EQ(found.refused.size(), 1U);
  EXPECT_EQ(found.refused[0].reason, "the runtime ran it on cpu");
}

}  // namespace
}  // namespace stab
