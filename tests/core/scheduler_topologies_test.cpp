// SPDX-License-Identifier: Apache-2.0
// Graphs as real networks have them, with many classes of backends: all exact.
#include <gtest/gtest.h>

#include <random>

#include "stab/core/cost_model.h"
#include "stab/core/scheduler.h"
#include "support/consistency.h"
#include "support/graph_builder.h"
#include "support/random_problem.h"

namespace stab {
namespace {

const std::vector<std::string> k_six = {"cpu", "ruy", "xnnpack", "acl_neon", "acl_cl", "gpu_cl"};

std::vector<std::string> first(std::size_t count) {
  return {k_six.begin(), k_six.begin() + static_cast<std::ptrdiff_t>(count)};
}

ModelProblem problem_of(const Model& model, const std::vector<std::string>& backends,
                        unsigned seed) {
  return make_problem(model, test::made_up_times(model, backends, seed),
                      TransferModel(backends, {}), backends);
}

/// The cost when each operation runs on `backend` where it can, on cpu elsewhere.
Ticks cost_on(const PlacementProblem& problem, int backend) {
  std::vector<int> placement;
  for (const PlacementOp& op : problem.ops)
    placement.push_back(op.cost[backend] == k_impossible ? 0 : backend);
  return evaluate(problem, placement).total;
}

TEST(SchedulerTopologies, AreAllSolvedExactlyWithUpToSixBackends) {
  for (const test::NamedModel& known : test::well_known_models()) {
    for (const std::size_t backends : {3u, 4u, 5u, 6u}) {
      SCOPED_TRACE(known.name + " on " + std::to_string(backends));
      const ModelProblem made = problem_of(known.model, first(backends), 1);
      const Solution solution = solve(made.problem);
      test::expect_consistent(made.problem, solution);
      EXPECT_EQ(solution.certificate.status, Certificate::Status::optimal);
      for (int b = 0; b < made.problem.backends; ++b) {
        EXPECT_LE(solution.certificate.cost, cost_on(made.problem, b));
      }
      EXPECT_EQ(made.to_numbers(made.to_placement(solution.placement)), solution.placement);
    }
  }
}

TEST(SchedulerTopologies, DecidesOperationByOperationWhereAllBackendsArePortable) {
  const Model model = test::densenet_flat(12, 1);
  const ModelProblem made = problem_of(model, first(3), 2);
  const Solution solution = solve(made.problem);
  test::expect_consistent(made.problem, solution);
  EXPECT_EQ(solution.certificate.method, SolveMethod::separable);
  for (std::size_t i = 0; i < made.problem.ops.size(); ++i) {
    const std::vector<Ticks>& cost = made.problem.ops[i].cost;
    EXPECT_EQ(cost[solution.placement[i]], *std::min_element(cost.begin(), cost.end()));
  }
}

TEST(SchedulerTopologies, GivesTheSameCostBySearchingAsByElimination) {
  SolverLimits narrow;
  narrow.table_states = 1;
  for (const auto& model :
       {test::bifpn(1), test::transformer(1), test::densenet_flat(4, 1), test::u_net()}) {
    const ModelProblem made = problem_of(model, first(6), 3);
    const Solution searched = solve(made.problem, narrow);
    test::expect_consistent(made.problem, searched);
    EXPECT_EQ(searched.certificate.method, SolveMethod::branch_and_bound);
    EXPECT_EQ(searched.certificate.cost, solve(made.problem).certificate.cost);
  }
}

TEST(SchedulerTopologies, StatesAGapWhereThereIsNoRoomToBeExact) {
  SolverLimits little;
  little.table_states = 16;
  little.search_states = 1;
  test::ProblemShape tangle;
  tangle.ops = 60;
  tangle.backends = 4;
  std::mt19937_64 random(2);
  const PlacementProblem problem = test::random_problem(random, tangle);
  const Solution solution = solve(problem, little);
  test::expect_consistent(problem, solution);
  EXPECT_EQ(solution.certificate.status, Certificate::Status::bounded);
  EXPECT_GT(solution.certificate.gap(), 0.0);
  const Solution exact = solve(problem);
  EXPECT_EQ(exact.certificate.status, Certificate::Status::optimal);
  EXPECT_GE(exact.certificate.cost, solution.certificate.bound);
  EXPECT_LE(exact.certificate.cost, solution.certificate.cost);
}

}  // namespace
}  // namespace stab
