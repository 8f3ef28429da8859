// SPDX-License-Identifier: Apache-2.0
#include "stab/core/permute_match.h"

#include <gtest/gtest.h>

#include <set>

#include "support/graph_builder.h"
#include "support/real_world.h"
#include "support/recorded.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

constexpr const char* k_runtime = "onert-1.26-armv7";

Model real_model(const std::string& name) {
  const std::string bytes = test::read_text(test::require_model(name + ".tflite"));
  return parse_model(std::as_bytes(std::span(bytes)), ModelFormat::tflite, name);
}

Trace recorded(const std::string& model, const std::string& label) {
  return test::read_recorded(test::recorded_run(k_runtime, model, label), {.last_runs = 10});
}

TEST(PermuteMatch, FindsTheTensorOfEachRecordedCopy) {
  std::vector<TransferPoint> points;
  int copies = 0;
  for (const std::string name : {"onet", "hand_landmark"}) {
    const Model model = real_model(name);
    for (const std::string label : {"acl_neon", "acl_all", "mixed"}) {
      SCOPED_TRACE(name + " " + label);
      const PermuteMatch match = match_permutes(model, recorded(name, label));
      EXPECT_TRUE(match.unmatched.empty());
      EXPECT_EQ(static_cast<int>(match.copies.size()), match.expected);
      std::set<std::pair<TensorId, std::string>> tensors;
      for (const MatchedCopy& copy : match.copies) {
        EXPECT_TRUE(copy.from == k_portable || copy.to == k_portable);
        EXPECT_NE(copy.from, copy.to);
        EXPECT_TRUE(!copy.tensor || tensors.emplace(*copy.tensor, copy.to).second);
      }
      copies += match.expected;
      const std::vector<TransferPoint> own = transfer_points(match.copies);
      points.insert(points.end(), own.begin(), own.end());
    }
  }
  EXPECT_EQ(copies, 88);
  const TransferModel fitted(std::vector<std::string>{"cpu", "acl_neon"}, points);
  for (const Transfer& transfer : fitted.transfers()) {
    EXPECT_EQ(transfer.source, TransferSource::fitted);
    EXPECT_GT(transfer.latency_us, 35);
    EXPECT_LT(transfer.latency_us, 75);
    EXPECT_GT(transfer.bytes_per_us, 2000);
    EXPECT_LT(transfer.bytes_per_us, 3300);
    EXPECT_LT(transfer.residual_us.value(), 25);
  }
}

TEST(PermuteMatch, ExpectsNoCopiesAmongPortableBackends) {
  const Model model = real_model("onet");
  const PermuteMatch match = match_permutes(model, recorded("onet", "xnnpack"));
  EXPECT_EQ(match.expected, 0);
  EXPECT_TRUE(match.copies.empty());
}

/// Runs the operations of a model in order, each on the backend given, with Permutes where they are
/// asked for.
class TraceMaker {
 public:
  void run(OpId op, const std::string& backend) { add(op, backend, "Op", std::nullopt, 10); }

  void permute(std::int64_t elements, double us) {
    add({0, next_permute_++}, "builtin", "Permute", std::vector<std::int64_t>{elements}, us);
  }

  const Trace& trace() const { return trace_; }

 private:
  void add(OpId op, const std::string& backend, const std::string& type,
           std::optional<std::vector<std::int64_t>> shape, double us) {
    OpTrace entry;
    entry.op = op;
    entry.backend = backend;
    entry.type = type;
    entry.samples_us = {us};
    entry.position = static_cast<int>(trace_.ops.size());
    entry.input_shape = std::move(shape);
    trace_.ops.push_back(entry);
  }

  Trace trace_;
  int next_permute_ = 100;
};

/// input -> a -> b -> c -> output, all of one size.
Model chain_of_three() {
  test::GraphBuilder graph;
  test::TensorIndex t = graph.input({1, 2, 2, 8});
  for (int k = 0; k < 3; ++k) t = graph.same("ReLU", {t});
  graph.output(t);
  return graph.take();
}

TEST(PermuteMatch, TellsEqualSizesApartByWhenTheyRan) {
  TraceMaker run;
  run.run({0, 0}, "cpu");
  run.permute(32, 50);
  run.run({0, 1}, "acl_neon");
  run.permute(32, 60);
  run.run({0, 2}, "cpu");
  const PermuteMatch match = match_permutes(chain_of_three(), run.trace());
  ASSERT_EQ(match.copies.size(), 2u);
  EXPECT_EQ(match.copies[0].tensor, (TensorId{0, 1}));
  EXPECT_EQ(match.copies[0].to, "acl_neon");
  EXPECT_EQ(match.copies[0].bytes, 128u);
  EXPECT_EQ(match.copies[0].us, 50);
  EXPECT_EQ(match.copies[1].tensor, (TensorId{0, 2}));
  EXPECT_EQ(match.copies[1].from, "acl_neon");
}

TEST(PermuteMatch, ProvesByEliminationWhatOneIntervalLeavesOpen) {
  // The third Permute may bring the second input in or the first result out by its time alone. But
  // only inputs can have been copied before it, so both are.
  test::GraphBuilder graph;
  const test::TensorIndex a = graph.same("ReLU", {graph.input({1, 8})});
  const test::TensorIndex b = graph.same("ReLU", {graph.input({1, 8})});
  graph.output(graph.op("Mean", {a, b}, {1, 1}));
  TraceMaker run;
  run.permute(8, 1);
  run.permute(8, 2);
  run.run({0, 0}, "acl_neon");
  run.permute(8, 3);
  run.run({0, 1}, "acl_neon");
  run.permute(8, 4);
  run.run({0, 2}, "cpu");
  const PermuteMatch match = match_permutes(graph.take(), run.trace());
  EXPECT_EQ(match.expected, 4);
  ASSERT_EQ(match.copies.size(), 4u);
  EXPECT_EQ(match.copies[0].to, "acl_neon");
  EXPECT_EQ(match.copies[1].to, "acl_neon");
  EXPECT_EQ(match.copies[2].tensor, (TensorId{0, a}));
  EXPECT_EQ(match.copies[3].tensor, (TensorId{0, b}));
}

TEST(PermuteMatch, LeavesOutWhatMayBeEitherDirection) {
  // Two independent chains: one goes to acl_neon, the other comes from it, with Permutes at the
  // same time.
  test::GraphBuilder graph;
  const test::TensorIndex a = graph.same("ReLU", {graph.input({1, 8})});
  const test::TensorIndex b = graph.same("ReLU", {graph.input({1, 8})});
  graph.output(graph.op("Mean", {a}, {1, 1}));
  graph.output(graph.op("Mean", {b}, {1, 2}));
  TraceMaker run;
  run.permute(8, 5);
  run.run({0, 0}, "cpu");
  run.run({0, 1}, "acl_neon");
  run.permute(8, 1);
  run.permute(8, 2);
  run.run({0, 2}, "acl_neon");
  run.run({0, 3}, "cpu");
  const PermuteMatch match = match_permutes(graph.take(), run.trace());
  ASSERT_EQ(match.copies.size(), 1u);
  EXPECT_EQ(match.copies[0].us, 5);
  EXPECT_EQ(match.unmatched, (std::vector<OpId>{{0, 101}, {0, 102}}));
}

TEST(PermuteMatch, ReportsPermutesThatFitNoCopy) {
  TraceMaker run;
  run.run({0, 0}, "cpu");
  run.permute(32, 50);
  run.permute(7, 50);
  run.run({0, 1}, "cpu");
  run.run({0, 2}, "cpu");
  const PermuteMatch match = match_permutes(chain_of_three(), run.trace());
  EXPECT_TRUE(match.copies.empty());
  EXPECT_EQ(match.unmatched.size(), 2u);
}

}  // namespace
}  // namespace stab
