// SPDX-License-Identifier: Apache-2.0
// Dynamic programming over a tree decomposition: the cheapest states of a factor graph.
#pragma once

#include <vector>

#include "core/solver/elimination_order.h"
#include "core/solver/factor_graph.h"

namespace stab::solver {

struct CheapestStates {
  Ticks cost = 0;           ///< k_infinite when nothing is possible
  std::vector<int> states;  ///< one per variable; of equal ones the lowest, last eliminated first
};

/// Eliminates the variables in this order: each takes the functions that mention it and leaves one
/// of its neighbours, the minimum over its own states. Time and memory are what the order says.
CheapestStates eliminate(const FactorGraph& graph, const EliminationOrder& order);

}  // namespace stab::solver
