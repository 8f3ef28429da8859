// SPDX-License-Identifier: Apache-2.0
// What moving one operation changes, against adding the whole placement up again.
#include "stab/core/placement_moves.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "stab/core/placement_problem.h"
#include "support/random_problem.h"

namespace stab {
namespace {

/// Each operation on a random backend that it may be on.
std::vector<int> random_placement(std::mt19937_64& random, const PlacementProblem& problem) {
  std::vector<int> placement;
  for (const PlacementOp& op : problem.ops) {
    std::vector<int> possible;
    for (int b = 0; b < problem.backends; ++b) {
      if (op.cost[b] != k_impossible) possible.push_back(b);
    }
    placement.push_back(possible[random() % possible.size()]);
  }
  return placement;
}

TEST(PlacementMoves, SaysWhatEachMoveChangesAndWhichIsBest) {
  std::mt19937_64 random(7);
  int compared = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    test::ProblemShape shape;
    shape.backends = 2 + round % 4;
    shape.forbidden = round % 3 == 0 ? 0.1 : 0.0;
    const PlacementProblem problem = test::random_problem(random, shape);
    const std::vector<int> placement = random_placement(random, problem);
    const Evaluation before = evaluate(problem, placement);
    if (!before.feasible()) continue;
    const PlacementMoves moves(problem, placement);
    for (int op = 0; op < std::ssize(problem.ops); ++op) {
      Move best{placement[op], 0};
      for (int b = 0; b < problem.backends; ++b) {
        std::vector<int> moved = placement;
        moved[op] = b;
        const Evaluation after = evaluate(problem, moved);
        const Ticks change = after.feasible() ? after.total - before.total : k_impossible;
        EXPECT_EQ(moves.change(op, b), change) << op << " to " << b;
        if (change < best.change) best = {b, change};
        ++compared;
      }
      EXPECT_EQ(moves.best_move(op).backend, best.backend) << op;
      EXPECT_EQ(moves.best_move(op).change, best.change) << op;
    }
  }
  EXPECT_GT(compared, 3000);
}

TEST(PlacementMoves, FollowsTheMovesThatAreMade) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const PlacementProblem problem = test::random_problem(random, test::ProblemShape{});
    PlacementMoves moves(problem, random_placement(random, problem));
    Ticks total = evaluate(problem, moves.placement()).total;
    for (int k = 0; k < 30; ++k) {
      const auto op = static_cast<int>(random() % problem.ops.size());
      const auto backend = static_cast<int>(random() % problem.backends);
      const Ticks change = moves.change(op, backend);
      if (change == k_impossible) continue;
      moves.move(op, backend);
      total += change;
      EXPECT_EQ(evaluate(problem, moves.placement()).total, total);
    }
  }
}

}  // namespace
}  // namespace stab
