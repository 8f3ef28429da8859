// SPDX-License-Identifier: Apache-2.0
#include "core/solver/local_search.h"

#include <algorithm>
#include <utility>

#include "core/solver/arithmetic.h"

namespace stab::solver {
namespace {

/// Around a tensor of more operations, these do not follow each other: it would take too long.
constexpr std::size_t k_most_followers = 32;

/// Moves one operation to where it makes the placement cheapest; by how much (at most 0).
Ticks improve(PlacementMoves& moves, int op) {
  const Move best = moves.best_move(op);
  if (best.change < 0) moves.move(op, best.backend);
  return best.change;
}

/// Goes round the operations until none of them was improved since the last one that was.
template <typename Improve>
void go_round(int ops, Improve improves) {
  int unchanged = 0;
  for (int op = 0; unchanged < ops; op = op + 1 < ops ? op + 1 : 0) {
    unchanged = improves(op) ? 0 : unchanged + 1;
  }
}

/// Per operation: those that share a tensor with it, where they are not too many.
std::vector<std::vector<int>> neighbours_of(const PlacementProblem& problem) {
  std::vector<std::vector<int>> result(problem.ops.size());
  for (const PlacementTensor& tensor : problem.tensors) {
    std::vector<int> members = tensor.readers;
    if (tensor.producer != k_builtin) members.push_back(tensor.producer);
    if (members.size() > k_most_followers) continue;
    for (const int op : members)
      result[op].insert(result[op].end(), members.begin(), members.end());
  }
  for (int op = 0; op < std::ssize(result); ++op) {
    std::vector<int>& own = result[op];
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    std::erase(own, op);
  }
  return result;
}

}  // namespace

std::vector<std::vector<int>> simple_placements(const PlacementProblem& problem) {
  std::vector<std::vector<int>> result;
  for (int favourite = 0; favourite < problem.backends; ++favourite) {
    std::vector<int>& placement = result.emplace_back();
    for (const PlacementOp& op : problem.ops) {
      const auto cheapest = std::min_element(op.cost.begin(), op.cost.end()) - op.cost.begin();
      placement.push_back(op.cost[favourite] != k_impossible ? favourite
                                                             : static_cast<int>(cheapest));
    }
  }
  return result;
}

FoundPlacement improved(const PlacementProblem& problem, std::vector<int> placement) {
  if (!evaluate(problem, placement).feasible()) return {std::move(placement), k_infinite};
  PlacementMoves moves(problem, std::move(placement));
  go_round(static_cast<int>(problem.ops.size()), [&](int op) { return improve(moves, op) < 0; });
  return {moves.placement(), evaluate(problem, moves.placement()).total};
}

LocalSearch::LocalSearch(const PlacementProblem& problem)
    : problem_(problem), neighbours_(neighbours_of(problem)) {}

FoundPlacement LocalSearch::pushed(FoundPlacement found) const {
  PlacementMoves moves(problem_, std::move(found.placement));
  go_round(static_cast<int>(problem_.ops.size()), [&](int op) {
    bool moved = false;
    for (int b = 0; b < problem_.backends; ++b) {
      if (b != moves.placement()[op]) moved |= push(moves, op, b) < 0;
    }
    return moved;
  });
  return {moves.placement(), evaluate(problem_, moves.placement()).total};
}

/// Moves `op` to `backend` and lets its neighbours follow. What that brings, or 0 when it brings
/// nothing and was taken back.
Ticks LocalSearch::push(PlacementMoves& moves, int op, int backend) const {
  Ticks total = moves.change(op, backend);
  if (total == k_impossible) return 0;
  std::vector<std::pair<int, int>> before{{op, moves.placement()[op]}};
  moves.move(op, backend);
  for (const int follower : neighbours_[op]) {
    const int was = moves.placement()[follower];
    const Ticks change = improve(moves, follower);
    if (change == 0) continue;
    before.emplace_back(follower, was);
    total += change;
  }
  if (total < 0) return total;
  while (!before.empty()) {
    moves.move(before.back().first, before.back().second);
    before.pop_back();
  }
  return 0;
}

}  // namespace stab::solver
