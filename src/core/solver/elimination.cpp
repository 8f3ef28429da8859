// SPDX-License-Identifier: Apache-2.0
#include "core/solver/elimination.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace stab::solver {
namespace {

/// How to walk a table while the states of some variables change; how far it is from a neighbour's
/// state to the next stands in steps_.
struct Walk {
  const Ticks* at = nullptr;
  std::ptrdiff_t own_step = 0;  ///< when the eliminated variable's state grows
};

class Eliminate {
 public:
  Eliminate(const FactorGraph& graph, const EliminationOrder& order) : graph_(graph) {
    position_.resize(graph.variables.size());
    for (int k = 0; k < std::ssize(order.variables); ++k) position_[order.variables[k]] = k;
    originals_.resize(graph.variables.size());
    messages_.resize(graph.variables.size());
    for (int f = 0; f < std::ssize(graph.factors); ++f) {
      originals_[first_eliminated(graph.factors[f].scope)].push_back(f);
    }
    choices_.resize(graph.variables.size());
    for (const int v : order.variables) eliminate(v);
    result_.states.assign(graph.variables.size(), 0);
    for (std::size_t k = order.variables.size(); k-- > 0;) look_back(order.variables[k]);
  }

  CheapestStates take() { return std::move(result_); }

 private:
  /// What a variable's best state is, by the states of those eliminated later.
  struct Choice {
    std::vector<int> scope;
    std::vector<std::uint16_t> best;
  };

  int first_eliminated(const std::vector<int>& scope) const {
    return *std::min_element(scope.begin(), scope.end(),
                             [this](int a, int b) { return position_[a] < position_[b]; });
  }

  std::ptrdiff_t states_of(int v) const { return graph_.variables[v].states(); }

  void eliminate(int v) {
    std::vector<Table> tables = std::move(messages_[v]);
    tables.reserve(tables.size() + originals_[v].size());
    for (const int f : originals_[v]) tables.push_back(tabulate(graph_, graph_.factors[f]));
    std::vector<int>& scope = scope_;
    scope.clear();
    for (const Table& table : tables)
      scope.insert(scope.end(), table.scope.begin(), table.scope.end());
    std::sort(scope.begin(), scope.end());
    scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
    std::erase(scope, v);
    Table message = minimise(tables, scope, v);
    if (scope.empty()) {
      result_.cost = add(result_.cost, message.costs.front());
    } else {
      messages_[first_eliminated(scope)].push_back(std::move(message));
    }
  }

  /// Its `steps`, one per variable of `scope`, are all zero before.
  Walk walk(const Table& table, const std::vector<int>& scope, int v, std::ptrdiff_t* steps) const {
    Walk result{table.costs.data()};
    std::ptrdiff_t step = 1;
    for (std::size_t k = table.scope.size(); k-- > 0;) {
      const int variable = table.scope[k];
      if (variable == v) {
        result.own_step = step;
      } else {
        const auto place = std::lower_bound(scope.begin(), scope.end(), variable);
        steps[place - scope.begin()] = step;
      }
      step *= states_of(variable);
    }
    return result;
  }

  Table minimise(const std::vector<Table>& tables, const std::vector<int>& scope, int v) {
    walks_.clear();
    steps_.assign(tables.size() * scope.size(), 0);
    for (const Table& table : tables) {
      walks_.push_back(walk(table, scope, v, steps_.data() + walks_.size() * scope.size()));
    }
    std::size_t entries = 1;
    for (const int n : scope) entries *= static_cast<std::size_t>(states_of(n));
    Table message{scope, std::vector<Ticks>(entries)};
    Choice& choice = choices_[v];
    choice.scope = scope;
    choice.best.resize(entries);
    at_.assign(scope.size(), 0);
    for (std::size_t entry = 0; entry < entries; ++entry) {
      choice.best[entry] = cheapest(walks_, states_of(v), message.costs[entry]);
      for (std::size_t k = scope.size(); k-- > 0;) {
        const bool wraps = ++at_[k] == states_of(scope[k]);
        const std::ptrdiff_t moved = wraps ? 1 - states_of(scope[k]) : 1;
        if (wraps) at_[k] = 0;
        for (std::size_t w = 0; w < walks_.size(); ++w)
          walks_[w].at += moved * steps_[w * scope.size() + k];
        if (!wraps) break;
      }
    }
    return message;
  }

  static std::uint16_t cheapest(const std::vector<Walk>& walks, std::ptrdiff_t states,
                                Ticks& cost) {
    std::ptrdiff_t best = 0;
    cost = k_infinite;
    for (std::ptrdiff_t state = 0; state < states; ++state) {
      Ticks sum = 0;
      for (const Walk& w : walks) sum = add(sum, w.at[state * w.own_step]);
      if (sum < cost) {
        cost = sum;
        best = state;
      }
    }
    return static_cast<std::uint16_t>(best);
  }

  void look_back(int v) {
    const Choice& choice = choices_[v];
    std::size_t entry = 0;
    for (const int n : choice.scope) {
      entry = entry * static_cast<std::size_t>(states_of(n)) +
              static_cast<std::size_t>(result_.states[n]);
    }
    result_.states[v] = choice.best[entry];
  }

  const FactorGraph& graph_;
  std::vector<int> position_;
  std::vector<std::vector<int>> originals_;  ///< per variable: factors that it is the first to take
  std::vector<std::vector<Table>> messages_;  ///< per variable: tables that earlier ones left to it
  std::vector<Choice> choices_;
  CheapestStates result_;
  // Of one variable, kept to save allocations:
  std::vector<int> scope_;
  std::vector<Walk> walks_;
  std::vector<std::ptrdiff_t> steps_;  ///< per walk and variable of the scope
  std::vector<std::ptrdiff_t> at_;     ///< per variable of the scope: its state
};

}  // namespace

CheapestStates eliminate(const FactorGraph& graph, const EliminationOrder& order) {
  return Eliminate(graph, order).take();
}

}  // namespace stab::solver
