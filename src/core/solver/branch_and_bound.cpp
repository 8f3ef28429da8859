// SPDX-License-Identifier: Apache-2.0
#include "core/solver/branch_and_bound.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include "core/solver/encoding.h"
#include "core/solver/frontier_search.h"

namespace stab::solver {
namespace {
/// Passes of the dual bound at the root, and below it, where they go on from the parent's. They
/// stop where five bring less than a share of what separates the bound from the best answer.
constexpr int k_root_passes = 200;
constexpr int k_node_passes = 10;
constexpr int k_passes_between_guesses = 5;
constexpr Ticks k_worthwhile_gain = 10;

/// Partial assignments are searched where less is missing than this part of what an operation costs
/// on average, and half of what was missing the last time.
constexpr Ticks k_close = 4;

/// What a search of partial assignments may spend.
constexpr std::uint64_t k_most_slack_entries = std::uint64_t{1} << 18;
constexpr FrontierLimits k_frontier_limits{512, 60'000};

}  // namespace

bool BranchAndBound::Node::operator>(const Node& other) const {
  return std::tuple(bound, -depth, number) > std::tuple(other.bound, -other.depth, other.number);
}

BranchAndBound::BranchAndBound(const Reduction& reduction, const Component& component,
                               std::uint64_t most_states)
    : problem_(reduction.extract(component)),
      graph_(encode(reduction, component, k_bound_encoding)),
      dual_(graph_),
      local_search_(problem_),
      most_states_(most_states) {}

void BranchAndBound::start() {
  next_ = examine(Node{}, k_root_passes);
  result_.bound = next_ ? next_->bound : result_.cost;
  for (int op = 0; op < std::ssize(problem_.ops); ++op) {
    for (int s = 0; s < graph_.variables[op].states(); ++s) {
      ++choices_;
      left_out_ += !dual_.can_be(op, s) &&
                   !is_in_answer(op, static_cast<int>(graph_.variables[op].values[s]));
    }
  }
}

PlacementProblem BranchAndBound::narrowed() const {
  PlacementProblem result = problem_;
  for (int op = 0; op < std::ssize(problem_.ops); ++op) {
    for (int s = 0; s < graph_.variables[op].states(); ++s) {
      const auto backend = static_cast<int>(graph_.variables[op].values[s]);
      if (!dual_.can_be(op, s) && !is_in_answer(op, backend)) {
        result.ops[op].cost[backend] = k_impossible;
      }
    }
  }
  return result;
}

bool BranchAndBound::is_in_answer(int op, int backend) const {
  return !result_.placement.empty() && result_.placement[op] == backend;
}

void BranchAndBound::go_on(std::uint64_t most_states) {
  if (is_solved()) return;
  most_states_ = most_states;
  while (!spent() && (next_ || !open_.empty())) {
    if (!next_) {
      if (open_.top().bound >= result_.cost) break;
      next_ = open_.top();
      open_.pop();
    }
    // A better answer may have been found among its siblings.
    next_ = next_->bound < result_.cost ? expand(*next_) : std::nullopt;
  }
  result_.bound = result_.cost;
  if (next_) result_.bound = std::min(result_.bound, next_->bound);
  if (!open_.empty()) result_.bound = std::min(result_.bound, open_.top().bound);
}

std::vector<int> BranchAndBound::placement_of(const std::vector<int>& states) const {
  std::vector<int> placement;
  for (std::size_t k = 0; k < problem_.ops.size(); ++k) {
    placement.push_back(static_cast<int>(graph_.value(k, states)));
  }
  return placement;
}

void BranchAndBound::offer_improved(const std::vector<int>& states) {
  FoundPlacement found = improved(problem_, placement_of(states));
  if (found.cost >= k_infinite || found.cost - result_.cost > missing() / 2) return;
  if (found.placement == result_.placement || found.placement == last_pushed_) return;
  last_pushed_ = found.placement;
  offer(local_search_.pushed(std::move(found)));
}

void BranchAndBound::offer_simple_placements() {
  for (std::vector<int>& placement : simple_placements(problem_)) {
    offer(improved(problem_, std::move(placement)));
  }
}

void BranchAndBound::offer(FoundPlacement found) {
  if (found.cost >= result_.cost) return;
  result_.cost = found.cost;
  result_.placement = std::move(found.placement);
}

/// The best child; the others are left open.
std::optional<BranchAndBound::Node> BranchAndBound::expand(const Node& node) {
  std::optional<Node> best;
  const int states = graph_.variables[node.branch_op].states();
  for (int s = 0; s < states; ++s) {
    dual_.go_to(node.position);
    if (!dual_.can_be(node.branch_op, s)) continue;
    for (int other = 0; other < states; ++other) {
      if (other != s) dual_.exclude(node.branch_op, other);
    }
    std::optional<Node> child = examine(node, k_node_passes);
    if (!child) continue;
    if (!best || *best > *child) std::swap(child, best);
    if (child) open_.push(std::move(*child));
  }
  return best;
}

/// What is left of a node after it was bounded; nothing when it is solved, or no better than the
/// best answer.
std::optional<BranchAndBound::Node> BranchAndBound::examine(const Node& parent, int passes) {
  Node node{parent.bound, parent.depth + 1, result_.nodes++, {}, parent.tried, -1};
  tighten(node, passes);
  node.bound = std::max(node.bound, dual_.bound());
  if (node.bound >= result_.cost) return std::nullopt;
  leave_out_dear_choices();
  choose_branch(node);
  if (node.branch_op < 0) return std::nullopt;
  node.position = dual_.position();
  return node;
}

void BranchAndBound::tighten(Node& node, int passes) {
  Ticks before = dual_.bound();
  for (int pass = 1; pass <= passes; ++pass) {
    dual_.improve();
    result_.states += dual_.states_of_a_pass();
    const bool is_last = pass == passes || spent();
    if (pass % k_passes_between_guesses != 0 && !is_last) continue;
    if (missing() <= 0) return;
    guess_ = dual_.guess();
    offer_improved(guess_);
    if (result_.cost >= k_infinite) offer_simple_placements();
    if (search_partial_assignments(node)) {
      node.bound = result_.cost;
      return;
    }
    if (is_last || !worth_going_on(dual_.bound() - before, missing(), k_worthwhile_gain)) return;
    before = dual_.bound();
  }
}

/// True when that solved the node.
bool BranchAndBound::search_partial_assignments(Node& node) {
  const Ticks close = result_.cost / std::ssize(problem_.ops) / k_close;
  if (missing() > std::min(close, node.tried / 2)) return false;
  node.tried = missing();
  const std::optional<SlackGraph> slack = dual_.slack(result_.cost, k_most_slack_entries);
  if (!slack) return false;
  const Ticks limit = result_.cost - slack->bound;
  const std::optional<LeastSlack> least =
      find_least_slack(*slack, limit, k_frontier_limits, result_.states);
  if (least && least->slack < limit) {
    std::vector<int> placement = placement_of(least->states);
    const Ticks cost = evaluate(problem_, placement).total;
    offer({std::move(placement), cost});
  }
  return least.has_value();
}

void BranchAndBound::leave_out_dear_choices() {
  const std::vector<std::vector<Ticks>> bounds = dual_.bounds_with();
  for (int v = 0; v < std::ssize(bounds); ++v) {
    for (int s = 0; s < std::ssize(bounds[v]); ++s) {
      if (bounds[v][s] >= result_.cost) dual_.exclude(v, s);
    }
  }
}

/// The operation that is most in doubt. Where none has a choice, the only placement is offered.
void BranchAndBound::choose_branch(Node& node) {
  const std::vector<Ticks> doubt = dual_.doubt(guess_);
  Ticks most = -1;
  for (int op = 0; op < std::ssize(problem_.ops); ++op) {
    int left = 0;
    for (int s = 0; s < graph_.variables[op].states(); ++s) {
      if (!dual_.can_be(op, s)) continue;
      if (++left == 1) guess_[op] = s;
    }
    if (left < 2 || doubt[op] <= most) continue;
    most = doubt[op];
    node.branch_op = op;
  }
  if (node.branch_op < 0) offer_improved(guess_);
}

}  // namespace stab::solver
