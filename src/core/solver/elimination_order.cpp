// SPDX-License-Identifier: Apache-2.0
#include "core/solver/elimination_order.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <queue>
#include <utility>

namespace stab::solver {
namespace {

/// Above this degree the exact number of new edges is not worth counting.
constexpr std::size_t k_largest_exact_degree = 40;

/// Above this degree a neighbour's neighbours keep their older counts until they come up.
constexpr std::size_t k_largest_refreshed_degree = 12;

/// Room that each variable has for neighbours from the start.
constexpr std::size_t k_usual_neighbours = 8;

class Eliminator {
 public:
  Eliminator(const Interactions& interactions, EliminationRule rule)
      : states_(interactions.states), rule_(rule) {
    neighbours_.resize(states_.size());
    for (std::vector<int>& around : neighbours_) around.reserve(k_usual_neighbours);
    gone_.assign(states_.size(), false);
    mark_.assign(states_.size(), 0);
    std::vector<int> scope;
    std::size_t begin = 0;
    for (const std::size_t end : interactions.ends) {
      scope.assign(interactions.joined.begin() + static_cast<std::ptrdiff_t>(begin),
                   interactions.joined.begin() + static_cast<std::ptrdiff_t>(end));
      std::sort(scope.begin(), scope.end());
      connect_all(scope);
      begin = end;
    }
  }

  FoundOrder run(std::uint64_t table_limit, std::uint64_t total_limit) {
    for (int v = 0; v < std::ssize(neighbours_); ++v) queue_.push({key(v), v});
    while (!queue_.empty()) {
      const auto [stored, v] = queue_.top();
      queue_.pop();
      if (gone_[v]) continue;
      const Key now = key(v);
      if (stored < now) {
        queue_.push({now, v});
        continue;
      }
      if (is_hopeless(now.first, total_limit)) return {std::nullopt, true};
      eliminate(v);
      if (order_.total_states > total_limit) return {std::nullopt, true};
      if (order_.largest_table > table_limit) return {std::nullopt, false};
    }
    return {std::move(order_), false};
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  /// `variables` ascending.
  void connect_all(const std::vector<int>& variables) {
    for (const int v : variables) {
      merged_.clear();
      std::set_union(neighbours_[v].begin(), neighbours_[v].end(), variables.begin(),
                     variables.end(), std::back_inserter(merged_));
      merged_.erase(std::lower_bound(merged_.begin(), merged_.end(), v));
      neighbours_[v].assign(merged_.begin(), merged_.end());
    }
  }

  std::uint64_t bag_states(int v) const {
    std::uint64_t states = states_[v];
    for (const int n : neighbours_[v]) states = saturating_product(states, states_[n]);
    return states;
  }

  std::uint64_t new_edges(int v) {
    const std::vector<int>& around = neighbours_[v];
    const std::uint64_t degree = around.size();
    if (degree > k_largest_exact_degree) return (std::uint64_t{1} << 32) + degree;
    ++round_;
    for (const int a : around) mark_[a] = round_;
    std::uint64_t there = 0;  // each edge twice
    for (const int a : around) {
      for (const int b : neighbours_[a]) there += mark_[b] == round_;
    }
    return (degree * degree - degree - there) / 2;
  }

  Key key(int v) {
    if (rule_ == EliminationRule::smallest_bag) return {bag_states(v), 0};
    return {new_edges(v), bag_states(v)};
  }

  /// Bags mostly grow from one to the next until few variables are left, so a quarter of those that
  /// are left will take as many states as the smallest bag of now.
  bool is_hopeless(std::uint64_t smallest_bag, std::uint64_t total_limit) const {
    if (rule_ != EliminationRule::smallest_bag) return false;
    const std::uint64_t left = neighbours_.size() - order_.variables.size();
    return saturating_product(smallest_bag, left / 4) > total_limit;
  }

  void eliminate(int v) {
    const std::uint64_t bag = bag_states(v);
    const std::vector<int> around = std::move(neighbours_[v]);
    gone_[v] = true;
    order_.variables.push_back(v);
    order_.width = std::max(order_.width, static_cast<int>(around.size()));
    order_.total_states = saturating_sum(order_.total_states, bag);
    order_.largest_table = std::max(order_.largest_table, bag / states_[v]);
    for (const int n : around) {
      neighbours_[n].erase(std::lower_bound(neighbours_[n].begin(), neighbours_[n].end(), v));
    }
    connect_all(around);
    for (const int n : around) refresh(n);
  }

  /// New edges change the bags of those they join, and lower the counts of those who see both ends.
  void refresh(int v) {
    queue_.push({key(v), v});
    if (rule_ == EliminationRule::smallest_bag ||
        neighbours_[v].size() > k_largest_refreshed_degree)
      return;
    for (const int n : neighbours_[v]) queue_.push({key(n), n});
  }

  const std::vector<std::uint64_t>& states_;
  EliminationRule rule_;
  std::vector<std::vector<int>> neighbours_;  ///< of variables that are left, sorted
  std::vector<int> merged_;                   ///< kept to save allocations
  std::vector<bool> gone_;
  std::vector<std::uint64_t> mark_;  ///< the round of new_edges() that saw it last
  std::uint64_t round_ = 0;
  std::priority_queue<std::pair<Key, int>, std::vector<std::pair<Key, int>>, std::greater<>> queue_;
  EliminationOrder order_;
};

}  // namespace

Interactions interactions_of(const FactorGraph& graph) {
  Interactions result;
  for (const Variable& variable : graph.variables) {
    result.states.push_back(static_cast<std::uint64_t>(variable.states()));
  }
  for (const Factor& factor : graph.factors) result.join(factor.scope);
  return result;
}

FoundOrder find_elimination_order(const Interactions& interactions, EliminationRule rule,
                                  std::uint64_t table_limit, std::uint64_t total_limit) {
  return Eliminator(interactions, rule).run(table_limit, total_limit);
}

}  // namespace stab::solver
