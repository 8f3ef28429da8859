// SPDX-License-Identifier: Apache-2.0
#include "stab/core/candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stab/core/error.h"
#include "support/graph_builder.h"

namespace stab {
namespace {

using test::time_of;

const std::vector<std::string> k_backends = {"cpu", "ruy", "acl_neon"};

SinglePlan single(const Model& model, const OpTimes& times, const std::string& backend,
                  std::optional<double> graph_us) {
  SinglePlan plan{backend, {}, graph_us};
  for (const Operation& operation : model.subgraphs.front().operations) {
    if (backend != "cpu" && times.at(operation.id).contains(backend))
      plan.placement[operation.id] = backend;
  }
  return plan;
}

struct World {
  Model model;
  OpTimes times;
  ModelProblem made;
  CandidateRequest request;
};

World world_of(Model model, OpTimes times, const std::vector<TransferPoint>& points = {}) {
  World world{std::move(model), std::move(times), {}, {}};
  world.made =
      make_problem(world.model, world.times, TransferModel(k_backends, points), k_backends);
  for (const std::string& backend : k_backends) {
    world.request.singles.push_back(single(world.model, world.times, backend, std::nullopt));
  }
  return world;
}

World mobilenet() {
  Model model = test::mobilenet_v2();
  OpTimes times = test::made_up_times(model, k_backends, 5);
  return world_of(std::move(model), std::move(times));
}

TEST(Candidates, AreTheOptimumTheAverseOneAndEachSingle) {
  World world = mobilenet();
  world.request.singles[1].graph_us = 100;
  world.request.singles[2].graph_us = 90;
  world.request.overhead_us = 12;
  world.request.previous = {{{{0, 0}, "ruy"}}};
  const CandidateSet set = make_candidates(world.made, world.times, world.request);
  ASSERT_EQ(set.plans.size(), 6u);
  const std::vector<PlanKind> kinds = {PlanKind::optimum, PlanKind::averse, PlanKind::single,
                                       PlanKind::single,  PlanKind::single, PlanKind::previous};
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Plan& plan = set.plans[k];
    EXPECT_EQ(plan.kind, kinds[k]);
    EXPECT_EQ(plan.id, "p" + std::to_string(k + 1));
    ASSERT_TRUE(plan.estimate);
    double copies = 0;
    for (const PlanCopy& copy : plan.copies) copies += copy.cost_us;
    EXPECT_NEAR(plan.estimate->copies_us, copies, 1e-6);
    EXPECT_NEAR(plan.estimate->total_us, plan.estimate->ops_us + copies + 12, 1e-6);
    EXPECT_GE(plan.estimate->total_us, set.plans[0].estimate->total_us);
  }
  EXPECT_EQ(set.plans[set.baseline].backend, "acl_neon");
  ASSERT_TRUE(set.certificate);
  EXPECT_EQ(set.certificate->status, Certificate::Status::optimal);
  EXPECT_NEAR(to_us(set.certificate->cost) + 12, set.plans[0].estimate->total_us, 1e-6);
}

TEST(Candidates, HaveTheGreedyPlanInPlaceOfTheOptimum) {
  World world = mobilenet();
  world.request.greedy = Placement{{{0, 0}, "ruy"}};
  const CandidateSet set = make_candidates(world.made, world.times, world.request);
  ASSERT_EQ(set.plans.size(), 4u);
  EXPECT_EQ(set.plans[0].kind, PlanKind::greedy);
  EXPECT_FALSE(set.certificate);
}

TEST(Candidates, KeepAPlanThatTheMeasurementsSayNothingOf) {
  World world = mobilenet();
  world.request.previous = {{{{0, 0}, "gpu_cl"}}};
  const CandidateSet set = make_candidates(world.made, world.times, world.request);
  EXPECT_FALSE(set.plans.back().estimate);
  EXPECT_EQ(set.plans.back().placement, world.request.previous[0]);
}

TEST(Candidates, FindTheFastestSingle) {
  const std::vector<SinglePlan> singles = {
      {"cpu", {}, std::nullopt}, {"ruy", {}, 7}, {"xnnpack", {}, 5}, {"acl_cl", {}, 5}};
  EXPECT_EQ(best_single(singles), 2u);
  const std::vector<SinglePlan> unknown = {{"cpu", {}, std::nullopt}, {"ruy", {}, std::nullopt}};
  EXPECT_EQ(best_single(unknown), 0u);
  EXPECT_THROW(best_single({}), Error);
}

TEST(Candidates, RefuseAnImprovementThatItsCopiesEatUp) {
  // As reported of a ruy that sat among acl_neon operations (Samsung/ONE#5067): 43.8 ms without it,
  // 101.6 ms with it, since each of its operations, though faster, needed a copy before and one
  // behind.
  constexpr int k_ops = 40;
  Model model = test::chain(k_ops);
  OpTimes times;
  for (int i = 0; i < k_ops; ++i) {
    times[{0, i}].emplace("cpu", time_of({0, i}, "cpu", 43'800.0 / k_ops));
    times[{0, i}].emplace("acl_neon", time_of({0, i}, "acl_neon", i % 2 == 0 ? 1000 : 1400));
  }
  const double each = (101'600 - 20 * 1000 - 20 * 43'800.0 / k_ops) / k_ops;
  const std::uint64_t bytes = model.subgraphs[0].tensors[0].bytes.value();
  const std::vector<TransferPoint> points = {{k_portable, "acl_neon", bytes, each},
                                             {"acl_neon", k_portable, bytes, each}};
  const World world = world_of(std::move(model), std::move(times), points);
  Placement alternating;
  for (int i = 0; i < k_ops; i += 2) alternating[{0, i}] = "acl_neon";
  const std::vector<int> numbers = world.made.to_numbers(alternating).value();
  const Estimate mixed = estimate(world.made, world.times, numbers, 0, 0).value();
  EXPECT_LT(mixed.ops_us, 43'800);
  EXPECT_NEAR(mixed.total_us, 101'600, 1);
  const CandidateSet set = make_candidates(world.made, world.times, world.request);
  EXPECT_TRUE(set.plans[0].placement.empty());
  EXPECT_NEAR(set.plans[0].estimate->total_us, 43'800, 1e-6);
}

TEST(Candidates, TellWhatOneMoveWouldCostInCompany) {
  World world = mobilenet();
  const std::vector<int> optimum = solve(world.made.problem).placement;
  const double total = to_us(evaluate(world.made.problem, optimum).total);
  const auto table = in_company_us(world.made, optimum);
  EXPECT_EQ(table.size(), world.made.ops.size());
  for (std::size_t i = 0; i < world.made.ops.size(); ++i) {
    for (const auto& [backend, us] : table.at(world.made.ops[i])) {
      EXPECT_GE(us, total - 1e-6);
      std::vector<int> moved = optimum;
      moved[i] = static_cast<int>(std::find(k_backends.begin(), k_backends.end(), backend) -
                                  k_backends.begin());
      EXPECT_NEAR(us, to_us(evaluate(world.made.problem, moved).total), 1e-6);
    }
  }
}

TEST(Candidates, NameTheOperationsThatCauseSwitches) {
  // Operation 2 alone is elsewhere: it brings one tensor in and gives one back.
  Model model = test::chain(5);
  OpTimes times;
  for (int i = 0; i < 5; ++i) {
    for (const std::string backend : {"cpu", "acl_neon"})
      times[{0, i}].emplace(backend, time_of({0, i}, backend, 10));
  }
  const World world = world_of(std::move(model), std::move(times));
  const std::vector<SwitchCause> causes =
      switch_causes(world.made, std::vector<int>{0, 0, 2, 0, 0});
  ASSERT_EQ(causes.size(), 3u);
  EXPECT_EQ(causes[0].op, (OpId{0, 2}));
  EXPECT_EQ(causes[0].switches, 2);
  EXPECT_NEAR(causes[0].copies_us, 2 * 82.768, 1e-6);
  EXPECT_EQ(causes[1].op, (OpId{0, 1}));
  EXPECT_EQ(causes[2].op, (OpId{0, 3}));
  EXPECT_TRUE(switch_causes(world.made, std::vector<int>(5, 0)).empty());
}

}  // namespace
}  // namespace stab
