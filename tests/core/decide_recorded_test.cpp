// SPDX-License-Identifier: Apache-2.0
// The whole way from recorded traces of an ARM board to a decision: times, copies, optimum, and
// what a mixed run really took.
#include <gtest/gtest.h>

#include <numeric>

#include "stab/core/candidates.h"
#include "stab/core/permute_match.h"
#include "stab/core/statistics.h"
#include "support/real_world.h"
#include "support/recorded.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

const std::vector<std::string> k_backends = {"cpu", "ruy", "xnnpack", "acl_neon"};

struct Board {
  Model model;
  OpTimes times;
  std::vector<TransferPoint> points;
  std::map<std::string, Trace> traces;

  explicit Board(const std::string& name) {
    const std::string bytes = test::read_text(test::require_model(name + ".tflite"));
    model = parse_model(std::as_bytes(std::span(bytes)), ModelFormat::tflite, name);
    for (const std::string label : {"cpu", "ruy", "xnnpack", "acl_neon", "acl_all", "mixed"}) {
      const Trace trace = test::read_recorded(test::recorded_run("onert-1.26-armv7", name, label),
                                              {.last_runs = 10});
      const std::vector<TransferPoint> own = transfer_points(match_permutes(model, trace).copies);
      points.insert(points.end(), own.begin(), own.end());
      traces.emplace(label, trace);
    }
    for (const std::string& backend : k_backends) add_times(backend, traces.at(backend));
    add_times("acl_neon", traces.at("acl_all"));
  }

  ModelProblem problem(const std::map<OpId, std::string>& pins = {}) const {
    return make_problem(model, times, TransferModel(k_backends, points), k_backends, pins);
  }

  /// Where a recorded run had each operation.
  Placement placement(const std::string& label) const {
    Placement placement;
    for (const OpTrace& op : traces.at(label).ops) {
      if (op.backend != "cpu" && op.backend != "builtin") placement[op.op] = op.backend;
    }
    return placement;
  }

  double graph_us(const std::string& label) const {
    return median(traces.at(label).graph_us).value();
  }

  double overhead_us(const std::string& label) const {
    const Trace& trace = traces.at(label);
    std::vector<double> outside;
    for (std::size_t k = 0; k < trace.graph_us.size(); ++k)
      outside.push_back(trace.graph_us[k] - trace.ops_us[k]);
    return median(outside).value();
  }

 private:
  /// What the first run of a backend that has an operation says; the run of everything fills in the
  /// rest.
  void add_times(const std::string& backend, const Trace& trace) {
    for (const OpTrace& op : trace.ops) {
      if (op.backend != backend) continue;
      OpTiming timing;
      timing.op = op.op;
      timing.backend = backend;
      timing.us.median = median(op.samples_us).value();
      times[op.op].emplace(backend, timing);
    }
  }
};

TEST(DecideRecorded, FindsAnOptimumNoWorseThanAnyRecordedPlacement) {
  for (const std::string name : {"onet", "hand_landmark"}) {
    SCOPED_TRACE(name);
    const Board board(name);
    const ModelProblem made = board.problem();
    const Solution optimum = solve(made.problem);
    EXPECT_EQ(optimum.certificate.status, Certificate::Status::optimal);
    for (const auto& [label, trace] : board.traces) {
      const std::optional<std::vector<int>> numbers = made.to_numbers(board.placement(label));
      ASSERT_TRUE(numbers) << label;
      EXPECT_LE(optimum.certificate.cost, evaluate(made.problem, *numbers).total) << label;
    }
    EXPECT_LT(to_us(optimum.certificate.cost), 0.97 * board.graph_us("cpu"));
  }
}

TEST(DecideRecorded, PutsOperationsOnSeveralBackends) {
  const Board board("onet");
  const ModelProblem made = board.problem();
  std::map<std::string, int> used;
  for (const int backend : solve(made.problem).placement) ++used[made.backends[backend]];
  EXPECT_GE(used.size(), 2u);
  EXPECT_GT(used["acl_neon"], 0);
}

TEST(DecideRecorded, PaysForFewerCopiesThanTheFastestAveragePerOperation) {
  const Board board("hand_landmark");
  const ModelProblem made = board.problem();
  std::vector<int> fastest;
  for (const PlacementOp& op : made.problem.ops) {
    fastest.push_back(
        static_cast<int>(std::min_element(op.cost.begin(), op.cost.end()) - op.cost.begin()));
  }
  const Evaluation greedy = evaluate(made.problem, fastest);
  const Evaluation optimum = evaluate(made.problem, solve(made.problem).placement);
  EXPECT_LT(optimum.total, greedy.total);
  EXPECT_LT(optimum.copies_made.size(), greedy.copies_made.size());
}

TEST(DecideRecorded, PredictsTheRecordedMixedRunsOfAnEmulatedBoard) {
  // An emulator's times move by a fifth from run to run; a real board's prediction is judged on the
  // board.
  for (const std::string name : {"onet", "hand_landmark"}) {
    const Board board(name);
    const ModelProblem made = board.problem();
    const std::vector<int> mixed = made.to_numbers(board.placement("mixed")).value();
    const Estimate predicted =
        estimate(made, board.times, mixed, 0, board.overhead_us("mixed")).value();
    EXPECT_NEAR(predicted.total_us / board.graph_us("mixed"), 1, 0.25) << name;
  }
}

TEST(DecideRecorded, KeepsPins) {
  const Board board("onet");
  const ModelProblem made = board.problem({{{0, 0}, "ruy"}, {{0, 8}, "acl_neon"}});
  const Placement placement = made.to_placement(solve(made.problem).placement);
  EXPECT_EQ(backend_of(placement, {0, 0}), "ruy");
  EXPECT_EQ(backend_of(placement, {0, 8}), "acl_neon");
}

}  // namespace
}  // namespace stab
