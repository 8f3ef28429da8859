// SPDX-License-Identifier: Apache-2.0
#include "stab/core/timings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/recorded.h"

namespace stab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

OpTrace op(OpId id, std::string backend, std::string type, std::vector<double> samples) {
  OpTrace made;
  made.op = id;
  made.backend = std::move(backend);
  made.type = std::move(type);
  made.samples_us = std::move(samples);
  return made;
}

OpTrace averaged_op(OpId id, std::string backend, std::string type, double mean_us) {
  OpTrace made = op(id, std::move(backend), std::move(type), {});
  made.averaged = AveragedTime{mean_us, {}, {}};
  return made;
}

// A run whose graph takes as long as its operations and one microsecond more.
RunTrace run(std::string label, int round, std::vector<OpTrace> ops,
             RunKind kind = RunKind::single) {
  RunTrace made;
  made.run.id = "r" + label + std::to_string(round);
  made.run.label = std::move(label);
  made.run.kind = kind;
  made.run.round = round;
  std::sort(ops.begin(), ops.end(), [](const OpTrace& a, const OpTrace& b) {
    return std::tie(a.op, a.backend) < std::tie(b.op, b.backend);
  });
  made.trace.ops = std::move(ops);
  for (const OpTrace& one : made.trace.ops) {
    if (one.op.subgraph != 0) continue;
    made.trace.ops_us.resize(std::max(made.trace.ops_us.size(), one.samples_us.size()));
    for (std::size_t i = 0; i < one.samples_us.size(); ++i)
      made.trace.ops_us[i] += one.samples_us[i];
  }
  for (const double sum : made.trace.ops_us) made.trace.graph_us.push_back(sum + 1);
  made.run.runs = static_cast<int>(made.trace.graph_us.size());
  made.trace.executions = static_cast<std::int64_t>(made.trace.graph_us.size());
  return made;
}

std::vector<std::string> warning_ids(const Timings& timings) {
  std::vector<std::string> ids;
  for (const Warning& warning : timings.warnings) ids.push_back(warning.subject + ":" + warning.id);
  return ids;
}

TEST(RunLabel, TellsTheListedTypesFromAllThatABackendCanRun) {
  EXPECT_EQ(parse_run_label("acl_neon"), (RunLabel{"acl_neon", false}));
  EXPECT_EQ(parse_run_label("acl_neon-all"), (RunLabel{"acl_neon", true}));
  EXPECT_EQ(parse_run_label("-all"), (RunLabel{"-all", false}));
  EXPECT_EQ(to_string(RunLabel{"gpu_cl", true}), "gpu_cl-all");
  EXPECT_EQ(to_string(RunLabel{"cpu", false}), "cpu");
}

TEST(Timings, TakesTheTimeOfABackendFromItsOwnSingleRun) {
  const std::vector<RunTrace> runs = {
      run("cpu", 0,
          {op({0, 0}, "cpu", "Conv2D", {50, 52, 54}), op({0, 1}, "cpu", "Add", {5, 5, 5})}),
      run("ruy", 0,
          {op({0, 0}, "ruy", "Conv2D", {40, 44, 42}), op({0, 1}, "cpu", "Add", {9, 9, 9})})};
  const Timings timings = summarise(runs, 1);
  ASSERT_EQ(timings.ops.size(), 3);
  EXPECT_EQ(timings.find({0, 0}, "cpu")->us.median, 52);
  EXPECT_EQ(timings.find({0, 0}, "ruy")->us.median, 42);
  EXPECT_EQ(timings.find({0, 1}, "cpu")->us.median, 5);
  ASSERT_EQ(timings.in_company.size(), 1);
  EXPECT_EQ(timings.in_company[0].label, "ruy");
  EXPECT_EQ(timings.in_company[0].us.median, 9);
}

TEST(Timings, HasNoTimeWhereAnOperationNeverRan) {
  const std::vector<RunTrace> runs = {
      run("cpu", 0, {op({0, 1}, "cpu", "Add", {5})}),
      run("ruy", 0, {op({0, 0}, "ruy", "Conv2D", {40}), op({0, 1}, "cpu", "Add", {5})})};
  const Timings timings = summarise(runs, 1);
  EXPECT_EQ(timings.find({0, 0}, "cpu"), nullptr);
  EXPECT_NE(timings.find({0, 0}, "ruy"), nullptr);
  EXPECT_EQ(timings.find({0, 1}, "ruy"), nullptr);
  EXPECT_EQ(timings.find_label("xnnpack"), nullptr);
}

TEST(Timings, PrefersTheListedRunAndFillsItsGapsFromTheOther) {
  const std::vector<RunTrace> runs = {
      run("acl_neon", 0, {op({0, 0}, "acl_neon", "Conv2D", {10}), op({0, 1}, "cpu", "Add", {5})}),
      run("acl_neon-all", 0,
          {op({0, 0}, "acl_neon", "Conv2D", {13}), op({0, 1}, "acl_neon", "Add", {7})})};
  const Timings timings = summarise(runs, 1);
  EXPECT_EQ(timings.find({0, 0}, "acl_neon")->us.median, 10);
  EXPECT_EQ(timings.find({0, 1}, "acl_neon")->us.median, 7);
  EXPECT_EQ(timings.find({0, 1}, "acl_neon")->label, "acl_neon-all");
  EXPECT_EQ(timings.find({0, 1}, "cpu"), nullptr);
  ASSERT_EQ(timings.in_company.size(), 2);
  EXPECT_EQ(timings.in_company[0].label, "acl_neon-all");
  EXPECT_EQ(timings.in_company[0].us.median, 13);
  EXPECT_EQ(timings.in_company[1].backend, "cpu");
}

TEST(Timings, MakesIntervalsOverRoundsAndNeverOverSingleRuns) {
  std::vector<RunTrace> runs;
  for (int round = 0; round < 4; ++round) {
    const double shift = 10.0 * round;
    runs.push_back(run("cpu", round,
                       {op({0, 0}, "cpu", "Add", {100 + shift, 101 + shift, 102 + shift, 900})}));
  }
  const Timings timings = summarise(runs, 1);
  const OpTiming& timing = *timings.find({0, 0}, "cpu");
  EXPECT_EQ(timing.samples, 16);
  EXPECT_THAT(timing.rounds, ElementsAre(RoundMedian{0, 101.5}, RoundMedian{1, 111.5},
                                         RoundMedian{2, 121.5}, RoundMedian{3, 131.5}));
  EXPECT_THAT(timing.runs, ElementsAre("rcpu0", "rcpu1", "rcpu2", "rcpu3"));
  EXPECT_EQ(timing.us,
            round_interval(std::vector<double>{101.5, 111.5, 121.5, 131.5}, k_clock_resolution_us));
  EXPECT_TRUE(timing.us.low);
  EXPECT_FALSE(summarise(std::span(runs).first(1), 1).find({0, 0}, "cpu")->us.low);
}

TEST(Timings, AreTheSameInWhateverOrderTheRunsCome) {
  std::vector<RunTrace> runs;
  for (int round = 0; round < 3; ++round) {
    runs.push_back(run("cpu", round, {op({0, 0}, "cpu", "Add", {5.0 + round})}));
    runs.push_back(run("ruy", round, {op({0, 0}, "cpu", "Add", {6.0 + round})}));
  }
  const Timings forward = summarise(runs, 1);
  std::reverse(runs.begin(), runs.end());
  const Timings backward = summarise(runs, 1);
  EXPECT_EQ(forward.find({0, 0}, "cpu")->rounds, backward.find({0, 0}, "cpu")->rounds);
  EXPECT_EQ(forward.find({0, 0}, "cpu")->runs, backward.find({0, 0}, "cpu")->runs);
  EXPECT_EQ(forward.in_company.at(0).runs, backward.in_company.at(0).runs);
  EXPECT_EQ(warning_ids(forward), warning_ids(backward));
}

TEST(Timings, CountsOnlyRunsThatEndedWellWithATraceAndTheseThreads) {
  std::vector<RunTrace> runs = {run("cpu", 0, {op({0, 0}, "cpu", "Add", {5})}),
                                run("cpu", 1, {op({0, 0}, "cpu", "Add", {7})}),
                                run("cpu", 2, {op({0, 0}, "cpu", "Add", {9})}),
                                run("cpu", 3, {op({0, 0}, "cpu", "Add", {11})}), run("cpu", 4, {})};
  runs[1].run.status = RunStatus::signal;
  runs[2].run.threads = 4;
  runs[3].run.traced = false;
  const Timings one = summarise(runs, 1);
  EXPECT_THAT(one.find({0, 0}, "cpu")->rounds, ElementsAre(RoundMedian{0, 5}));
  EXPECT_EQ(summarise(runs, 4).find({0, 0}, "cpu")->us.median, 9);
  EXPECT_TRUE(summarise(runs, 2).ops.empty());
  EXPECT_TRUE(summarise({}, 1).labels.empty());
}

TEST(Timings, KeepsWhatIsNoChoiceAsAFixedCost) {
  OpTrace permute = op({0, 9}, "builtin", "Permute", {30});
  permute.input_shape = std::vector<std::int64_t>{1, 4, 4, 2};
  OpTrace fused = op({0, 5}, "cpu", "Conv2D", {300});
  fused.fused_extra = 5;
  const std::vector<RunTrace> runs = {run(
      "cpu", 0,
      {op({0, 0}, "cpu", "Add", {5}), op({0, 1}, "builtin", "While", {70}),
       op({0, 2}, "cpu", "If", {8}), op({0, 3}, "cpu", "Custom", {9}),
       op({0, 4}, "controlflow", "Other", {2}), fused, op({1, 0}, "cpu", "Mul", {60}), permute})};
  const Timings timings = summarise(runs, 1);
  ASSERT_EQ(timings.ops.size(), 1);
  EXPECT_EQ(timings.ops[0].op, (OpId{0, 0}));
  std::vector<std::string> kinds;
  for (const FixedTiming& fixed : timings.fixed) kinds.emplace_back(to_string(fixed.kind));
  EXPECT_THAT(kinds, ElementsAre("control_flow", "control_flow", "custom", "builtin", "fused",
                                 "permute", "subgraph"));
  EXPECT_EQ(timings.fixed[5].input_elements, 32);
  EXPECT_EQ(timings.fixed[5].timing.label, "cpu");
  EXPECT_THAT(warning_ids(timings), ElementsAre("traces:fused_operations"));
  EXPECT_EQ(timings.find_label("cpu")->sum_of_ops_us->median, 424);
  EXPECT_EQ(timings.find_label("cpu")->overhead_us->median, 1);
}

TEST(Timings, KeepsTheTimesOfAMixOutOfTheDecision) {
  const std::vector<RunTrace> runs = {
      run("ruy", 0, {op({0, 0}, "ruy", "Conv2D", {40})}),
      run("ruy", 1, {op({0, 0}, "ruy", "Conv2D", {99})}, RunKind::calibrate)};
  const Timings timings = summarise(runs, 1);
  EXPECT_EQ(timings.find({0, 0}, "ruy")->us.median, 40);
  EXPECT_EQ(timings.in_company.at(0).us.median, 99);
  EXPECT_NE(timings.find_label("ruy", RunKind::calibrate), nullptr);
}

TEST(Timings, DescribesEachLabelAsAWhole) {
  std::vector<RunTrace> runs;
  for (int round = 0; round < 5; ++round) {
    runs.push_back(
        run("cpu", round,
            {op({0, 0}, "cpu", "Add",
                {1000.0 + 30 * round, 1001.0 + 30 * round, 1002.0 + 30 * round, 5000})}));
    runs.back().run.load_us = 100 + round;
    runs.back().run.prepare_us = 200 + round;
    runs.back().run.peak_rss_kb = 3000 - round;
    runs.back().run.execute = ExecuteTimes{1, 2, 3, 4, {7, 8.0 + round, 900}};
  }
  const Timings timings = summarise(runs, 1);
  const LabelTiming& label = *timings.find_label("cpu");
  EXPECT_EQ(label.graph_us->median, 1062.5);
  EXPECT_EQ(label.rounds.size(), 5);
  EXPECT_THAT(label.samples_us.at(0), ElementsAre(1001, 1002, 1003, 5001));
  EXPECT_EQ(label.outliers, 5);
  EXPECT_NEAR(*label.drift_percent, 12, 0.2);
  EXPECT_EQ(label.load_us, 102);
  EXPECT_EQ(label.prepare_us, 202);
  EXPECT_EQ(label.execute_us, 10);
  EXPECT_EQ(label.peak_rss_kb, 3000);
  EXPECT_FALSE(label.averaged);
  EXPECT_THAT(warning_ids(timings), ElementsAre("cpu:drift", "cpu:unstable"));
}

TEST(Timings, SaysWhereWarmUpRunsCouldNotBeTold) {
  std::vector<RunTrace> runs = {run("cpu", 0, {op({0, 0}, "cpu", "Add", {5})})};
  EXPECT_TRUE(summarise(runs, 1).warnings.empty());
  runs[0].run.runs = 0;
  EXPECT_THAT(warning_ids(summarise(runs, 1)), ElementsAre("cpu:warm_up_kept"));
}

TEST(Timings, SaysWhereABackendUsesMoreThreadsThanAskedFor) {
  std::vector<RunTrace> runs = {run("cpu", 0, {op({0, 0}, "cpu", "Add", {5, 5})})};
  runs[0].run.execute = ExecuteTimes{5, 5, 5, 5, {5, 5}};
  runs[0].run.cpu_time_us = 19;
  EXPECT_EQ(summarise(runs, 1).find_label("cpu")->busy_cores, 1.9);
  EXPECT_THAT(warning_ids(summarise(runs, 1)), ElementsAre("cpu:more_threads"));
  runs[0].run.execute->samples_us.clear();
  EXPECT_EQ(summarise(runs, 1).find_label("cpu")->busy_cores, 1.9);
  runs[0].run.threads = 2;
  EXPECT_TRUE(summarise(runs, 2).warnings.empty());
}

TEST(Timings, LeavesUnknownFiguresUnknown) {
  const std::vector<RunTrace> runs = {run("cpu", 0, {op({0, 0}, "cpu", "Add", {5})})};
  const Timings timings = summarise(runs, 1);
  const LabelTiming& label = *timings.find_label("cpu");
  EXPECT_EQ(label.load_us, std::nullopt);
  EXPECT_EQ(label.prepare_us, std::nullopt);
  EXPECT_EQ(label.execute_us, std::nullopt);
  EXPECT_EQ(label.peak_rss_kb, std::nullopt);
  EXPECT_EQ(label.busy_cores, std::nullopt);
  EXPECT_EQ(label.drift_percent, std::nullopt);
}

TEST(Timings, UsesAveragesWhereNothingElseExistsAndSaysSo) {
  std::vector<RunTrace> runs = {run("cpu", 0, {averaged_op({0, 0}, "cpu", "Add", 5)})};
  runs[0].trace.graph_averaged = AveragedTime{8, {}, {}};
  const Timings timings = summarise(runs, 1);
  EXPECT_EQ(timings.find({0, 0}, "cpu")->us, (Interval{5, {}, {}}));
  EXPECT_EQ(timings.find({0, 0}, "cpu")->samples, 0);
  EXPECT_EQ(timings.find_label("cpu")->graph_us->median, 8);
  EXPECT_EQ(timings.find_label("cpu")->overhead_us->median, 3);
  EXPECT_THAT(warning_ids(timings), ElementsAre("cpu:averages_only"));
}

TEST(Timings, NeverMixesRoundsOfSamplesWithAverages) {
  std::vector<RunTrace> runs = {run("cpu", 0, {op({0, 0}, "cpu", "Add", {5})}),
                                run("cpu", 1, {averaged_op({0, 0}, "cpu", "Add", 50)})};
  runs[1].trace.graph_averaged = AveragedTime{80, {}, {}};
  EXPECT_THAT(summarise(runs, 1).find({0, 0}, "cpu")->rounds, ElementsAre(RoundMedian{0, 5}));
}

TEST(Timings, HasNoOverheadWhereAveragesMixSubgraphs) {
  std::vector<RunTrace> runs = {
      run("cpu", 0,
          {averaged_op({0, 0}, "builtin", "While", 50), averaged_op({1, 0}, "cpu", "Add", 5)})};
  runs[0].trace.graph_averaged = AveragedTime{20, {}, {}};
  const Timings timings = summarise(runs, 1);
  EXPECT_EQ(timings.find_label("cpu")->overhead_us, std::nullopt);
  EXPECT_EQ(timings.find_label("cpu")->sum_of_ops_us->median, 50);
}

TEST(Timings, SaysEachThingThatTheReadersNoticedOnce) {
  std::vector<RunTrace> runs;
  for (int round = 0; round < 3; ++round) {
    runs.push_back(run("cpu", round, {op({0, 0}, "cpu", "Add", {500})}));
    runs.back().trace.warnings = {
        {"trace_cut", Severity::warning, "cpu_1." + std::to_string(round), "it ends early", ""}};
  }
  const Timings timings = summarise(runs, 1);
  ASSERT_THAT(warning_ids(timings), ElementsAre("cpu:trace_cut"));
  EXPECT_EQ(timings.warnings[0].text, "cpu_1.0: it ends early (and the like in 2 more runs)");
}

TEST(Timings, KeepZeroAsATime) {
  const std::vector<RunTrace> runs = {run("cpu", 0, {op({0, 0}, "cpu", "Add", {1, 1})}),
                                      run("ruy", 0, {op({0, 0}, "ruy", "Add", {0, 0})})};
  EXPECT_EQ(summarise(runs, 1).find({0, 0}, "ruy")->us.median, 0);
}

TEST(PairRounds, KeepsTheRoundsThatBothHave) {
  const std::vector<RoundMedian> a = {{0, 10}, {2, 12}, {3, 13}};
  const std::vector<RoundMedian> b = {{1, 21}, {2, 22}, {3, 23}, {4, 24}};
  const PairedRounds paired = pair_rounds(a, b);
  EXPECT_THAT(paired.a, ElementsAre(12, 13));
  EXPECT_THAT(paired.b, ElementsAre(22, 23));
  EXPECT_TRUE(pair_rounds({}, b).a.empty());
}

TEST(AveragedRuns, AreWhatTheFirstStabReadFromItsFiles) {
  std::vector<RunTrace> runs = {
      run("ruy", 0,
          {averaged_op({0, 0}, "ruy", "Conv2D", 40), averaged_op({0, 1}, "cpu", "Add", 9)}),
      run("cpu", 0,
          {averaged_op({0, 0}, "cpu", "Conv2D", 50), averaged_op({0, 1}, "cpu", "Add", 5)})};
  runs[0].trace.graph_averaged = AveragedTime{55, {}, {}};
  runs[1].trace.graph_averaged = AveragedTime{60, {}, {}};
  const AveragedRuns averaged =
      averaged_runs(runs, 1, std::vector<std::string>{"cpu", "ruy", "xnnpack"});
  ASSERT_EQ(averaged.runs.size(), 2);
  EXPECT_TRUE(averaged.one_file_each);
  EXPECT_EQ(averaged.runs[0].backend, "cpu");
  EXPECT_EQ(averaged.runs[0].graph_avg_us, 60);
  EXPECT_EQ(averaged.runs[0].ops.at(0).avg_us, 50);
  EXPECT_EQ(averaged.runs[1].backend, "ruy");
  EXPECT_EQ(averaged.runs[1].ops.at(0).backend, "ruy");
  EXPECT_EQ(averaged.runs[1].ops.at(0).type, "Conv2D");
  EXPECT_EQ(averaged.runs[1].ops.at(1).avg_us, 9);
  EXPECT_TRUE(averaged_runs(runs, 2, std::vector<std::string>{"cpu"}).runs.empty());
}

TEST(AveragedRuns, TakeTheMeanOverRoundsAndPromiseLess) {
  std::vector<RunTrace> runs = {run("cpu", 0, {averaged_op({0, 0}, "cpu", "Add", 5)}),
                                run("cpu", 1, {averaged_op({0, 0}, "cpu", "Add", 8)})};
  runs[0].trace.graph_averaged = AveragedTime{6, {}, {}};
  runs[1].trace.graph_averaged = AveragedTime{9, {}, {}};
  const AveragedRuns rounds = averaged_runs(runs, 1, std::vector<std::string>{"cpu"});
  EXPECT_EQ(rounds.runs.at(0).ops.at(0).avg_us, 6.5);
  EXPECT_EQ(rounds.runs.at(0).graph_avg_us, 7.5);
  EXPECT_FALSE(rounds.one_file_each);
}

TEST(AveragedRuns, FallBackOnSamplesAndLeaveOutAGraphWithoutTime) {
  std::vector<RunTrace> runs = {run("cpu", 0, {op({0, 0}, "cpu", "Add", {4, 6})}),
                                run("ruy", 0, {averaged_op({0, 0}, "ruy", "Add", 5)})};
  const AveragedRuns averaged = averaged_runs(runs, 1, std::vector<std::string>{"cpu", "ruy"});
  ASSERT_EQ(averaged.runs.size(), 1);
  EXPECT_EQ(averaged.runs[0].ops.at(0).avg_us, 5);
  EXPECT_EQ(averaged.runs[0].graph_avg_us, 6);
  EXPECT_FALSE(averaged.one_file_each);
}

// The recorded runs of an emulated board, each label one round.
std::vector<RunTrace> board_runs(const std::string& model) {
  std::vector<RunTrace> runs;
  for (const std::string label : {"cpu", "ruy", "xnnpack", "acl_neon"}) {
    RunTrace made;
    made.run.id = label;
    made.run.label = label;
    made.trace =
        read_recorded(test::recorded_run("onert-1.26-armv7", model, label), {.last_runs = 10});
    runs.push_back(std::move(made));
  }
  RunTrace all = runs[3];
  all.run.id = all.run.label = "acl_neon-all";
  all.trace =
      read_recorded(test::recorded_run("onert-1.26-armv7", model, "acl_all"), {.last_runs = 10});
  runs.push_back(std::move(all));
  return runs;
}

TEST(RecordedTimings, GiveEveryOperationItsBackendsOnABoard) {
  const Timings timings = summarise(board_runs("hand_landmark"), 1);
  std::map<std::string, int> measured;
  for (const OpTiming& timing : timings.ops) ++measured[timing.backend];
  EXPECT_EQ(measured["cpu"], 64);
  EXPECT_EQ(measured["acl_neon"], 64);
  EXPECT_EQ(measured["ruy"], 35);
  EXPECT_EQ(measured["xnnpack"], 52);
  for (const FixedTiming& fixed : timings.fixed) {
    EXPECT_EQ(fixed.kind, FixedKind::permute);
    EXPECT_GT(fixed.input_elements.value_or(0), 0);
  }
  for (const LabelTiming& label : timings.labels) {
    EXPECT_EQ(label.samples_us.at(0).size(), 10) << label.label;
    EXPECT_LE(label.sum_of_ops_us->median, label.graph_us->median) << label.label;
    EXPECT_GT(label.overhead_us->median, 0) << label.label;
  }
}

}  // namespace
}  // namespace stab
