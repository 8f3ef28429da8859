// SPDX-License-Identifier: Apache-2.0
// The cheapest known way to solve a component by elimination: how to write it down, and in which
// order to eliminate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/solver/elimination_order.h"
#include "core/solver/factor_graph.h"
#include "core/solver/reduction.h"

namespace stab::solver {

struct EliminationPlan {
  FactorGraph graph;
  EliminationOrder order;

  /// The backend that `states` give to the component's k-th operation.
  int backend(std::size_t k, const std::vector<int>& states) const {
    return static_cast<int>(graph.value(k, states));
  }
};

/// How hard to look for a plan: `quick` takes the rule that is quick to find, `thorough` also the
/// one that finds narrower orders, where the first did not find a cheap one.
enum class PlanEffort { quick, thorough };

struct PlanningResult {
  std::optional<EliminationPlan> plan;  ///< absent when all encodings need more than is allowed
  bool is_hopeless = false;             ///< they need so much more that looking harder is no use
};

/// In table entries.
struct PlanLimits {
  std::uint64_t table = 0;     ///< of one table
  std::uint64_t total = 0;     ///< over all bags
  std::uint64_t hopeless = 0;  ///< over all bags: above that, looking harder is no use
};

/// Compares the encodings that differ for this component. `reduction` must outlive the plan.
PlanningResult plan_elimination(const Reduction& reduction, const Component& component,
                                const PlanLimits& limits, PlanEffort effort);

}  // namespace stab::solver
