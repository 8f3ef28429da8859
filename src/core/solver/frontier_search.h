// SPDX-License-Identifier: Apache-2.0
// The least slack of a graph by dynamic programming over partial assignments, of which only those
// are kept that can still come to less than is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/solver/slack_graph.h"

namespace stab::solver {

struct LeastSlack {
  Ticks slack = 0;          ///< the least, or at least the limit when none is below it
  std::vector<int> states;  ///< per variable, as the factor graph numbers them; none at the limit
};

/// What a search may spend.
struct FrontierLimits {
  std::size_t table_entries = 0;  ///< of a table that bounds what is not yet assigned
  std::uint64_t labels = 0;       ///< partial assignments
};

/// Assigns one variable after the other, keeps of the partial assignments that later functions
/// cannot tell apart the one of least slack, and drops what comes to `limit` or more with the
/// bound of what is left (Morin and Marsten, "Branch-and-bound strategies for dynamic programming",
/// 1976; the bound is that of MiniBuckets). Absent when it would take more than the limits allow.
/// Adds what it looked at to `entries`.
std::optional<LeastSlack> find_least_slack(const SlackGraph& graph, Ticks limit,
                                           const FrontierLimits& limits, std::uint64_t& entries);

}  // namespace stab::solver
