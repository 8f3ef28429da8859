// SPDX-License-Identifier: Apache-2.0
#include "stab/core/cost_model.h"

#include <gtest/gtest.h>

#include "stab/core/error.h"
#include "stab/core/scheduler.h"
#include "support/consistency.h"
#include "support/graph_builder.h"

namespace stab {
namespace {

using test::time_of;

const std::vector<std::string> k_portables = {"cpu", "ruy", "xnnpack"};
const std::vector<std::string> k_with_neon = {"cpu", "ruy", "acl_neon"};

OpTimes times_of(const std::vector<std::map<std::string, double>>& us) {
  OpTimes times;
  for (int i = 0; i < std::ssize(us); ++i) {
    for (const auto& [backend, value] : us[i])
      times[{0, i}].emplace(backend, time_of({0, i}, backend, value));
  }
  return times;
}

OpTiming with_rounds(OpTiming timing, const std::vector<double>& rounds) {
  for (int r = 0; r < std::ssize(rounds); ++r) timing.rounds.push_back({r, rounds[r]});
  const std::optional<Interval> interval = round_interval(rounds);
  timing.us = interval.value();
  return timing;
}

/// The noise-averse answer without copies, as a placement.
Placement averse_placement(const Model& model, const OpTimes& times, const Placement& home) {
  const ModelProblem made =
      make_problem(model, times, TransferModel(k_portables, {}), k_portables, {}, home);
  const PlacementProblem charged = averse(made.problem, half_widths(made, times));
  const Solution solution = solve(charged);
  test::expect_consistent(charged, solution);
  return made.to_placement(solution.placement);
}

TEST(CostModel, StaysOnTheDefaultForDifferencesThatAreNoise) {
  const Model model = test::chain(1);
  const std::vector<std::vector<double>> orders = {{600, 601, 602}, {600, 602, 601},
                                                   {601, 600, 602}, {601, 602, 600},
                                                   {602, 600, 601}, {602, 601, 600}};
  for (const std::vector<double>& us : orders) {
    const OpTimes times = times_of({{{"cpu", us[0]}, {"ruy", us[1]}, {"xnnpack", us[2]}}});
    for (const std::string& home : k_portables) {
      const Placement placement = home == "cpu" ? Placement{} : Placement{{{0, 0}, home}};
      EXPECT_EQ(averse_placement(model, times, placement), placement)
          << us[0] << " " << us[1] << " home " << home;
    }
  }
}

TEST(CostModel, MovesForMoreThanNoise) {
  const OpTimes times = times_of({{{"cpu", 600}, {"ruy", 593}, {"xnnpack", 595}}});
  EXPECT_EQ(averse_placement(test::chain(1), times, {}), (Placement{{{0, 0}, "ruy"}}));
}

TEST(CostModel, TakesTheSpreadOfPairedRoundsForNoise) {
  const Model model = test::chain(1);
  // The board gets slower by the round, but ruy gains 20 in each: paired, that is sure.
  OpTimes steady;
  steady[{0, 0}].emplace("cpu", with_rounds(time_of({0, 0}, "cpu", 0), {500, 600, 700, 800}));
  steady[{0, 0}].emplace("ruy", with_rounds(time_of({0, 0}, "ruy", 0), {480, 580, 680, 780}));
  EXPECT_EQ(averse_placement(model, steady, {}), (Placement{{{0, 0}, "ruy"}}));
  OpTimes wild;
  wild[{0, 0}].emplace("cpu", with_rounds(time_of({0, 0}, "cpu", 0), {500, 600, 700, 800}));
  wild[{0, 0}].emplace("ruy", with_rounds(time_of({0, 0}, "ruy", 0), {580, 480, 780, 680}));
  EXPECT_EQ(averse_placement(model, wild, {}), Placement{});
}

TEST(CostModel, LetsAnOperationOfZeroMicrosecondsWin) {
  const OpTimes times = times_of({{{"cpu", 5}, {"ruy", 0}, {"xnnpack", 1}}});
  const ModelProblem made =
      make_problem(test::chain(1), times, TransferModel(k_portables, {}), k_portables);
  EXPECT_EQ(made.to_placement(solve(made.problem).placement), (Placement{{{0, 0}, "ruy"}}));
}

TEST(CostModel, TakesAbsentForNoCandidate) {
  const OpTimes times = times_of({{{"cpu", 50}}, {{"cpu", 50}, {"xnnpack", 40}}});
  const ModelProblem made = make_problem(test::chain(2), times, TransferModel(k_portables, {}),
                                         k_portables, {}, {{{0, 0}, "ruy"}});
  const Solution solution = solve(made.problem);
  EXPECT_EQ(made.to_placement(solution.placement), (Placement{{{0, 1}, "xnnpack"}}));
  EXPECT_TRUE(made.without_time.empty());
  EXPECT_EQ(made.to_numbers({{{0, 0}, "ruy"}}), std::nullopt);
  EXPECT_EQ(made.to_numbers({{{0, 0}, "acl_cl"}}), std::nullopt);
  EXPECT_EQ(made.to_numbers({{{1, 0}, "ruy"}}), std::nullopt);
}

TEST(CostModel, KeepsOperationsWithoutATimeOnCpuAndNamesThem) {
  const OpTimes times =
      times_of({{{"cpu", 50}, {"acl_neon", 10}}, {}, {{"cpu", 50}, {"acl_neon", 10}}});
  const ModelProblem made =
      make_problem(test::chain(3), times, TransferModel(k_with_neon, {}), k_with_neon);
  EXPECT_EQ(made.without_time, (std::vector<OpId>{{0, 1}}));
  const std::vector<int> mixed = {2, 0, 2};
  EXPECT_EQ(evaluate(made.problem, mixed).copies_made.size(), 4u);
}

TEST(CostModel, ChargesCopiesAtTheEdgesOfTheGraph) {
  // 1 x 16 x 16 x 32 floats: 32,768 bytes, so 82.768 us by the prior.
  const OpTimes times = times_of({{{"cpu", 100}, {"acl_neon", 1}}});
  const ModelProblem made =
      make_problem(test::chain(1), times, TransferModel(k_with_neon, {}), k_with_neon);
  const std::vector<int> on_neon = {2};
  EXPECT_EQ(to_us(evaluate(made.problem, on_neon).total), 1 + 2 * 82.768);
  EXPECT_EQ(made.to_placement(solve(made.problem).placement), Placement{});
}

TEST(CostModel, ChargesNothingForConstantsAndReadsNothingForAnOperationWithoutInputs) {
  Model model = test::chain(2);
  Subgraph& graph = model.subgraphs[0];
  Tensor constant = graph.tensors[0];
  constant.id.index = static_cast<int>(graph.tensors.size());
  constant.constant = true;
  graph.tensors.push_back(constant);
  graph.outputs.push_back(constant.id.index);
  graph.operations[0].inputs.clear();  // a Range or Fill of constants
  const OpTimes times =
      times_of({{{"cpu", 100}, {"acl_neon", 1}}, {{"cpu", 100}, {"acl_neon", 1}}});
  const ModelProblem made = make_problem(model, times, TransferModel(k_with_neon, {}), k_with_neon);
  const std::vector<int> on_neon = {2, 2};
  EXPECT_EQ(evaluate(made.problem, on_neon).copies_made.size(), 1u) << "the real output alone";
  EXPECT_EQ(made.to_placement(solve(made.problem).placement),
            (Placement{{{0, 0}, "acl_neon"}, {{0, 1}, "acl_neon"}}));
}

TEST(CostModel, RunsControlFlowOnBuiltin) {
  Model model = test::chain(3);
  model.subgraphs[0].operations[1].control_flow = true;
  const OpTimes times =
      times_of({{{"cpu", 100}, {"acl_neon", 1}}, {}, {{"cpu", 100}, {"acl_neon", 1}}});
  const ModelProblem made = make_problem(model, times, TransferModel(k_with_neon, {}), k_with_neon);
  EXPECT_EQ(made.ops, (std::vector<OpId>{{0, 0}, {0, 2}}));
  const std::vector<int> on_neon = {2, 2};
  EXPECT_EQ(evaluate(made.problem, on_neon).copies_made.size(), 4u);
}

TEST(CostModel, CannotMoveATensorWhoseSizeIsNotKnown) {
  Model model = test::chain(2);
  model.subgraphs[0].tensors[1].bytes.reset();
  const OpTimes times = times_of({{{"cpu", 900}, {"acl_neon", 1}}, {{"cpu", 900}}});
  const ModelProblem made = make_problem(model, times, TransferModel(k_with_neon, {}), k_with_neon);
  EXPECT_EQ(made.to_placement(solve(made.problem).placement), Placement{});
}

TEST(CostModel, PinsOperationsAndRefusesWhatHasNoTime) {
  const OpTimes times = times_of({{{"cpu", 5}, {"ruy", 50}}});
  const TransferModel transfers(k_portables, {});
  const ModelProblem made =
      make_problem(test::chain(1), times, transfers, k_portables, {{{0, 0}, "ruy"}});
  EXPECT_EQ(made.to_placement(solve(made.problem).placement), (Placement{{{0, 0}, "ruy"}}));
  try {
    make_problem(test::chain(1), times, transfers, k_portables, {{{0, 0}, "xnnpack"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.subject(), "0:0");
  }
}

TEST(CostModel, BoundsAnEstimateByTheSumsOfItsRounds) {
  // One operation is fast when the other is slow: their sum hardly varies.
  OpTimes times;
  times[{0, 0}].emplace("cpu", with_rounds(time_of({0, 0}, "cpu", 0), {500, 600, 500, 600}));
  times[{0, 1}].emplace("cpu", with_rounds(time_of({0, 1}, "cpu", 0), {600, 500, 600, 500}));
  const ModelProblem made =
      make_problem(test::chain(2), times, TransferModel(k_portables, {}), k_portables);
  const std::vector<int> on_cpu = {0, 0};
  const Estimate found = estimate(made, times, on_cpu, 7, 30).value();
  EXPECT_EQ(found.ops_us, 1107);
  EXPECT_EQ(found.overhead_us, 30);
  EXPECT_EQ(found.total_us, 1137);
  EXPECT_LT(found.high_us - found.low_us, 5);
  EXPECT_LE(found.low_us, found.total_us);
  const OpTimes single = times_of({{{"cpu", 500}}, {{"cpu", 100}}});
  const Estimate guessed = estimate(made, single, on_cpu, 0, 0).value();
  EXPECT_EQ(guessed.high_us - guessed.total_us, 5 + 2);
}

TEST(CostModel, ReadsTheTimesOfCandidatesAlone) {
  Timings timings;
  for (const std::string& backend : k_portables)
    timings.ops.push_back(time_of({0, 0}, backend, 10));
  const Model model = test::chain(1);
  const Discovered discovered = {{"ruy", {{0, 0}}}};
  const OpTimes times = op_times(timings, model, {}, k_portables, discovered);
  ASSERT_EQ(times.size(), 1u);
  EXPECT_TRUE(times.at({0, 0}).contains("ruy"));
  EXPECT_FALSE(times.at({0, 0}).contains("xnnpack"));
}

TEST(CostModel, LetsTheTimesOfAMixedRunReenter) {
  OpTimes times = times_of({{{"cpu", 5}, {"ruy", 50}}});
  Timings timings;
  timings.in_company.push_back(time_of({0, 0}, "ruy", 60));
  timings.in_company.back().label = "mix1";
  timings.in_company.push_back(time_of({0, 0}, "cpu", 7));
  timings.in_company.back().label = "mix2";
  timings.in_company.push_back(time_of({0, 9}, "cpu", 7));
  timings.in_company.back().label = "mix1";
  reenter_times(times, timings, "mix1");
  EXPECT_EQ(times.at({0, 0}).at("ruy").us.median, 60);
  EXPECT_EQ(times.at({0, 0}).at("cpu").us.median, 5);
  EXPECT_EQ(times.size(), 1u);
}

TEST(CostModel, CountsWhatIsNoChoiceOnce) {
  Timings timings;
  const auto add = [&timings](FixedKind kind, OpId op, const std::string& label, double us) {
    FixedTiming fixed{kind, time_of(op, "builtin", us), std::nullopt};
    fixed.timing.label = label;
    timings.fixed.push_back(fixed);
  };
  add(FixedKind::control_flow, {0, 3}, "cpu", 100);
  add(FixedKind::custom, {0, 4}, "cpu", 20);
  add(FixedKind::permute, {0, 9}, "cpu", 3);
  add(FixedKind::subgraph, {1, 0}, "cpu", 50);
  add(FixedKind::control_flow, {0, 3}, "ruy", 100);
  EXPECT_EQ(fixed_us(timings, "cpu"), 120);
}

}  // namespace
}  // namespace stab
