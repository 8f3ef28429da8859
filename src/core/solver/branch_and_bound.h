// SPDX-License-Identifier: Apache-2.0
// The answer for a component that is too wide for elimination: best-first branch and bound.
#pragma once

#include <cstdint>
#include <vector>

#include "stab/core/placement_problem.h"
#include "stab/core/scheduler.h"

namespace stab::solver {

struct SearchResult {
  std::vector<int> placement;
  Ticks cost = 0;   ///< k_infinite when nothing possible was found
  Ticks bound = 0;  ///< equals cost when the answer is proven
  int width = 0;    ///< of the widest tree decomposition that was used
  std::uint64_t states = 0;
  std::uint64_t nodes = 0;
};

/// Searches for the cheapest placement of a checked problem as Reduction::extract gives it. Each
/// node pins some operations and is reduced again; what is narrow enough then is solved exactly,
/// the rest gets a dual bound. Stops when the bound meets the cost, or after `limits.search_states`
/// table entries.
SearchResult branch_and_bound(const PlacementProblem& problem, const SolverLimits& limits);

}  // namespace stab::solver
