// SPDX-License-Identifier: Apache-2.0
#include "core/solver/elimination_plan.h"

#include <algorithm>
#include <utility>

#include "core/solver/encoding.h"

namespace stab::solver {
namespace {

/// Plans of fewer states per operation are carried out sooner than another encoding is tried, or
/// another rule.
constexpr std::uint64_t k_cheap_for_encodings = 50;
constexpr std::uint64_t k_cheap_for_rules = 1000;

/// Where none of these many encodings comes near what is allowed, the others do not either.
constexpr std::size_t k_telling_encodings = 2;

std::vector<Encoding> encodings_that_differ(const Reduction& reduction,
                                            const Component& component) {
  int most_readers = 0;
  for (const int t : component.tensors) {
    most_readers = std::max(most_readers, reduction.tensors()[t].open_readers);
  }
  std::vector<Encoding> encodings = {{SharedTensor::offer, 2}};
  if (most_readers > 2) encodings.push_back({SharedTensor::unite, 2});
  if (most_readers > 1) {
    encodings.push_back({SharedTensor::offer, 1});
    encodings.push_back({SharedTensor::split, 1});
  }
  if (most_readers > 2) encodings.push_back({SharedTensor::unite, 1});
  return encodings;
}

}  // namespace

PlanningResult plan_elimination(const Reduction& reduction, const Component& component,
                                const PlanLimits& limits, PlanEffort effort) {
  PlanningResult result;
  std::optional<EliminationPlan>& best = result.plan;
  const std::vector<Encoding> encodings = encodings_that_differ(reduction, component);
  std::uint64_t total_limit = limits.total;
  const auto is_cheap = [&](std::uint64_t states_per_op) {
    return best && best->order.total_states <= states_per_op * component.ops.size();
  };
  const auto try_rule = [&](EliminationRule rule) {
    std::size_t hopeless = 0;
    for (const Encoding encoding : encodings) {
      if (is_cheap(k_cheap_for_encodings)) return;
      EliminationPlan plan{encode(reduction, component, encoding), {}};
      FoundOrder found =
          find_elimination_order(plan.graph, rule, limits.table,
                                 best ? total_limit : std::max(total_limit, limits.hopeless));
      if (found.exceeds_total && !best &&
          ++hopeless == std::min(k_telling_encodings, encodings.size())) {
        result.is_hopeless = true;
        return;
      }
      if (!found.order || found.order->total_states > total_limit) continue;
      total_limit = found.order->total_states - 1;
      plan.order = std::move(*found.order);
      best = std::move(plan);
    }
  };
  try_rule(EliminationRule::smallest_bag);
  if (effort == PlanEffort::thorough && !is_cheap(k_cheap_for_rules) && !result.is_hopeless) {
    try_rule(EliminationRule::fewest_new_edges);
  }
  return result;
}

}  // namespace stab::solver
