// SPDX-License-Identifier: Apache-2.0
#include "core/solver/frontier_order.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace stab::solver {
namespace {

/// The first variable decides much: so many are tried, evenly spread.
constexpr std::size_t k_starts = 4;

/// One is tried where variables have more functions than that: an order takes long there, and all
/// are much alike.
constexpr std::size_t k_many_functions = 16;

/// Four times the binary logarithm, rounded up: the same number on every machine.
int weight(std::size_t states) {
  const std::uint64_t squared = static_cast<std::uint64_t>(states) * states;
  return static_cast<int>(std::bit_width(squared * squared - 1));
}

class FrontierOrder {
 public:
  explicit FrontierOrder(const SlackGraph& graph)
      : graph_(graph), first_function_(graph.states.size() + 1, 0) {
    for (const Table& function : graph.functions) {
      for (const int v : function.scope) ++first_function_[v + 1];
    }
    for (std::size_t v = 1; v < first_function_.size(); ++v)
      first_function_[v] += first_function_[v - 1];
    functions_.resize(first_function_.back());
    std::vector<std::size_t> next = first_function_;
    for (int f = 0; f < std::ssize(graph.functions); ++f) {
      for (const int v : graph.functions[f].scope) functions_[next[v]++] = f;
    }
    for (int v = 0; v < std::ssize(graph.states); ++v) {
      weights_.push_back(weight(graph.states_of(v)));
      if (graph.is_open(v)) variables_.push_back(v);
    }
  }

  std::vector<int> run() {
    const bool is_dense = functions_.size() > k_many_functions * variables_.size();
    const std::size_t starts = std::min(is_dense ? 1 : k_starts, variables_.size());
    for (std::size_t k = 0; k < starts; ++k) {
      start_at(variables_[k * variables_.size() / starts]);
    }
    return std::move(best_);
  }

 private:
  /// Keeps the order when its widest frontier is narrower than those before.
  void start_at(int first) {
    clear();
    take(first);
    for (std::size_t k = 0;; take(variables_[k])) {
      while (!reached_.empty() && peak_ < least_peak_) take(cheapest());
      if (peak_ >= least_peak_) return;
      while (k < variables_.size() && is_taken_[variables_[k]]) ++k;
      if (k == variables_.size()) break;
    }
    least_peak_ = peak_;
    best_.swap(order_);
  }

  void clear() {
    const std::size_t count = weights_.size();
    open_.clear();
    for (const Table& function : graph_.functions)
      open_.push_back(static_cast<int>(function.scope.size()));
    waiting_.resize(count);
    for (std::size_t v = 0; v < count; ++v)
      waiting_[v] = static_cast<int>(first_function_[v + 1] - first_function_[v]);
    is_taken_.assign(count, false);
    is_reached_.assign(count, false);
    growth_.resize(count);
    reached_.clear();
    order_.clear();
    width_ = 0;
    peak_ = 0;
  }

  std::span<const int> functions_of(int v) const {
    return std::span(functions_)
        .subspan(first_function_[v], first_function_[v + 1] - first_function_[v]);
  }

  /// Of the variables that share a function with one that is assigned.
  int cheapest() {
    std::size_t best = 0;
    for (std::size_t k = 1; k < reached_.size(); ++k) {
      const int v = reached_[k], least = reached_[best];
      if (growth_[v] < growth_[least] || (growth_[v] == growth_[least] && v < least)) best = k;
    }
    const int v = reached_[best];
    reached_[best] = reached_.back();
    reached_.pop_back();
    return v;
  }

  /// How many more assignments (as a weight) there are to tell apart after `v`.
  int growth(int v) {
    int growth = 0;
    int own_waiting = waiting_[v];
    for (const int f : functions_of(v)) {
      if (open_[f] > 1) continue;
      --own_waiting;
      for (const int other : graph_.functions[f].scope) {
        if (other != v && --waiting_[other] == 0) growth -= weights_[other];
      }
    }
    for (const int f : functions_of(v)) {
      if (open_[f] > 1) continue;
      for (const int other : graph_.functions[f].scope) waiting_[other] += other != v;
    }
    return own_waiting > 0 ? growth + weights_[v] : growth;
  }

  void take(int v) {
    is_taken_[v] = true;
    order_.push_back(v);
    peak_ = std::max(peak_, width_ + weights_[v]);
    width_ += growth(v);
    for (const int f : functions_of(v)) {
      --open_[f];
      for (const int other : graph_.functions[f].scope) {
        if (open_[f] == 0) --waiting_[other];
      }
    }
    for (const int f : functions_of(v)) {
      for (const int other : graph_.functions[f].scope) {
        if (!is_taken_[other]) reach(other);
        if (open_[f] == 0) weigh_around(other);
      }
    }
  }

  /// Weighs again what may now complete the last function of `v`: only what all of its functions
  /// wait for.
  void weigh_around(int v) {
    if (waiting_[v] == 0) return;
    for (const int f : functions_of(v)) {
      if (open_[f] == 0) continue;
      if (open_[f] > 1) return;
      for (const int other : graph_.functions[f].scope) {
        if (!is_taken_[other]) growth_[other] = growth(other);
      }
      return;
    }
  }

  void reach(int v) {
    growth_[v] = growth(v);
    if (is_reached_[v]) return;
    is_reached_[v] = true;
    reached_.push_back(v);
  }

  const SlackGraph& graph_;
  std::vector<std::size_t> first_function_;  ///< per variable: in functions_
  std::vector<int> functions_;               ///< of all variables
  std::vector<int> weights_;                 ///< per variable
  std::vector<int> variables_;               ///< that are open
  int least_peak_ = std::numeric_limits<int>::max();
  std::vector<int> best_;
  // Of one start:
  std::vector<int> open_;     ///< per function: variables not yet assigned
  std::vector<int> waiting_;  ///< per variable: functions not yet complete
  std::vector<int> growth_;   ///< per variable that is reached
  std::vector<bool> is_taken_;
  std::vector<bool> is_reached_;
  std::vector<int> reached_;  ///< not taken
  std::vector<int> order_;
  int width_ = 0;  ///< weight of the assignments to tell apart
  int peak_ = 0;
};

}  // namespace

std::vector<int> find_frontier_order(const SlackGraph& graph) {
  return FrontierOrder(graph).run();
}

}  // namespace stab::solver
