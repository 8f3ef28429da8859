// SPDX-License-Identifier: Apache-2.0
#include "core/solver/frontier_order.h"

#include <bit>
#include <cstddef>
#include <cstdint>

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
      : graph_(graph), functions_of_(graph.states.size()), waiting_(graph.states.size(), 0) {
    for (int f = 0; f < std::ssize(graph.functions); ++f) {
      open_.push_back(static_cast<int>(graph.functions[f].scope.size()));
      for (const int v : graph.functions[f].scope) {
        functions_of_[v].push_back(f);
        ++waiting_[v];
      }
    }
    for (int v = 0; v < std::ssize(graph.states); ++v) {
      left_.push_back(v);
      weights_.push_back(weight(graph.states_of(v)));
    }
  }

  std::vector<int> run() {
    while (!left_.empty()) take(cheapest());
    return std::move(order_);
  }

 private:
  /// Position in left_.
  std::size_t cheapest() {
    std::size_t best = 0;
    int least = growth(left_.front());
    for (std::size_t k = 1; k < left_.size(); ++k) {
      const int now = growth(left_[k]);
      if (now >= least) continue;
      least = now;
      best = k;
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

  void take(std::size_t position) {
    const int v = left_[position];
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(position));
    for (const int f : functions_of_[v]) {
      if (--open_[f] > 0) continue;
      for (const int other : graph_.functions[f].scope) --waiting_[other];
    }
    order_.push_back(v);
  }

  const SlackGraph& graph_;
  std::vector<std::vector<int>> functions_of_;
  std::vector<int> open_;     ///< per function: variables not yet assigned
  std::vector<int> waiting_;  ///< per variable: functions not yet complete
  std::vector<int> weights_;
  std::vector<int> left_;
  std::vector<int> order_;
};

}  // namespace

std::vector<int> find_frontier_order(const SlackGraph& graph) {
  return FrontierOrder(graph).run();
}

}  // namespace stab::solver
