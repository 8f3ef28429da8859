// SPDX-License-Identifier: Apache-2.0
// Elimination with small tables only: not the cost of the best way to go on, but a bound of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/solver/slack_graph.h"

namespace stab::solver {

/// Most variables of a table, so that its scope needs no memory of its own.
inline constexpr std::size_t k_most_in_scope = 12;

/// Variables as places in an order, ascending.
struct OrderedScope {
  std::array<int, k_most_in_scope> places{};
  std::size_t size = 0;

  const int* begin() const { return places.data(); }
  const int* end() const { return places.data() + size; }
  int operator[](std::size_t k) const { return places[k]; }
  int back() const { return places[size - 1]; }
};

/// A table of the costs of MiniBuckets: row-major over `scope`, from `begin` on.
struct OrderedTable {
  OrderedScope scope;
  std::size_t begin = 0;
  std::size_t entries = 0;
};

/// A bound of the slack of every partial assignment: `bound` when nothing is assigned, and at each
/// step what assigning its variable adds, by the states of variables assigned before and, last in
/// the scope, its own; nowhere negative. For a complete assignment it is its slack, as long as that
/// is below the limit; above, it is at least the limit.
struct MiniBuckets {
  Ticks bound = 0;
  std::vector<OrderedTable> increases;  ///< the last step's first
  /// Per step, and one after the last: where its increases end. They start where the next step's
  /// end.
  std::vector<std::size_t> increases_end;
  std::vector<Ticks> costs;   ///< of all tables
  std::uint64_t entries = 0;  ///< looked at

  std::span<const OrderedTable> of_step(std::size_t step) const {
    return std::span(increases).subspan(increases_end[step + 1],
                                        increases_end[step] - increases_end[step + 1]);
  }
};

/// Eliminates the variables in the reverse of `order`, which holds those that are open. Where the
/// functions of one do not fit into a table of `table_limit` entries and k_most_in_scope variables
/// together, it is eliminated from groups of them one by one (Dechter and Rish, "Mini-buckets",
/// 2003). Every variable has a state.
MiniBuckets eliminate_in_groups(const SlackGraph& graph, const std::vector<int>& order, Ticks limit,
                                std::size_t table_limit);

}  // namespace stab::solver
