// SPDX-License-Identifier: Apache-2.0
#include "core/solver/branch_and_bound.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "core/solver/dual_bound.h"
#include "core/solver/elimination.h"
#include "core/solver/elimination_plan.h"
#include "core/solver/encoding.h"
#include "core/solver/local_search.h"
#include "core/solver/reduction.h"

namespace stab::solver {
namespace {

/// Elimination inside the search may cost this share of what the whole component may.
constexpr std::uint64_t k_node_share = 64;

/// Passes of the dual bound: at the root, and below it.
constexpr int k_root_passes = 400;
constexpr int k_node_passes = 60;

struct Node {
  Ticks bound = 0;
  int depth = 0;
  std::uint64_t number = 0;
  /// Operations and what they may still choose.
  std::vector<std::pair<int, BackendSet>> restrictions;
  int branch_op = -1;
  BackendSet branch_domain = 0;

  /// Least bound first, then the deepest, then the oldest.
  bool operator>(const Node& other) const {
    return std::tuple(bound, -depth, number) > std::tuple(other.bound, -other.depth, other.number);
  }
};

class Search {
 public:
  Search(const PlacementProblem& problem, const SolverLimits& limits)
      : problem_(problem), limits_(limits) {
    result_.cost = k_infinite;
    for (std::vector<int>& placement : simple_placements(problem)) offer(std::move(placement));
  }

  SearchResult run() {
    Node root;
    if (examine(root)) open_.push(root);
    while (!open_.empty() && open_.top().bound < result_.cost && !spent()) {
      const Node node = open_.top();
      open_.pop();
      expand(node);
    }
    result_.bound = open_.empty() ? result_.cost : std::min(result_.cost, open_.top().bound);
    return std::move(result_);
  }

 private:
  /// Keeps a placement, improved, if it is the best so far.
  void offer(std::vector<int> placement) {
    FoundPlacement found = improved(problem_, std::move(placement));
    if (found.cost >= result_.cost) return;
    result_.cost = found.cost;
    result_.placement = std::move(found.placement);
  }

  void expand(const Node& node) {
    for (int b = 0; b < problem_.backends; ++b) {
      if (!has(node.branch_domain, b)) continue;
      // Its bound stands for the children that are left out.
      if (spent()) return open_.push(node);
      Node child;
      child.bound = node.bound;
      child.depth = node.depth + 1;
      child.restrictions = node.restrictions;
      child.restrictions.emplace_back(node.branch_op, BackendSet{1} << b);
      if (examine(child) && child.bound < result_.cost) open_.push(std::move(child));
    }
  }

  bool spent() const { return result_.states >= limits_.search_states; }

  /// Bounds a node. False when it is solved or cannot be.
  bool examine(Node& node) {
    node.number = result_.nodes++;
    const PlacementProblem restricted = restrict(node);
    const Reduction reduction(restricted, Scaling::none);
    if (!reduction.feasible()) return false;
    std::vector<int> placement;
    for (const OpenOp& op : reduction.ops()) placement.push_back(op.chosen);
    Ticks bound = reduction.decided_cost();
    Ticks most_doubt = -1;
    for (const Component& component : reduction.components()) {
      bound = add(bound, examine_part(reduction, component, bound, node, placement, most_doubt));
    }
    if (bound >= k_infinite) return false;
    offer(std::move(placement));
    node.bound = std::max(node.bound, bound);
    return node.branch_op >= 0;
  }

  PlacementProblem restrict(const Node& node) const {
    PlacementProblem result = problem_;
    for (const auto& [op, allowed] : node.restrictions) {
      for (int b = 0; b < problem_.backends; ++b) {
        if (!has(allowed, b)) result.ops[op].cost[b] = k_impossible;
      }
    }
    return result;
  }

  /// The cost of a component, or a bound of it; completes the placement.
  Ticks examine_part(const Reduction& reduction, const Component& component, Ticks rest, Node& node,
                     std::vector<int>& placement, Ticks& most_doubt) {
    const auto plan = plan_elimination(reduction, component, limits_.table_states / k_node_share,
                                       limits_.total_states / k_node_share, PlanEffort::quick);
    if (plan) {
      const CheapestStates found = eliminate(plan->graph, plan->order);
      count(plan->order.total_states);
      result_.width = std::max(result_.width, plan->order.width);
      for (std::size_t k = 0; k < component.ops.size(); ++k) {
        placement[component.ops[k]] = plan->backend(k, found.states);
      }
      return found.cost;
    }
    const FactorGraph graph = encode(reduction, component, k_bound_encoding);
    DualBound dual(graph);
    tighten(dual, rest, node.depth == 0 ? k_root_passes : k_node_passes);
    const std::vector<int> states = dual.guess();
    const std::vector<Ticks> doubt = dual.doubt(states);
    const std::vector<std::vector<Ticks>> bounds = dual.bounds_with();
    for (std::size_t k = 0; k < component.ops.size(); ++k) {
      const int op = component.ops[k];
      const std::vector<std::uint32_t>& values = graph.variables[k].values;
      placement[op] = static_cast<int>(graph.value(k, states));
      // What cannot be cheaper than the best answer is left out below this node.
      BackendSet allowed = 0;
      for (std::size_t s = 0; s < values.size(); ++s) {
        if (add(rest, bounds[k][s]) < result_.cost) allowed |= BackendSet{1} << values[s];
      }
      if (allowed != reduction.ops()[op].domain) node.restrictions.emplace_back(op, allowed);
      if (doubt[k] <= most_doubt) continue;
      most_doubt = doubt[k];
      node.branch_op = op;
      node.branch_domain = allowed;
    }
    return dual.bound();
  }

  /// Passes until ten of them bring less than a fiftieth of what separates the bound from the best
  /// answer; `rest` is the cost of all other operations.
  void tighten(DualBound& dual, Ticks rest, int passes) {
    Ticks before = dual.bound();
    for (int pass = 1; pass <= passes && !spent(); ++pass) {
      dual.improve();
      count(dual.states_of_a_pass());
      if (pass % 10 != 0) continue;
      const Ticks missing = result_.cost - add(rest, dual.bound());
      if (!worth_going_on(dual.bound() - before, missing, 50)) return;
      before = dual.bound();
    }
  }

  void count(std::uint64_t states) { result_.states = saturating_sum(result_.states, states); }

  const PlacementProblem& problem_;
  const SolverLimits& limits_;
  SearchResult result_;
  std::priority_queue<Node, std::vector<Node>, std::greater<>> open_;
};

}  // namespace

SearchResult branch_and_bound(const PlacementProblem& problem, const SolverLimits& limits) {
  return Search(problem, limits).run();
}

}  // namespace stab::solver
