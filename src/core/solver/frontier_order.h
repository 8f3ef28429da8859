// SPDX-License-Identifier: Apache-2.0
// In which order to assign the variables of a graph so that few of them have to be remembered at a
// time: a path decomposition.
#pragma once

#include <vector>

#include "core/solver/slack_graph.h"

namespace stab::solver {

/// A greedy order of the variables that are open: next comes the one after which the fewest
/// assignments have to be told apart; of equals the lowest. Of a few starts that whose most are
/// fewest.
std::vector<int> find_frontier_order(const SlackGraph& graph);

}  // namespace stab::solver
