// SPDX-License-Identifier: Apache-2.0
// Elimination with small tables only: not the cost of the best way to go on, but a bound of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/solver/slack_graph.h"

namespace stab::solver {

/// What assigning one variable adds to the bound, by the states of variables assigned before and,
/// last in the scope, its own. Nowhere negative.
using Increase = Table;

/// A bound of the slack of every partial assignment: `bound` when nothing is assigned, and at each
/// step the increases of its variable. For a complete assignment it is its slack, as long as that
/// is below the limit; above, it is at least the limit.
struct MiniBuckets {
  Ticks bound = 0;
  std::vector<std::vector<Increase>> increases;  ///< per variable
  std::uint64_t entries = 0;                     ///< of all tables
};

/// Eliminates the variables in the reverse of `order`. Where the functions of one do not fit into a
/// table of `table_limit` entries together, it is eliminated from groups of them one by one
/// (Dechter and Rish, "Mini-buckets", 2003). Every variable has a state.
MiniBuckets eliminate_in_groups(const SlackGraph& graph, const std::vector<int>& order, Ticks limit,
                                std::size_t table_limit);

}  // namespace stab::solver
