// SPDX-License-Identifier: Apache-2.0
#include "support/consistency.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace stab::test {

void expect_consistent(const PlacementProblem& problem, const Solution& solution) {
  ASSERT_EQ(solution.placement.size(), problem.ops.size());
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    ASSERT_GE(solution.placement[i], 0);
    ASSERT_LT(solution.placement[i], problem.backends);
    EXPECT_NE(problem.ops[i].cost[solution.placement[i]], k_impossible) << "op " << i;
  }
  const Evaluation evaluation = evaluate(problem, solution.placement);
  Ticks ops = 0, copies = 0;
  for (const Ticks cost : evaluation.op_cost) ops += cost;
  std::set<std::pair<int, int>> made;
  for (const CopyMade& copy : evaluation.copies_made) {
    copies += copy.cost;
    EXPECT_NE(copy.from, copy.to);
    EXPECT_EQ(copy.cost, problem.copy_cost(copy.tensor, copy.from, copy.to));
    EXPECT_TRUE(made.emplace(copy.tensor, copy.to).second)
        << "copied twice: tensor " << copy.tensor;
  }
  EXPECT_EQ(evaluation.ops, ops);
  EXPECT_EQ(evaluation.copies, copies);
  EXPECT_EQ(evaluation.total, ops + copies);
  const Certificate& certificate = solution.certificate;
  EXPECT_EQ(certificate.cost, evaluation.total);
  EXPECT_LE(certificate.bound, certificate.cost);
  EXPECT_EQ(certificate.status == Certificate::Status::optimal,
            certificate.bound == certificate.cost);
  EXPECT_EQ(certificate.gap() == 0.0, certificate.status == Certificate::Status::optimal);
}

}  // namespace stab::test
