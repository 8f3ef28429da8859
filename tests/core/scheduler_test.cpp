// SPDX-License-Identifier: Apache-2.0
#include "stab/core/scheduler.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>

#include "stab/core/error.h"
#include "support/consistency.h"
#include "support/random_problem.h"

namespace stab {
namespace {

using test::expect_consistent;
using test::ProblemShape;
using test::random_problem;
using test::try_all;

/// A copy table where each backend is a class of its own, builtin belongs to backend 0, and each
/// copy costs the same.
std::vector<Ticks> uniform_copies(int backends, Ticks cost) {
  std::vector<Ticks> table;
  for (int from = 0; from <= backends; ++from) {
    for (int to = 0; to <= backends; ++to) {
      table.push_back(from % backends == to % backends ? 0 : cost);
    }
  }
  return table;
}

void expect_equals_trying_all(const PlacementProblem& problem, const SolverLimits& limits = {}) {
  const test::BestOfAll best = try_all(problem);
  const Solution solution = solve(problem, limits);
  expect_consistent(problem, solution);
  EXPECT_EQ(solution.certificate.cost, best.cost);
  EXPECT_EQ(solution.certificate.status, Certificate::Status::optimal);
  int at_home = 0;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    at_home += solution.placement[i] == problem.ops[i].preferred;
  }
  EXPECT_EQ(at_home, best.at_home);
}

TEST(Scheduler, EqualsTryingEverythingOnTwoThousandRandomGraphs) {
  std::mt19937_64 random(20210107);
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    ProblemShape shape;
    shape.backends = 2 + round % 3;
    shape.ops = 1 + round / 3 % 10;
    shape.classes = round % 5 == 0 ? 2 : 0;
    shape.sources = round % 7 == 0 ? 0.3 : 0;
    shape.largest_cost = round % 2 == 0 ? 50 : 4;
    shape.largest_copy = round % 2 == 0 ? 30 : 3;
    expect_equals_trying_all(random_problem(random, shape));
    if (HasFailure()) return;
  }
}

TEST(Scheduler, EqualsTryingEverythingWhenItMustSearch) {
  std::mt19937_64 random(7);
  SolverLimits narrow;
  narrow.table_states = 2;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    ProblemShape shape;
    shape.backends = 2 + round % 3;
    shape.ops = shape.backends == 2 ? 10 : shape.backends == 3 ? 8 : 6;
    shape.impossible = 0.05;
    shape.pinned = 0.0;
    expect_equals_trying_all(random_problem(random, shape), narrow);
    if (HasFailure()) return;
  }
}

TEST(Scheduler, EqualsTryingEverythingWhereCopiesAreForbidden) {
  std::mt19937_64 random(11);
  SolverLimits narrow;
  narrow.table_states = 2;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    ProblemShape shape;
    shape.forbidden = 0.15;
    const PlacementProblem problem = random_problem(random, shape);
    if (try_all(problem).cost == k_impossible) {
      EXPECT_THROW(solve(problem), Error);
      EXPECT_THROW(solve(problem, narrow), Error);
    } else {
      expect_equals_trying_all(problem);
      expect_equals_trying_all(problem, narrow);
    }
    if (HasFailure()) return;
  }
}

TEST(Scheduler, BoundsTheOptimumWhateverItMaySpend) {
  int proven = 0, bounded = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&random](std::uint64_t limit) { return random() % limit; };
    ProblemShape shape;
    shape.ops = static_cast<int>(5 + below(4));
    shape.backends = static_cast<int>(2 + below(3));
    shape.most_inputs = static_cast<int>(2 + below(4));
    shape.forbidden = below(2) == 0 ? 0.2 : 0;
    const PlacementProblem problem = random_problem(random, shape);
    SolverLimits limits;
    limits.table_states = 1 + below(8);
    limits.total_states = 1 + below(60);
    limits.search_states = std::uint64_t{1} << below(14);
    const Ticks optimum = try_all(problem).cost;
    try {
      const Solution solution = solve(problem, limits);
      expect_consistent(problem, solution);
      EXPECT_LE(solution.certificate.bound, optimum);
      EXPECT_GE(solution.certificate.cost, optimum);
      const bool optimal = solution.certificate.status == Certificate::Status::optimal;
      EXPECT_TRUE(!optimal || solution.certificate.cost == optimum);
      (optimal ? proven : bounded) += 1;
    } catch (const Error& error) {
      const bool gave_up = std::string(error.what()).find("limits") != std::string::npos;
      EXPECT_TRUE(gave_up || optimum == k_impossible) << error.what();
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(proven, 1000);
  EXPECT_GT(bounded, 50);
}

TEST(Scheduler, StaysOnOneBackendWhenMovingTensorsCostsMore) {
  // Two operations that gain 10 each on the other backend, between operations that must stay: 2
  // copies of 12.
  PlacementProblem problem{2, {}, {}};
  problem.ops = {{{5, k_impossible}, 0}, {{20, 10}, 0}, {{20, 10}, 0}, {{5, k_impossible}, 0}};
  for (int t = 0; t < 3; ++t) problem.tensors.push_back({t, {t + 1}, false, uniform_copies(2, 12)});
  const Solution stays = solve(problem);
  expect_consistent(problem, stays);
  EXPECT_EQ(stays.placement, (std::vector<int>{0, 0, 0, 0}));
  for (PlacementTensor& tensor : problem.tensors) tensor.copy = uniform_copies(2, 9);
  const Solution moves = solve(problem);
  expect_consistent(problem, moves);
  EXPECT_EQ(moves.placement, (std::vector<int>{0, 1, 1, 0}));
}

TEST(Scheduler, ChargesOneCopyForATensorThatFiveOperationsReadOnOneBackend) {
  PlacementProblem problem{
      2, {{{1, k_impossible}, 0}}, {{0, {1, 2, 3, 4, 5}, false, uniform_copies(2, 100)}}};
  for (int i = 0; i < 5; ++i) problem.ops.push_back({{30, 5}, 0});
  const Solution solution = solve(problem);
  expect_consistent(problem, solution);
  EXPECT_EQ(solution.placement, (std::vector<int>{0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(solution.certificate.cost, 1 + 5 * 5 + 100);
}

TEST(Scheduler, ChargesTheCopyToAGraphOutputThatAnOperationAlsoReads) {
  // The tensor goes to builtin (backend 0's side) in any case, so its reader on backend 0 is a
  // second target.
  PlacementProblem problem{
      2, {{{50, 10}, 0}, {{10, 12}, 0}}, {{0, {1}, true, uniform_copies(2, 20)}}};
  const Solution solution = solve(problem);
  expect_consistent(problem, solution);
  EXPECT_EQ(solution.placement, (std::vector<int>{1, 1}));
  EXPECT_EQ(solution.certificate.cost, 10 + 12 + 20);
}

TEST(Scheduler, LeavesTiesAtHomeThenWithTheNeighbourThenOnTheFirstBackend) {
  PlacementProblem problem{3, {}, {}};
  problem.ops = {
      {{7, 7, 7}, 2}, {{k_impossible, 3, 3}, 0}, {{k_impossible, 9, 3}, 0}, {{4, 4, 9}, 2}};
  problem.tensors = {{1, {2}, false, {}}};
  const Solution solution = solve(problem);
  expect_consistent(problem, solution);
  EXPECT_EQ(solution.placement, (std::vector<int>{2, 2, 2, 0}));
}

TEST(Scheduler, TakesAnOperationMeasuredAsNothing) {
  PlacementProblem problem{3, {{{5, 0, 3}, 0}}, {}};
  EXPECT_EQ(solve(problem).placement, (std::vector<int>{1}));
}

TEST(Scheduler, KeepsPinsAndRefusesThoseThatCannotRun) {
  PlacementProblem problem{2, {{{5, 1}, 0}, {{5, k_impossible}, 0}}, {}};
  pin(problem, 0, 0);
  EXPECT_EQ(solve(problem).placement, (std::vector<int>{0, 0}));
  EXPECT_THROW(pin(problem, 1, 1), Error);
  EXPECT_THROW(forbid(problem, 1, 0), Error);
}

TEST(Scheduler, SaysWhenAnOperationHasNoBackend) {
  const PlacementProblem problem{1, {{{k_impossible}, 0}}, {}};
  try {
    solve(problem);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
  }
}

TEST(Scheduler, PlacesNothingForNothing) {
  const PlacementProblem problem{2, {}, {}};
  const Solution solution = solve(problem);
  expect_consistent(problem, solution);
  EXPECT_EQ(solution.certificate.method, SolveMethod::separable);
}

TEST(Scheduler, RefusesMalformedProblems) {
  EXPECT_THROW(solve({0, {}, {}}), Error);
  EXPECT_THROW(solve({31, {}, {}}), Error);
  EXPECT_THROW(solve({2, {{{1}, 0}}, {}}), Error);
  EXPECT_THROW(solve({1, {{{-1}, 0}}, {}}), Error);
  EXPECT_THROW(solve({1, {{{1}, 0}}, {{0, {0}, false, {}}}}), Error);
  EXPECT_THROW(solve({1, {{{1}, 0}}, {{k_builtin, {1}, false, {}}}}), Error);
  EXPECT_THROW(solve({1, {{{1}, 0}, {{1}, 0}}, {{k_builtin, {1, 0}, false, {}}}}), Error);
  EXPECT_THROW(solve({1, {{{1}, 0}}, {{k_builtin, {0}, false, {1, 2, 3}}}}), Error);
  EXPECT_THROW(solve({1, {{{k_impossible - 1}, 0}}, {}}), Error);
}

TEST(Scheduler, GivesTheSameAnswerEachTime) {
  std::mt19937_64 random(3);
  ProblemShape shape;
  shape.ops = 60;
  shape.backends = 4;
  shape.reach = 6;
  shape.largest_cost = 3;
  shape.largest_copy = 2;
  const PlacementProblem problem = random_problem(random, shape);
  const std::vector<int> first = solve(problem).placement;
  for (int round = 0; round < 3; ++round) EXPECT_EQ(solve(problem).placement, first);
}

}  // namespace
}  // namespace stab
