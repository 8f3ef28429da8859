// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "support/recorded.h"

namespace stab {
namespace {

using test::RecordedRun;

// Operations of subgraph 0 that are the model's own.
std::map<OpId, int> model_operations(const Trace& trace) {
  std::map<OpId, int> found;
  for (const OpTrace& op : trace.ops) {
    if (op.type != "Permute") ++found[op.op];
  }
  return found;
}

TEST(RecordedTraces, AreThereForFourRuntimes) {
  std::map<std::string, int> runs;
  for (const RecordedRun& run : test::recorded_runs()) ++runs[run.runtime];
  EXPECT_EQ(runs["onert-2022"], 6);
  EXPECT_EQ(runs["onert-1.26-armv7"], 18);
  EXPECT_EQ(runs["onert-1.30-x86_64"], 4);
  EXPECT_EQ(runs["onert-2026"], 12);
}

TEST(RecordedTraces, NameEveryOperationOfTheirModelOnce) {
  const std::map<std::string, std::size_t> operations = {
      {"hand_landmark", 64}, {"mobilenet_v1_0.25_224_1_default_1", 31}, {"onet", 46}};
  for (const RecordedRun& run : test::recorded_runs()) {
    const auto found = model_operations(read_recorded(run));
    EXPECT_EQ(found.size(), operations.at(run.model)) << run.name();
    for (const auto& [op, times] : found) EXPECT_EQ(times, 1) << run.name() << " " << to_string(op);
  }
}

TEST(RecordedTraces, HaveAMeanOfTheirRunsThatIsTheAverageOfTheOtherForm) {
  for (const RecordedRun& run : test::recorded_runs()) {
    const Trace trace = read_recorded(run);
    EXPECT_TRUE(trace.warnings.empty()) << run.name() << " " << trace.warnings[0].text;
    const auto expect_mean = [&](const std::vector<double>& samples, const AveragedTime& averaged,
                                 const std::string& what) {
      const double mean = std::accumulate(samples.begin(), samples.end(), 0.0) /
                          static_cast<double>(samples.size());
      EXPECT_EQ(std::floor(mean), averaged.mean_us) << run.name() << " " << what;
      EXPECT_EQ(*std::min_element(samples.begin(), samples.end()), averaged.min_us)
          << run.name() << " " << what;
      EXPECT_EQ(*std::max_element(samples.begin(), samples.end()), averaged.max_us)
          << run.name() << " " << what;
    };
    expect_mean(trace.graph_us, trace.graph_averaged.value(), "graph");
    for (const OpTrace& op : trace.ops) {
      ASSERT_TRUE(op.averaged) << run.name() << " " << to_string(op.op);
      ASSERT_EQ(op.samples_us.size(), trace.graph_us.size())
          << run.name() << " " << to_string(op.op);
      expect_mean(op.samples_us, *op.averaged, to_string(op.op) + " on " + op.backend);
      EXPECT_TRUE(op.position) << run.name() << " " << to_string(op.op);
    }
  }
}

TEST(RecordedTraces, SpendNoMoreOnOperationsThanOnTheGraph) {
  for (const RecordedRun& run : test::recorded_runs()) {
    const Trace trace = read_recorded(run);
    for (std::size_t i = 0; i < trace.graph_us.size(); ++i)
      EXPECT_LE(trace.ops_us[i], trace.graph_us[i]) << run.name();
  }
}

TEST(RecordedTraces, HoldTheCopiesOfMixedRunsWithTheirShapes) {
  const Trace trace =
      read_recorded(test::recorded_run("onert-1.26-armv7", "hand_landmark", "acl_neon"));
  int copies = 0;
  for (const OpTrace& op : trace.ops) {
    if (op.type != "Permute") continue;
    ++copies;
    EXPECT_EQ(op.backend, "builtin");
    EXPECT_GE(op.op.index, 64);
    EXPECT_GT(op.input_elements().value_or(0), 0);
  }
  EXPECT_EQ(copies, 29);
}

TEST(RecordedTraces, LoseTheirWarmUpWhenOnlyTheLastRunsAreAskedFor) {
  const RecordedRun run = test::recorded_run("onert-2022", "onet", "cpu");
  const Trace trace = read_recorded(run, {.last_runs = 20});
  EXPECT_EQ(trace.executions, 25);
  EXPECT_EQ(trace.dropped, 5);
  EXPECT_EQ(trace.graph_us.size(), 20);
}

}  // namespace
}  // namespace stab
