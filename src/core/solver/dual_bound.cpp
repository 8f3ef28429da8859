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

DualBound::DualBound(const FactorGraph& graph) : graph_(graph), places_(graph.variables.size()) {
  own_at_.push_back(0);
  for (const Variable& variable : graph.variables) {
    own_at_.push_back(own_at_.back() + variable.values.size());
  }
  now_.own.assign(own_at_.back(), 0);
  for (const Factor& factor : graph.factors) {
    const Table table = tabulate(graph, factor);
    if (factor.scope.size() > 1) {
      add_function(table);
      continue;
    }
    Ticks* own = &now_.own[own_at_[factor.scope.front()]];
    for (const Ticks cost : table.costs) {
      *own = join(*own, cost);
      ++own;
    }
  }
  set_order();
  bound_ = sum_of_minima();
}

void DualBound::add_function(const Table& table) {
  Function function;
  function.variables = static_cast<int>(table.scope.size());
  function.begin = costs_.size();
  Ticks least = k_infinite;
  for (int k = 0; k < function.variables; ++k) {
    function.scope[k] = table.scope[k];
    function.message[k] = now_.messages.size();
    now_.messages.resize(now_.messages.size() + graph_.variables[table.scope[k]].values.size(), 0);
  }
  function.row = rows_.size();
  std::array<std::uint16_t, k_most_variables> at{};
  for (const Ticks cost : table.costs) {
    if (!cannot_be(cost)) {
      for (int k = 0; k < k_most_variables; ++k) states_[k].push_back(at[k]);
      costs_.push_back(cost);
      least = std::min(least, cost);
    }
    for (int k = function.variables; k-- > 0;) {
      if (k == 0) rows_.push_back(costs_.size());
      if (++at[k] < graph_.variables[table.scope[k]].states()) break;
      at[k] = 0;
    }
  }
  function.end = costs_.size();
  functions_.push_back(function);
  now_.least.push_back(least);
}

/// Operations in their own order; a set right after the first operation that it has to do with.
void DualBound::set_order() {
  std::vector<int> rank(graph_.variables.size());
  std::iota(rank.begin(), rank.end(), 0);
  for (const Function& function : functions_) {
    const auto end = function.scope.begin() + function.variables;
    const int first = *std::min_element(function.scope.begin(), end);
    for (auto v = function.scope.begin(); v != end; ++v) {
      if (graph_.variables[*v].op < 0) rank[*v] = std::min(rank[*v], first);
    }
  }
  order_.resize(rank.size());
  std::iota(order_.begin(), order_.end(), 0);
  std::sort(order_.begin(), order_.end(),
            [&rank](int a, int b) { return std::pair(rank[a], a) < std::pair(rank[b], b); });
  std::vector<int> position(order_.size());
  for (int k = 0; k < std::ssize(order_); ++k) position[order_[k]] = k;
  for (int f = 0; f < std::ssize(functions_); ++f) {
    const Function& function = functions_[f];
    for (int k = 0; k < function.variables; ++k) {
      Place place{f, k, false, false, function.message[k]};
      for (int other = 0; other < function.variables; ++other) {
        place.ahead |= position[function.scope[other]] > position[function.scope[k]];
        place.behind |= position[function.scope[other]] < position[function.scope[k]];
      }
      places_[function.scope[k]].push_back(place);
    }
  }
}

/// Per state of the place's variable the least entry of its function, without the messages of that
/// variable.
void DualBound::find_minima(const Place& place, Ticks* result) const {
  const Function& function = functions_[place.function];
  const int a = place.index == 0 ? 1 : 0;
  const std::uint16_t* of_a = states_[a].data();
  const Ticks* to_a = &now_.messages[function.message[a]];
  if (function.variables == 2) {
    return find_minima(
        place,
        [costs = costs_.data(), of_a, to_a](std::size_t e) { return costs[e] + to_a[of_a[e]]; },
        result);
  }
  const int b = place.index == 2 ? 1 : 2;
  const std::uint16_t* of_b = states_[b].data();
  const Ticks* to_b = &now_.messages[function.message[b]];
  find_minima(
      place,
      [costs = costs_.data(), of_a, to_a, of_b, to_b](std::size_t e) {
        return costs[e] + to_a[of_a[e]] + to_b[of_b[e]];
      },
      result);
}

/// The same with entries that cost what `cost` says.
template <typename Cost>
void DualBound::find_minima(const Place& place, Cost cost, Ticks* result) const {
  const Function& function = functions_[place.function];
  const int states = states_of(function.scope[place.index]);
  std::size_t e = function.begin;
  if (place.index == 0) {
    const std::size_t* row_end = &rows_[function.row];
    for (int s = 0; s < states; ++s) {
      Ticks least = k_infinite;
      for (const std::size_t end = row_end[s]; e < end; ++e) least = std::min(least, cost(e));
      result[s] = least;
    }
    return;
  }
  std::fill_n(result, states, k_infinite);
  const std::uint16_t* own = states_[place.index].data();
  for (const std::size_t end = function.end; e < end; ++e) {
    Ticks& least = result[own[e]];
    least = std::min(least, cost(e));
  }
}

void DualBound::visit(int v, bool forwards) {
  Ticks* own = &now_.own[own_at_[v]];
  const int states = states_of(v);
  const std::vector<Place>& places = places_[v];
  minima_.resize(std::max(minima_.size(), places.size() * static_cast<std::size_t>(states)));
  int ahead = 0, behind = 0;
  Ticks* minima = minima_.data();
  for (const Place& place : places) {
    find_minima(place, minima);
    const Ticks* message = &now_.messages[place.message];
    for (int s = 0; s < states; ++s) {
      own[s] = cannot_be(minima[s]) ? k_infinite : join(own[s], minima[s] + message[s]);
    }
    ahead += forwards ? place.ahead : place.behind;
    behind += forwards ? place.behind : place.ahead;
    minima += states;
  }
  const int parts = std::max({ahead, behind, 1});
  shares_.resize(static_cast<std::size_t>(states));
  for (int s = 0; s < states; ++s) {
    shares_[s] = cannot_be(own[s]) ? 0 : own[s] / parts;
    if (!cannot_be(own[s])) own[s] -= shares_[s] * ahead;
  }
  minima = minima_.data();
  for (const Place& place : places) {
    Ticks* message = &now_.messages[place.message];
    const bool gets = forwards ? place.ahead : place.behind;
    Ticks least = k_infinite;
    for (int s = 0; s < states; ++s) {
      if (cannot_be(own[s])) {
        message[s] = k_infinite;
        continue;
      }
      const Ticks share = gets ? shares_[s] : 0;
      message[s] = share - minima[s];
      least = std::min(least, share);
    }
    now_.least[place.function] = least;
    minima += states;
  }
}

Ticks DualBound::least_own(int v) const {
  return *std::min_element(now_.own.begin() + static_cast<std::ptrdiff_t>(own_at_[v]),
                           now_.own.begin() + static_cast<std::ptrdiff_t>(own_at_[v + 1]));
}

Ticks DualBound::sum_of_minima() const {
  Ticks sum = 0;
  for (int v = 0; v < std::ssize(order_); ++v) sum = join(sum, least_own(v));
  for (const Ticks least : now_.least) sum = join(sum, least);
  return sum;
}

Ticks DualBound::improve() {
  for (const int v : order_) visit(v, true);
  for (std::size_t k = order_.size(); k-- > 0;) visit(order_[k], false);
  bound_ = std::max(bound_, sum_of_minima());
  return bound_;
}

void DualBound::exclude(int variable, int state) {
  const auto offset = static_cast<std::size_t>(state);
  now_.own[own_at_[variable] + offset] = k_infinite;
  for (const Place& place : places_[variable]) {
    now_.messages[place.message + offset] = k_infinite;
  }
}

void DualBound::go_to(Position position) {
  now_ = std::move(position);
  bound_ = sum_of_minima();
}

std::vector<std::vector<Ticks>> DualBound::bounds_with() const {
  const Ticks sum = sum_of_minima();
  std::vector<std::vector<Ticks>> bounds;
  std::vector<Ticks> with;
  for (int v = 0; v < std::ssize(order_); ++v) {
    const Ticks* own = &now_.own[own_at_[v]];
    const Ticks own_least = least_own(v);
    std::vector<Ticks>& bound = bounds.emplace_back();
    for (int s = 0; s < states_of(v); ++s) bound.push_back(join(sum, join(own[s], -own_least)));
    with.resize(bound.size());
    for (const Place& place : places_[v]) {
      find_minima(place, with.data());
      const Ticks* message = &now_.messages[place.message];
      for (std::size_t s = 0; s < with.size(); ++s) {
        bound[s] = join(bound[s], join(with[s], message[s] - now_.least[place.function]));
      }
    }
  }
  return bounds;
}

Ticks DualBound::cost_of(const Function& function, std::size_t entry) const {
  Ticks cost = costs_[entry];
  for (int k = 0; k < function.variables; ++k) {
    cost += now_.messages[function.message[k] + states_[k][entry]];
  }
  return cost;
}

std::optional<SlackGraph> DualBound::slack(Ticks limit, std::uint64_t most_entries) const {
  SlackGraph result;
  result.bound = sum_of_minima();
  const std::vector<std::vector<Ticks>> bounds = bounds_with();
  std::vector<std::vector<int>> numbers;
  for (int v = 0; v < std::ssize(order_); ++v) {
    std::vector<int>& number = numbers.emplace_back();
    std::vector<int>& states = result.states.emplace_back();
    std::vector<Ticks>& own = result.own.emplace_back();
    const Ticks least = least_own(v);
    for (int s = 0; s < states_of(v); ++s) {
      const bool is_kept = bounds[v][s] < limit;
      number.push_back(is_kept ? static_cast<int>(states.size()) : -1);
      if (!is_kept) continue;
      states.push_back(s);
      own.push_back(now_.own[own_at_[v] + static_cast<std::size_t>(s)] - least);
    }
  }
  std::uint64_t entries = 0;
  for (const Function& function : functions_) {
    std::uint64_t product = 1;
    for (int k = 0; k < function.variables; ++k) {
      product = saturating_product(product, result.states_of(function.scope[k]));
    }
    entries = saturating_sum(entries, product);
  }
  if (entries > most_entries) return std::nullopt;
  for (int f = 0; f < std::ssize(functions_); ++f) result.functions.push_back(slack_of(f, numbers));
  return result;
}

/// A function above its least entry, for the states that have a number (not -1).
Table DualBound::slack_of(int f, const std::vector<std::vector<int>>& numbers) const {
  const Function& function = functions_[f];
  Table result;
  std::array<std::size_t, k_most_variables> step{};
  std::size_t entries = 1;
  for (int k = function.variables; k-- > 0;) {
    step[k] = entries;
    const std::vector<int>& of_variable = numbers[function.scope[k]];
    entries *= of_variable.size() -
               static_cast<std::size_t>(std::count(of_variable.begin(), of_variable.end(), -1));
  }
  result.scope.assign(function.scope.begin(), function.scope.begin() + function.variables);
  result.costs.assign(entries, k_infinite);
  for (std::size_t e = function.begin; e < function.end; ++e) {
    std::size_t at = 0;
    bool is_kept = true;
    for (int k = 0; k < function.variables; ++k) {
      const int number = numbers[function.scope[k]][states_[k][e]];
      is_kept = is_kept && number >= 0;
      at += step[k] * static_cast<std::size_t>(number);
    }
    if (is_kept) result.costs[at] = cost_of(function, e) - now_.least[f];
  }
  return result;
}

/// Per state of the place's variable the least entry of its function where the other variables have
/// the states that they have got (-1: any).
void DualBound::find_minima(const Place& place, const std::vector<int>& states,
                            Ticks* result) const {
  const Function& function = functions_[place.function];
  std::fill_n(result, states_of(function.scope[place.index]), k_infinite);
  for (std::size_t e = function.begin; e < function.end; ++e) {
    bool fits = true;
    for (int k = 0; k < function.variables; ++k) {
      const int wanted = states[function.scope[k]];
      fits = fits && (k == place.index || wanted < 0 || wanted == states_[k][e]);
    }
    if (!fits) continue;
    Ticks& least = result[states_[place.index][e]];
    least = std::min(least, cost_of(function, e));
  }
}

std::vector<int> DualBound::guess() const {
  std::vector<int> states(order_.size(), -1);
  std::vector<Ticks> costs, with;
  for (const int v : order_) {
    costs.assign(now_.own.begin() + static_cast<std::ptrdiff_t>(own_at_[v]),
                 now_.own.begin() + static_cast<std::ptrdiff_t>(own_at_[v + 1]));
    with.resize(costs.size());
    for (const Place& place : places_[v]) {
      find_minima(place, states, with.data());
      for (std::size_t s = 0; s < with.size(); ++s) costs[s] = join(costs[s], with[s]);
    }
    states[v] = static_cast<int>(std::min_element(costs.begin(), costs.end()) - costs.begin());
  }
  return states;
}

std::vector<Ticks> DualBound::doubt(const std::vector<int>& states) const {
  std::vector<Ticks> result(order_.size(), 0);
  std::vector<Ticks> with;
  for (int v = 0; v < std::ssize(order_); ++v) {
    result[v] = now_.own[own_at_[v] + static_cast<std::size_t>(states[v])] - least_own(v);
  }
  for (int f = 0; f < std::ssize(functions_); ++f) {
    const Function& function = functions_[f];
    with.resize(static_cast<std::size_t>(states_of(function.scope[0])));
    find_minima({f, 0, false, false, 0}, states, with.data());
    const Ticks cost = with[static_cast<std::size_t>(states[function.scope[0]])];
    const Ticks off = std::min(cost - now_.least[f], k_infinite);
    for (int k = 0; k < function.variables; ++k) {
      const int v = function.scope[k];
      result[v] = std::min(result[v] + off, k_infinite);
    }
  }
  return result;
}

}  // namespace stab::solver
