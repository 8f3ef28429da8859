// SPDX-License-Identifier: Apache-2.0
// Good placements, quickly found: what the exact methods hold their bounds against.
#pragma once

#include <vector>

#include "stab/core/placement_moves.h"
#include "stab/core/placement_problem.h"

namespace stab::solver {

/// One placement per backend: everything there where it can be, the cheapest elsewhere. Some may be
/// impossible.
std::vector<std::vector<int>> simple_placements(const PlacementProblem& problem);

/// A placement and its cost; k_infinite when it cannot be.
struct FoundPlacement {
  std::vector<int> placement;
  Ticks cost = 0;
};

/// Moves single operations while that makes a placement cheaper. An impossible one stays as it is.
FoundPlacement improved(const PlacementProblem& problem, std::vector<int> placement);

/// Moves single operations against that and lets their neighbours follow, as long as that makes the
/// whole cheaper: slower and better than improved(). For many placements of one problem, which must
/// outlive it.
class LocalSearch {
 public:
  explicit LocalSearch(const PlacementProblem& problem);

  /// `found` must be possible.
  FoundPlacement pushed(FoundPlacement found) const;

 private:
  Ticks push(PlacementMoves& moves, int op, int backend) const;

  const PlacementProblem& problem_;
  std::vector<std::vector<int>> neighbours_;  ///< per operation
};

}  // namespace stab::solver
