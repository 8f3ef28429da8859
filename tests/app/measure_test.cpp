// SPDX-License-Identifier: Apache-2.0
#include "stab/app/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "stab/core/error.h"
#include "stab/core/schedule_keys.h"
#include "support/simulated_device.h"

namespace stab {
namespace {

using test::chain_model;
using test::SimulatedDevice;

class Measure : public testing::Test {
 protected:
  Measure() {
    device_.true_us["ruy"] = {50, 200, 50, 200};
    device_.true_us["xnnpack"] = {80, 80, 80, 80};
    request_.model = &model_;
    for (int i = 0; i < 4; ++i) request_.operations.push_back({0, i});
    request_.singles = {{"cpu", "cpu", {}},
                        {"ruy", "ruy", on("ruy", {0, 1, 2, 3})},
                        {"xnnpack", "xnnpack", on("xnnpack", {0, 1, 2, 3})}};
    request_.runs = 20;
    request_.rounds = 4;
    request_.max_rounds = 4;
    request_.make_keys = [](const Placement& placement) {
      KeyRequest keys;
      keys.placement = placement;
      keys.backends = {"cpu", "ruy", "xnnpack"};
      return schedule_keys(keys);
    };
  }

  static Placement on(const std::string& backend, const std::vector<int>& operations) {
    Placement placement;
    for (const int i : operations) placement[{0, i}] = backend;
    return placement;
  }

  Model model_ = chain_model(4);
  SimulatedDevice device_{4};
  MeasureRequest request_;
};

TEST_F(Measure, RunsTheBackendsInInterleavedRoundsThatTurnAround) {
  const MeasureOutcome outcome = measure(device_, request_);
  std::vector<std::string> labels;
  for (const MeasuredRun& run : outcome.runs) labels.push_back(run.label);
  EXPECT_THAT(labels, testing::ElementsAre("cpu", "ruy", "xnnpack", "xnnpack", "ruy", "cpu", "cpu",
                                           "ruy", "xnnpack", "xnnpack", "ruy", "cpu"));
  EXPECT_EQ(outcome.runs.front().id, "r0000");
  EXPECT_EQ(outcome.runs.back().id, "r0011");
  EXPECT_EQ(outcome.runs.front().trial.runs, 5);
  EXPECT_EQ(outcome.singles[0].round_medians_us.size(), 4U);
}

TEST_F(Measure, HandsOverEachRunTheMomentItEnds) {
  int seen = 0;
  request_.on_run = [&](const MeasuredRun& run) {
    EXPECT_EQ(run.id, "r" + std::string(seen < 10 ? "000" : "00") + std::to_string(seen));
    ++seen;
  };
  measure(device_, request_);
  EXPECT_EQ(seen, 12);
}

TEST_F(Measure, LosesOnlyTheBackendThatCannotBeLoaded) {
  device_.missing_backend = "xnnpack";
  const MeasureOutcome outcome = measure(device_, request_);
  EXPECT_FALSE(outcome.singles[0].failed);
  EXPECT_FALSE(outcome.singles[1].failed);
  EXPECT_TRUE(outcome.singles[2].failed);
  EXPECT_THAT(outcome.singles[2].reason, testing::HasSubstr("Fail to find backend"));
  EXPECT_EQ(outcome.singles[1].round_medians_us.size(), 4U);
}

TEST_F(Measure, RescuesABackendFromTheOneOperationThatKillsTheWholeRun) {
  device_.impossible = {{"ruy", 2}};
  const MeasureOutcome outcome = measure(device_, request_);
  EXPECT_FALSE(outcome.singles[1].failed);
  EXPECT_EQ(outcome.singles[1].single.placement, on("ruy", {0, 1, 3}));
  EXPECT_EQ(outcome.singles[1].round_medians_us.size(), 4U);
  ASSERT_FALSE(outcome.warnings.empty());
  EXPECT_THAT(outcome.warnings[0].text, testing::HasSubstr("3 of the 4 operations"));
}

TEST_F(Measure, UsesTheApiWhereTheRuntimeIgnoresPackageAndEnvironment) {
  device_.reads_config = false;
  device_.reads_env = false;
  const MeasureOutcome outcome = measure(device_, request_);
  EXPECT_TRUE(outcome.by_api);
  EXPECT_FALSE(outcome.singles[1].failed);
  EXPECT_EQ(outcome.singles[2].round_medians_us.size(), 4U);
}

TEST_F(Measure, SaysSoWhereTheRuntimeIgnoresEveryWay) {
  device_.reads_config = false;
  device_.reads_env = false;
  device_.reads_api = false;
  const MeasureOutcome outcome = measure(device_, request_);
  EXPECT_FALSE(outcome.by_api);
  EXPECT_TRUE(outcome.singles[1].failed);
  EXPECT_THAT(outcome.singles[1].reason,
              testing::HasSubstr("4 operations ran elsewhere, first 0:0: asked for ruy, and the "
                                 "runtime ran it on cpu"));
}

TEST_F(Measure, StopsWithTheRuntimesWordsWhenCpuItselfFails) {
  device_.missing_backend = "cpu";
  try {
    measure(device_, request_);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.why(), testing::HasSubstr("no cpu"));
    EXPECT_THAT(error.hint(), testing::HasSubstr("--input"));
  }
}

TEST_F(Measure, DoesNotCountRunsWhoseOperationsRanElsewhere) {
  device_.reads_config = false;
  device_.reads_env = false;
  std::set<std::string> files;
  for (const MeasuredRun& run : measure(device_, request_).runs) {
    EXPECT_TRUE(files.insert(run.trial.keep_as).second) << run.trial.keep_as << " twice";
    if (run.label == "cpu" || run.trial.way == Way::api) continue;
    EXPECT_EQ(run.outcome.status, RunStatus::failed) << run.id;
  }
}

TEST_F(Measure, ReachesMixesByTheApiWhereOnlyThatWorks) {
  device_.reads_config = false;
  device_.reads_env = false;
  request_.kind = RunKind::calibrate;
  request_.singles = {{"mix1", "", on("ruy", {0, 2})}};
  const MeasureOutcome found = measure(device_, request_);
  EXPECT_TRUE(found.by_api);
  EXPECT_FALSE(found.singles[0].failed);
  request_.by_api = true;
  for (const MeasuredRun& run : measure(device_, request_).runs) EXPECT_EQ(run.trial.way, Way::api);
}

TEST_F(Measure, GivesEveryRunTheUsersInputs) {
  const std::vector<std::string> inputs = {"a tensor"};
  request_.inputs = &inputs;
  for (const MeasuredRun& run : measure(device_, request_).runs)
    EXPECT_EQ(run.trial.inputs, &inputs);
}

TEST_F(Measure, AddsRoundsWhileTheDifferenceThatMattersIsUnclear) {
  device_.round_noise = 0.1;
  request_.max_rounds = 7;
  EXPECT_EQ(measure(device_, request_).singles[0].round_medians_us.size(), 7U);
}

TEST_F(Measure, StopsAfterTheLastRoundThatTimeAllows) {
  int asked = 0;
  request_.out_of_time = [&] { return ++asked > 1; };
  EXPECT_EQ(measure(device_, request_).singles[0].round_medians_us.size(), 2U);
}

}  // namespace
}  // namespace stab
