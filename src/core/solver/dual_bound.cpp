// SPDX-License-Identifier: Apache-2.0
#include "core/solver/dual_bound.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stab::solver {
namespace {

/// Moved costs may be negative, and large; what cannot be stays above this.
bool cannot_be(Ticks cost) {
  return cost >= k_infinite / 2;
}

/// a + b, where "cannot be" stays so.
Ticks join(Ticks a, Ticks b) {
  return cannot_be(a) || cannot_be(b) ? k_infinite : a + b;
}

}  // namespace

DualBound::DualBound(const FactorGraph& graph)
    : graph_(graph), places_(graph.variables.size()), order_(graph.variables.size()) {
  for (const Variable& variable : graph.variables) own_.emplace_back(variable.states(), 0);
  std::vector<int> rank(graph.variables.size());
  std::iota(rank.begin(), rank.end(), 0);
  for (const Factor& factor : graph.factors) {
    Table table = tabulate(graph, factor);
    entries_ += table.costs.size();
    if (factor.scope.size() == 1) {
      std::vector<Ticks>& own = own_[factor.scope.front()];
      for (std::size_t s = 0; s < own.size(); ++s) own[s] = join(own[s], table.costs[s]);
      continue;
    }
    // Variables of sets come right after the first operation that they touch.
    const int first = *std::min_element(factor.scope.begin(), factor.scope.end());
    for (const int v : factor.scope) rank[v] = std::min(rank[v], first);
    tables_.push_back(std::move(table));
  }
  for (int v = 0; v < std::ssize(rank); ++v) {
    if (graph.variables[v].op >= 0) rank[v] = v;
  }
  std::iota(order_.begin(), order_.end(), 0);
  std::stable_sort(order_.begin(), order_.end(),
                   [&rank](int a, int b) { return rank[a] < rank[b]; });
  std::vector<int> position(order_.size());
  for (int k = 0; k < std::ssize(order_); ++k) position[order_[k]] = k;
  for (int f = 0; f < std::ssize(tables_); ++f) {
    std::ptrdiff_t step = 1;
    const std::vector<int>& scope = tables_[f].scope;
    for (std::size_t k = scope.size(); k-- > 0;) {
      Place place{f, step, false, false};
      for (const int other : scope) {
        place.ahead |= position[other] > position[scope[k]];
        place.behind |= position[other] < position[scope[k]];
      }
      places_[scope[k]].push_back(place);
      step *= graph.variables[scope[k]].states();
    }
  }
  bound_ = sum_of_minima();
}

std::vector<Ticks> DualBound::minima(int v, const Place& place) const {
  const std::ptrdiff_t states = graph_.variables[v].states();
  const std::vector<Ticks>& costs = tables_[place.table].costs;
  std::vector<Ticks> result(states, k_infinite);
  for (std::ptrdiff_t base = 0; base < std::ssize(costs); base += place.step * states) {
    for (std::ptrdiff_t s = 0; s < states; ++s) {
      const auto row = costs.begin() + base + s * place.step;
      result[s] = std::min(result[s], *std::min_element(row, row + place.step));
    }
  }
  return result;
}

void DualBound::shift(int v, const Place& place, const std::vector<Ticks>& by) {
  const std::ptrdiff_t states = graph_.variables[v].states();
  std::vector<Ticks>& costs = tables_[place.table].costs;
  for (std::ptrdiff_t base = 0; base < std::ssize(costs); base += place.step * states) {
    for (std::ptrdiff_t s = 0; s < states; ++s) {
      if (by[s] == 0) continue;
      for (std::ptrdiff_t k = 0; k < place.step; ++k) {
        Ticks& cost = costs[base + s * place.step + k];
        if (!cannot_be(cost)) cost += by[s];
      }
    }
  }
}

void DualBound::visit(int v, bool forwards) {
  std::vector<Ticks>& own = own_[v];
  int ahead = 0, behind = 0;
  for (const Place& place : places_[v]) {
    std::vector<Ticks> spare = minima(v, place);
    for (std::size_t s = 0; s < own.size(); ++s) {
      own[s] = join(own[s], spare[s]);
      spare[s] = cannot_be(spare[s]) ? 0 : -spare[s];
    }
    shift(v, place, spare);
    ahead += forwards ? place.ahead : place.behind;
    behind += forwards ? place.behind : place.ahead;
  }
  const int parts = std::max(ahead, behind);
  if (ahead == 0) return;
  std::vector<Ticks> share(own.size(), 0);
  for (std::size_t s = 0; s < own.size(); ++s) {
    if (cannot_be(own[s])) continue;
    share[s] = own[s] / parts;
    own[s] -= share[s] * ahead;
  }
  for (const Place& place : places_[v]) {
    if (forwards ? place.ahead : place.behind) shift(v, place, share);
  }
}

Ticks DualBound::sum_of_minima() const {
  Ticks sum = 0;
  for (const std::vector<Ticks>& own : own_)
    sum = join(sum, *std::min_element(own.begin(), own.end()));
  for (const Table& table : tables_) {
    sum = join(sum, *std::min_element(table.costs.begin(), table.costs.end()));
  }
  return sum;
}

Ticks DualBound::improve() {
  for (const int v : order_) visit(v, true);
  for (std::size_t k = order_.size(); k-- > 0;) visit(order_[k], false);
  bound_ = std::max(bound_, sum_of_minima());
  return bound_;
}

/// The least entry of a table where `v` has this state and the others the states they have got (-1:
/// any).
Ticks DualBound::cheapest_with(const Table& table, int v, int state,
                               const std::vector<int>& states) const {
  Ticks least = k_infinite;
  std::vector<int> at(table.scope.size(), 0);
  for (const Ticks cost : table.costs) {
    bool fits = true;
    for (std::size_t k = 0; k < at.size(); ++k) {
      const int wanted = table.scope[k] == v ? state : states[table.scope[k]];
      fits = fits && (wanted < 0 || wanted == at[k]);
    }
    if (fits) least = std::min(least, cost);
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < graph_.variables[table.scope[k]].states()) break;
      at[k] = 0;
    }
  }
  return least;
}

std::vector<int> DualBound::guess() const {
  std::vector<int> states(order_.size(), -1);
  for (const int v : order_) {
    int best = 0;
    Ticks least = k_infinite;
    for (int s = 0; s < graph_.variables[v].states(); ++s) {
      Ticks cost = own_[v][s];
      for (const Place& place : places_[v]) {
        cost = join(cost, cheapest_with(tables_[place.table], v, s, states));
      }
      if (cost < least) {
        least = cost;
        best = s;
      }
    }
    states[v] = best;
  }
  return states;
}

std::vector<Ticks> DualBound::doubt(const std::vector<int>& states) const {
  std::vector<Ticks> result(own_.size(), 0);
  for (std::size_t v = 0; v < own_.size(); ++v) {
    result[v] = own_[v][states[v]] - *std::min_element(own_[v].begin(), own_[v].end());
  }
  for (const Table& table : tables_) {
    std::size_t entry = 0;
    for (const int v : table.scope) {
      entry = entry * static_cast<std::size_t>(graph_.variables[v].states()) +
              static_cast<std::size_t>(states[v]);
    }
    const Ticks off =
        table.costs[entry] - *std::min_element(table.costs.begin(), table.costs.end());
    for (const int v : table.scope) result[v] = std::min(result[v] + off, k_infinite);
  }
  return result;
}

}  // namespace stab::solver
