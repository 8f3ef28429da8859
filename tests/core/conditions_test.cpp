// SPDX-License-Identifier: Apache-2.0
#include "stab/core/conditions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab {
namespace {

using testing::HasSubstr;

RunConditions run_with(const DeviceState& before, const DeviceState& after) {
  RunConditions run;
  run.label = "cpu";
  run.before = before;
  run.after = after;
  return run;
}

DeviceState state(std::int64_t khz, std::int64_t temperature_mc) {
  DeviceState state;
  state.governor = "ondemand";
  state.khz = {khz, khz};
  state.temperature_mc = temperature_mc;
  state.load1 = 0.1;
  return state;
}

std::vector<std::string> ids(const Conditions& conditions) {
  std::vector<std::string> ids;
  for (const Warning& warning : conditions.warnings) ids.push_back(warning.id);
  return ids;
}

DeviceInfo board() {
  DeviceInfo device;
  device.cores = {{1800000, 4, "0xf"}, {2400000, 2, "0x30"}};
  return device;
}

TEST(Conditions, AreQuietWhenNothingMoved) {
  const Conditions found = judge_conditions(
      {run_with(state(1800000, 45000), state(1790000, 47000))}, std::nullopt, false);
  EXPECT_TRUE(found.warnings.empty());
  EXPECT_TRUE(found.state.moved.empty());
  EXPECT_EQ(found.state.before->temperature_mc, 45000);
  EXPECT_EQ(found.state.after->temperature_mc, 47000);
}

TEST(Conditions, TellWhenFrequencyOrTemperatureMoved) {
  const Conditions found = judge_conditions(
      {run_with(state(1800000, 45000), state(1200000, 62000))}, std::nullopt, false);
  EXPECT_THAT(ids(found), testing::ElementsAre("frequency_moved", "temperature_moved"));
  EXPECT_THAT(found.warnings[0].text, HasSubstr("1200 MHz and 1800 MHz"));
  EXPECT_FALSE(found.warnings[0].remedy.empty());
}

TEST(Conditions, TellWhenTheGovernorChangedOrTheDeviceThrottled) {
  DeviceState after = state(1800000, 45000);
  after.governor = "powersave";
  after.throttled = true;
  EXPECT_THAT(ids(judge_conditions({run_with(state(1800000, 45000), after)}, std::nullopt, false)),
              testing::ElementsAre("governor_moved", "throttled"));
}

TEST(Conditions, SuggestAMaskForCoresOfDifferentSpeed) {
  const Conditions found = judge_conditions({}, board(), false);
  ASSERT_THAT(ids(found), testing::ElementsAre("mixed_cores"));
  EXPECT_THAT(found.warnings[0].remedy, HasSubstr("--affinity 0x30 for the 2 fastest"));
  EXPECT_TRUE(judge_conditions({}, board(), true).warnings.empty());
}

TEST(Conditions, TellWhenTheDeviceWasBusyBefore) {
  DeviceState busy = state(1800000, 45000);
  busy.load1 = 5;
  EXPECT_THAT(ids(judge_conditions({run_with(busy, busy)}, board(), true)),
              testing::ElementsAre("device_busy"));
}

}  // namespace
}  // namespace stab
