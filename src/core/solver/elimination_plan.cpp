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

std::vector<Encoding> encodings_that_differ(const Reduction& reduction,
                                            const Component& component) {
  std::size_t most_readers = 0;
  for (const int t : component.tensors) {
    most_readers = std::max(most_readers, reduction.open_readers(t).size());
  }
  std::vector<Encoding> encodings = {{SharedTensor::offer, 2}};
  if (most_readers > 1) {
    encodings.push_back({SharedTensor::offer, 1});
    encodings.push_back({SharedTensor::split, 1});
  }
  if (most_readers > 2) {
    encodings.push_back({SharedTensor::unite, 2});
    encodings.push_back({SharedTensor::unite, 1});
  }
  return encodings;
}

}  // namespace

std::optional<EliminationPlan> plan_elimination(const Reduction& reduction,
                                                const Component& component,
                                                std::uint64_t table_limit,
                                                std::uint64_t total_limit, PlanEffort effort) {
  std::optional<EliminationPlan> best;
  const auto is_cheap = [&](std::uint64_t states_per_op) {
    return best && best->order.total_states <= states_per_op * component.ops.size();
  };
  const auto try_rule = [&](EliminationRule rule) {
    for (const Encoding encoding : encodings_that_differ(reduction, component)) {
      if (is_cheap(k_cheap_for_encodings)) return;
      EliminationPlan plan{encode(reduction, component, encoding), {}};
      std::optional<EliminationOrder> order =
          find_elimination_order(plan.graph, rule, table_limit, total_limit);
      if (!order) continue;
      total_limit = order->total_states - 1;
      plan.order = std::move(*order);
      best = std::move(plan);
    }
  };
  try_rule(EliminationRule::smallest_bag);
  if (effort == PlanEffort::thorough && !is_cheap(k_cheap_for_rules)) {
    try_rule(EliminationRule::fewest_new_edges);
  }
  return best;
}

}  // namespace stab::solver
