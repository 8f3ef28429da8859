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

Ticks least(const std::vector<Ticks>& costs) {
  return costs.empty() ? k_infinite : *std::min_element(costs.begin(), costs.end());
}

}  // namespace

DualBound::DualBound(const FactorGraph& graph) : graph_(graph), places_(graph.variables.size()) {
  for (const Variable& variable : graph.variables) own_.emplace_back(variable.states(), 0);
  for (const Factor& factor : graph.factors) {
    const Table table = tabulate(graph, factor);
    if (factor.scope.size() > 1) {
      add_function(table);
      continue;
    }
    std::vector<Ticks>& own = own_[factor.scope.front()];
    for (std::size_t s = 0; s < own.size(); ++s) own[s] = join(own[s], table.costs[s]);
    entries_ += own.size();
  }
  set_order();
  bound_ = sum_of_minima();
}

void DualBound::add_function(const Table& table) {
  Entries entries{table.scope, {}, {}};
  entries.states.resize(table.scope.size());
  std::vector<std::uint16_t> at(table.scope.size(), 0);
  for (const Ticks cost : table.costs) {
    if (!cannot_be(cost)) {
      for (std::size_t k = 0; k < at.size(); ++k) entries.states[k].push_back(at[k]);
      entries.costs.push_back(cost);
    }
    for (std::size_t k = at.size(); k-- > 0;) {
      if (++at[k] < graph_.variables[table.scope[k]].states()) break;
      at[k] = 0;
    }
  }
  entries_ += entries.costs.size();
  functions_.push_back(std::move(entries));
}

/// Operations in their own order; a set right after the first operation that it has to do with.
void DualBound::set_order() {
  std::vector<int> rank(graph_.variables.size());
  std::iota(rank.begin(), rank.end(), 0);
  for (const Entries& function : functions_) {
    const int first = *std::min_element(function.scope.begin(), function.scope.end());
    for (const int v : function.scope) {
      if (graph_.variables[v].op < 0) rank[v] = std::min(rank[v], first);
    }
  }
  order_.resize(rank.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [&rank](int a, int b) { return std::pair(rank[a], a) < std::pair(rank[b], b); });
  std::vector<int> position(order_.size());
  for (int k = 0; k < std::ssize(order_); ++k) position[order_[k]] = k;
  for (int f = 0; f < std::ssize(functions_); ++f) {
    const std::vector<int>& scope = functions_[f].scope;
    for (std::size_t k = 0; k < scope.size(); ++k) {
      Place place{f, k, false, false};
      for (const int other : scope) {
        place.ahead |= position[other] > position[scope[k]];
        place.behind |= position[other] < position[scope[k]];
      }
      places_[scope[k]].push_back(place);
    }
  }
}

/// Per state of the place's variable the least entry of its function.
void DualBound::find_minima(const Place& place, std::vector<Ticks>& result) const {
  const Entries& function = functions_[place.function];
  const std::uint16_t* state = function.states[place.index].data();
  result.assign(own_[function.scope[place.index]].size(), k_infinite);
  for (const Ticks cost : function.costs) {
    Ticks& least = result[*state++];
    least = std::min(least, cost);
  }
}

/// Adds to the entries of each state of the place's variable.
void DualBound::shift(const Place& place, const std::vector<Ticks>& by) {
  Entries& function = functions_[place.function];
  const std::uint16_t* state = function.states[place.index].data();
  for (Ticks& cost : function.costs) cost += by[*state++];
}

void DualBound::visit(int v, bool forwards) {
  std::vector<Ticks>& own = own_[v];
  const std::vector<Place>& places = places_[v];
  if (moves_.size() < places.size()) moves_.resize(places.size());
  int ahead = 0, behind = 0;
  for (std::size_t k = 0; k < places.size(); ++k) {
    std::vector<Ticks>& move = moves_[k];
    find_minima(places[k], move);
    for (std::size_t s = 0; s < own.size(); ++s) {
      own[s] = join(own[s], move[s]);
      move[s] = cannot_be(move[s]) ? 0 : -move[s];
    }
    ahead += forwards ? places[k].ahead : places[k].behind;
    behind += forwards ? places[k].behind : places[k].ahead;
  }
  const int parts = std::max({ahead, behind, 1});
  for (std::size_t s = 0; s < own.size(); ++s) {
    if (cannot_be(own[s])) continue;
    const Ticks share = own[s] / parts;
    own[s] -= share * ahead;
    for (std::size_t k = 0; k < places.size(); ++k) {
      if (forwards ? places[k].ahead : places[k].behind) moves_[k][s] += share;
    }
  }
  for (std::size_t k = 0; k < places.size(); ++k) shift(places[k], moves_[k]);
}

Ticks DualBound::sum_of_minima() const {
  Ticks sum = 0;
  for (const std::vector<Ticks>& own : own_) sum = join(sum, least(own));
  for (const Entries& function : functions_) sum = join(sum, least(function.costs));
  return sum;
}

Ticks DualBound::improve() {
  for (const int v : order_) visit(v, true);
  for (std::size_t k = order_.size(); k-- > 0;) visit(order_[k], false);
  bound_ = std::max(bound_, sum_of_minima());
  return bound_;
}

std::vector<std::vector<Ticks>> DualBound::bounds_with() const {
  const Ticks sum = sum_of_minima();
  std::vector<std::vector<Ticks>> bounds;
  std::vector<Ticks> with;
  for (int v = 0; v < std::ssize(own_) && graph_.variables[v].op >= 0; ++v) {
    const Ticks own_least = least(own_[v]);
    std::vector<Ticks>& bound = bounds.emplace_back();
    for (const Ticks own : own_[v]) bound.push_back(join(sum, join(own, -own_least)));
    for (const Place& place : places_[v]) {
      find_minima(place, with);
      const Ticks without = least(functions_[place.function].costs);
      for (std::size_t s = 0; s < with.size(); ++s) {
        bound[s] = join(bound[s], join(with[s], -without));
      }
    }
  }
  return bounds;
}

/// The least entry of a function where the place's variable has this state and the others what they
/// have got (-1: any).
Ticks DualBound::cheapest_with(const Place& place, int state,
                               const std::vector<int>& states) const {
  const Entries& function = functions_[place.function];
  Ticks cheapest = k_infinite;
  for (std::size_t e = 0; e < function.costs.size(); ++e) {
    if (function.costs[e] >= cheapest || function.states[place.index][e] != state) continue;
    bool fits = true;
    for (std::size_t k = 0; k < function.scope.size(); ++k) {
      const int wanted = states[function.scope[k]];
      fits = fits && (k == place.index || wanted < 0 || wanted == function.states[k][e]);
    }
    if (fits) cheapest = function.costs[e];
  }
  return cheapest;
}

std::vector<int> DualBound::guess() const {
  std::vector<int> states(order_.size(), -1);
  for (const int v : order_) {
    int best = 0;
    Ticks cheapest = k_infinite;
    for (int s = 0; s < std::ssize(own_[v]); ++s) {
      Ticks cost = own_[v][s];
      for (const Place& place : places_[v]) cost = join(cost, cheapest_with(place, s, states));
      if (cost < cheapest) {
        cheapest = cost;
        best = s;
      }
    }
    states[v] = best;
  }
  return states;
}

std::vector<Ticks> DualBound::doubt(const std::vector<int>& states) const {
  std::vector<Ticks> result(own_.size(), 0);
  for (std::size_t v = 0; v < own_.size(); ++v) result[v] = own_[v][states[v]] - least(own_[v]);
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const Entries& function = functions_[f];
    Place first{static_cast<int>(f), 0, false, false};
    const Ticks cost = cheapest_with(first, states[function.scope.front()], states);
    const Ticks off = std::min(cost - least(function.costs), k_infinite);
    for (const int v : function.scope) result[v] = std::min(result[v] + off, k_infinite);
  }
  return result;
}

}  // namespace stab::solver
