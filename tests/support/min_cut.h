// SPDX-License-Identifier: Apache-2.0
// The cheapest placement over two backends as a minimum cut: an oracle that shares nothing with the
// solver.
#pragma once

#include "stab/core/placement_problem.h"

namespace stab::test {

/// The least cost of a checked problem with two backends; k_impossible when there is no placement.
Ticks min_cut_cost(const PlacementProblem& problem);

}  // namespace stab::test
