// SPDX-License-Identifier: Apache-2.0
#include "core/solver/elimination_plan.h"

#include <algorithm>
#include <array>
#include <bit>
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

/// An encoding takes more states than the graph of who reads whom: six times as many in the middle
/// of some hundred random graphs and known networks where that mattered, and at least that many
/// where it came near the limit. With fewer than so many edges for ten variables, none of them was
/// too wide.
constexpr std::uint64_t k_encodings_share = 5;
constexpr std::size_t k_edges_of_ten = 13;

/// Operations and who reads from whom. The graphs of the encodings can be contracted to this one:
/// each variable of a set, and each union, to the last reader of its tensors (but `split`, where
/// some readers cannot be on the backend of another). So what is wide here is wide there.
Interactions who_reads_whom(const Reduction& reduction, const Component& component) {
  Interactions result;
  for (const int op : component.ops) {
    result.states.push_back(static_cast<std::uint64_t>(std::popcount(reduction.ops()[op].domain)));
  }
  for (const int t : component.tensors) {
    const std::vector<int> readers = reduction.open_readers(t);
    const int last = component.place_of(readers.back());
    const auto join = [&](int op) { result.join(std::array{component.place_of(op), last}); };
    if (reduction.tensors()[t].producer != k_builtin) join(reduction.tensors()[t].producer);
    std::for_each(readers.begin(), readers.end() - 1, join);
  }
  return result;
}

/// Whether no encoding is likely to keep to the limits, by a rule of thumb.
bool is_too_wide(const Reduction& reduction, const Component& component, const PlanLimits& limits) {
  const Interactions graph = who_reads_whom(reduction, component);
  if (graph.ends.size() * 10 < graph.states.size() * k_edges_of_ten) return false;
  return !find_elimination_order(graph, EliminationRule::smallest_bag, limits.table,
                                 limits.total / k_encodings_share)
              .order;
}

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

std::optional<EliminationPlan> plan_elimination(const Reduction& reduction,
                                                const Component& component,
                                                const PlanLimits& limits, PlanEffort effort) {
  std::optional<EliminationPlan> best;
  if (effort == PlanEffort::quick && is_too_wide(reduction, component, limits)) return best;
  const std::vector<Encoding> encodings = encodings_that_differ(reduction, component);
  std::uint64_t total_limit = limits.total;
  bool is_hopeless = false;
  const auto is_cheap = [&](std::uint64_t states_per_op) {
    return best && best->order.total_states <= states_per_op * component.ops.size();
  };
  const auto try_rule = [&](EliminationRule rule) {
    std::size_t beyond = 0;
    for (const Encoding encoding : encodings) {
      if (is_cheap(k_cheap_for_encodings)) return;
      EliminationPlan plan{encode(reduction, component, encoding), {}};
      FoundOrder found =
          find_elimination_order(interactions_of(plan.graph), rule, limits.table, total_limit);
      if (found.exceeds_total && !best &&
          ++beyond == std::min(k_telling_encodings, encodings.size())) {
        is_hopeless = true;
        return;
      }
      if (!found.order) continue;
      total_limit = found.order->total_states - 1;
      plan.order = std::move(*found.order);
      best = std::move(plan);
    }
  };
  try_rule(EliminationRule::smallest_bag);
  if (effort == PlanEffort::thorough && !is_cheap(k_cheap_for_rules) && !is_hopeless) {
    try_rule(EliminationRule::fewest_new_edges);
  }
  return best;
}

}  // namespace stab::solver
