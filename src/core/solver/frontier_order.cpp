// SPDX-License-Identifier: Apache-2.0
#include "core/solver/frontier_order.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stab::solver {
namespace {

/// Four times the binary logarithm, rounded up: the same number on every machine.
int weight(std::size_t states) {
  const std::uint64_t squared = static_cast<std::uint64_t>(states) * states;
  return static_cast<int>(std::bit_width(squared * squared - 1));
}

class FrontierOrder {
 public:
  explicit FrontierOrder(const SlackGraph& graph)
      : graph_(graph),
        functions_of_(graph.states.size()),
        waiting_(graph.states.size(), 0),
        is_taken_(graph.states.size(), false),
        is_reached_(graph.states.size(), false) {
    for (int f = 0; f < std::ssize(graph.functions); ++f) {
      open_.push_back(static_cast<int>(graph.functions[f].scope.size()));
      for (const int v : graph.functions[f].scope) {
        functions_of_[v].push_back(f);
        ++waiting_[v];
      }
    }
    for (int v = 0; v < std::ssize(graph.states); ++v) {
      weights_.push_back(weight(graph.states_of(v)));
    }
  }

  std::vector<int> run() {
    for (int v = 0; v < std::ssize(waiting_); ++v) {
      if (graph_.states_of(v) == 1) take(v);
    }
    for (int v = 0; v < std::ssize(waiting_); ++v) {
      if (is_taken_[v]) continue;
      take(v);
      while (!reached_.empty()) take(cheapest());
    }
    return std::move(order_);
  }

 private:
  /// Of the variables that share a function with one that is assigned.
  int cheapest() {
    int best = -1, least = 0;
    for (const int v : reached_) {
      const int now = growth(v);
      if (best >= 0 && std::pair(now, v) >= std::pair(least, best)) continue;
      least = now;
      best = v;
    }
    return best;
  }

  /// How many more assignments (as a weight) there are to tell apart after `v`.
  int growth(int v) {
    int growth = 0;
    int own_waiting = waiting_[v];
    for (const int f : functions_of_[v]) {
      if (open_[f] > 1) continue;
      --own_waiting;
      for (const int other : graph_.functions[f].scope) {
        if (other != v && --waiting_[other] == 0) growth -= weights_[other];
      }
    }
    for (const int f : functions_of_[v]) {
      if (open_[f] > 1) continue;
      for (const int other : graph_.functions[f].scope) waiting_[other] += other != v;
    }
    return own_waiting > 0 ? growth + weights_[v] : growth;
  }

  void take(int v) {
    is_taken_[v] = true;
    std::erase(reached_, v);
    for (const int f : functions_of_[v]) {
      --open_[f];
      for (const int other : graph_.functions[f].scope) {
        if (open_[f] == 0) --waiting_[other];
        if (!is_taken_[other]) reach(other);
      }
    }
    order_.push_back(v);
  }

  void reach(int v) {
    if (graph_.states_of(v) == 1 || is_reached_[v]) return;
    is_reached_[v] = true;
    reached_.push_back(v);
  }

  const SlackGraph& graph_;
  std::vector<std::vector<int>> functions_of_;
  std::vector<int> open_;     ///< per function: variables not yet assigned
  std::vector<int> waiting_;  ///< per variable: functions not yet complete
  std::vector<int> weights_;
  std::vector<bool> is_taken_;
  std::vector<bool> is_reached_;
  std::vector<int> reached_;  ///< not taken
  std::vector<int> order_;
};

}  // namespace

std::vector<int> find_frontier_order(const SlackGraph& graph) {
  return FrontierOrder(graph).run();
}

}  // namespace stab::solver
