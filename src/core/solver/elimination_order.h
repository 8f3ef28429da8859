// SPDX-License-Identifier: Apache-2.0
// In which order to eliminate the variables of a factor graph, and what that will cost: a tree
// decomposition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/solver/factor_graph.h"

namespace stab::solver {

/// What an order of elimination depends on: how many states the variables have, and which of them a
/// factor joins.
struct Interactions {
  std::vector<std::uint64_t> states;  ///< per variable
  std::vector<int> joined;            ///< variables of all factors, one factor after the other
  std::vector<std::size_t> ends;      ///< per factor: where its variables end

  void join(std::span<const int> variables) {
    joined.insert(joined.end(), variables.begin(), variables.end());
    ends.push_back(joined.size());
  }
};

Interactions interactions_of(const FactorGraph& graph);

struct EliminationOrder {
  std::vector<int> variables;
  int width = 0;  ///< largest bag less one
  std::uint64_t largest_table =
      0;  ///< entries of the largest table that elimination makes, at most 2^62
  std::uint64_t total_states = 0;  ///< over all bags, at most 2^62
};

/// Which variable is eliminated next; ties go to the lower one, so the order is always the same.
/// Bodlaender and Koster, "Treewidth computations I: Upper bounds", 2010.
enum class EliminationRule {
  smallest_bag,     ///< quick to find
  fewest_new_edges  ///< "min-fill": often narrower, and slow to find where the graph is wide
};

struct FoundOrder {
  std::optional<EliminationOrder> order;  ///< absent when it needs more than is allowed
  bool exceeds_total = false;             ///< because of `total_limit`
};

/// A greedy order that needs no table of more than `table_limit` entries and no more than
/// `total_limit` over all bags.
FoundOrder find_elimination_order(const Interactions& interactions, EliminationRule rule,
                                  std::uint64_t table_limit, std::uint64_t total_limit);

}  // namespace stab::solver
