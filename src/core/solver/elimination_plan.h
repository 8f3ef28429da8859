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

/// In table entries.
struct PlanLimits {
  std::uint64_t table = 0;  ///< of one table
  std::uint64_t total = 0;  ///< over all bags
};

/// Compares the encodings that differ for this component. Absent when no plan was found that needs
/// no more than is allowed. `reduction` must outlive the plan.
std::optional<EliminationPlan> plan_elimination(const Reduction& reduction,
                                                const Component& component,
                                                const PlanLimits& limits, PlanEffort effort);

}  // namespace stab::solver
