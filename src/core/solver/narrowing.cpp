// SPDX-License-Identifier: Apache-2.0
#include "core/solver/narrowing.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/solver/dual_bound.h"
#include "core/solver/encoding.h"
#include "core/solver/local_search.h"

namespace stab::solver {
namespace {

constexpr int k_passes = 200;
constexpr int k_passes_between_guesses = 10;

/// Passes go on while so many bring more than this share of what separates bound and placement.
constexpr Ticks k_worthwhile_share = 20;

}  // namespace

Narrowing narrow(const Reduction& reduction, const Component& component,
                 std::uint64_t most_states) {
  Narrowing result{reduction.extract(component)};
  PlacementProblem& problem = result.problem;
  const FactorGraph graph = encode(reduction, component, k_bound_encoding);
  DualBound dual(graph);
  const LocalSearch search(problem);
  Ticks cheapest = k_infinite;
  for (std::vector<int>& placement : simple_placements(problem)) {
    cheapest = std::min(cheapest, improved(problem, std::move(placement)).cost);
  }
  Ticks before = dual.bound();
  for (int pass = 1; pass <= k_passes && result.states < most_states; ++pass) {
    dual.improve();
    if (pass % k_passes_between_guesses != 0) continue;
    const std::vector<int> states = dual.guess();
    std::vector<int> placement;
    for (std::size_t k = 0; k < component.ops.size(); ++k) {
      placement.push_back(static_cast<int>(graph.value(k, states)));
    }
    cheapest = std::min(cheapest, search.improved(std::move(placement)).cost);
    result.states =
        saturating_sum(result.states, dual.states_of_a_pass() * k_passes_between_guesses);
    const Ticks missing = cheapest - dual.bound();
    if (!worth_going_on(dual.bound() - before, missing, k_worthwhile_share)) break;
    before = dual.bound();
  }
  const std::vector<std::vector<Ticks>> bounds = dual.bounds_with();
  for (std::size_t k = 0; k < component.ops.size(); ++k) {
    for (std::size_t s = 0; s < bounds[k].size(); ++s) {
      ++result.choices;
      if (bounds[k][s] <= cheapest) continue;
      problem.ops[k].cost[graph.variables[k].values[s]] = k_impossible;
      ++result.removed;
    }
  }
  return result;
}

}  // namespace stab::solver
