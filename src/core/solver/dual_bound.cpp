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
  now_.messages.assign(1, 0);  // k_no_message
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
  minima_.resize(now_.messages.size());
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
  std::array<std::uint16_t, k_most_variables> at{};
  for (const Ticks cost : table.costs) {
    if (!cannot_be(cost)) {
      for (std::size_t k = 0; k < k_most_variables; ++k) states_[k].push_back(at[k]);
      costs_.push_back(cost);
      least = std::min(least, cost);
    }
    for (int k = function.variables; k-- > 0;) {
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
  std::size_t entries = 0;
  for (const Function& function : functions_)
    entries += (function.end - function.begin) * static_cast<std::size_t>(function.variables);
  entries_.reserve(entries);
  for (int f = 0; f < std::ssize(functions_); ++f) {
    Function& function = functions_[f];
    for (int k = 0; k < function.variables; ++k) {
      Place place{f, k, false, false, function.message[k], 0};
      for (int other = 0; other < function.variables; ++other) {
        place.ahead |= position[function.scope[other]] > position[function.scope[k]];
        place.behind |= position[function.scope[other]] < position[function.scope[k]];
      }
      place.row = add_entries(place);
      if (k == 0) function.row = place.row;
      places_[function.scope[k]].push_back(place);
    }
  }
}

/// The function's entries by the states of the place's variable. Returns where their rows start.
std::size_t DualBound::add_entries(const Place& place) {
  const Function& function = functions_[place.function];
  const std::vector<std::uint16_t>& own = states_[place.index];
  const int a = place.index == 0 ? 1 : 0, b = place.index == 2 ? 1 : 2;
  const std::size_t row = entry_rows_.size(), begin = entries_.size();
  const auto states = static_cast<std::size_t>(states_of(function.scope[place.index]));
  entry_rows_.resize(row + states + 1, 0);
  std::size_t* end_of = &entry_rows_[row + 1];
  for (std::size_t e = function.begin; e < function.end; ++e) ++end_of[own[e]];
  std::exclusive_scan(end_of, end_of + states, end_of, begin);
  entry_rows_[row] = begin;
  entries_.resize(begin + function.end - function.begin);
  for (std::size_t e = function.begin; e < function.end; ++e) {
    const auto message = [&](int k) {
      return static_cast<std::uint32_t>(function.message[k] + states_[k][e]);
    };
    const std::uint32_t last = function.variables == 3 ? message(b) : k_no_message;
    entries_[end_of[own[e]]++] = {costs_[e], {message(a), last}};
  }
  return row;
}

/// Per state of the place's variable the least entry of its function, without the messages of that
/// variable.
void DualBound::find_minima(const Place& place, int states, Ticks* result) const {
  const Ticks* messages = now_.messages.data();
  const std::size_t* row = &entry_rows_[place.row];
  const Entry* entry = entries_.data() + row[0];
  for (int s = 0; s < states; ++s) {
    Ticks least = k_infinite;
    for (const Entry* end = entries_.data() + row[s + 1]; entry < end; ++entry) {
      least = std::min(least,
                       entry->cost + messages[entry->messages[0]] + messages[entry->messages[1]]);
    }
    result[s] = least;
  }
}

void DualBound::visit(int v, bool forwards) {
  Ticks* own = &now_.own[own_at_[v]];
  const int states = states_of(v);
  const std::vector<Place>& places = places_[v];
  int ahead = 0, behind = 0;
  for (const Place& place : places) {
    Ticks* minima = &minima_[place.message];
    // Where the last sweep came from there, nothing has changed since it was here.
    const bool has_changed = are_minima_stale_ || (forwards ? place.behind : place.ahead);
    if (has_changed) find_minima(place, states, minima);
    const Ticks* message = &now_.messages[place.message];
    for (int s = 0; s < states; ++s) own[s] = std::min(own[s] + minima[s] + message[s], k_infinite);
    ahead += forwards ? place.ahead : place.behind;
    behind += forwards ? place.behind : place.ahead;
  }
  const int parts = std::max({ahead, behind, 1});
  shares_.resize(static_cast<std::size_t>(states));
  Ticks least = k_infinite;
  for (int s = 0; s < states; ++s) {
    if (cannot_be(own[s])) {
      own[s] = shares_[s] = k_infinite;
    } else {
      shares_[s] = own[s] / parts;
      own[s] -= shares_[s] * ahead;
      least = std::min(least, shares_[s]);
    }
  }
  for (const Place& place : places) {
    const Ticks* minima = &minima_[place.message];
    Ticks* message = &now_.messages[place.message];
    const bool gets = forwards ? place.ahead : place.behind;
    for (int s = 0; s < states; ++s) {
      const Ticks share = gets ? shares_[s] : 0;
      message[s] = cannot_be(shares_[s]) ? k_infinite : share - minima[s];
    }
    now_.least[place.function] = gets || cannot_be(least) ? least : 0;
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
  are_minima_stale_ = false;
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
  are_minima_stale_ = true;
}

void DualBound::go_to(Position position) {
  now_ = std::move(position);
  are_minima_stale_ = true;
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
      find_minima(place, states_of(v), with.data());
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
  std::vector<int> numbers(now_.own.size(), -1);
  result.states.resize(order_.size());
  result.own.resize(order_.size());
  for (int v = 0; v < std::ssize(order_); ++v) {
    std::vector<int>& states = result.states[v];
    const Ticks least = least_own(v);
    states.reserve(bounds[v].size());
    result.own[v].reserve(bounds[v].size());
    for (int s = 0; s < states_of(v); ++s) {
      if (bounds[v][s] >= limit) continue;
      const std::size_t at = own_at_[v] + static_cast<std::size_t>(s);
      numbers[at] = static_cast<int>(states.size());
      states.push_back(s);
      result.own[v].push_back(now_.own[at] - least);
    }
  }
  std::uint64_t entries = 0;
  for (const Function& function : functions_) {
    std::uint64_t product = 1;
    int open = 0;
    for (int k = 0; k < function.variables; ++k) {
      product = saturating_product(product, result.states_of(function.scope[k]));
      open += result.is_open(function.scope[k]);
    }
    if (open > 1) entries = saturating_sum(entries, product);
  }
  if (entries > most_entries) return std::nullopt;
  result.functions.reserve(functions_.size());
  for (int f = 0; f < std::ssize(functions_); ++f) add_slack(f, numbers, result);
  for (const std::vector<Ticks>& own : result.own) {
    if (own.size() == 1) result.settled = join(result.settled, own.front());
  }
  return result;
}

/// Adds a function above its least entry, for the states that have a number (not -1); `numbers` are
/// of all variables' states, one variable after the other.
void DualBound::add_slack(int f, const std::vector<int>& numbers, SlackGraph& slack) const {
  const Function& function = functions_[f];
  Table result;
  std::array<std::size_t, k_most_variables> step{};
  std::array<const int*, k_most_variables> number{};
  std::size_t entries = 1;
  for (int k = function.variables; k-- > 0;) {
    step[k] = entries;
    number[k] = &numbers[own_at_[function.scope[k]]];
    entries *= slack.states_of(function.scope[k]);
  }
  result.scope.reserve(k_most_variables);
  for (int k = 0; k < function.variables; ++k) {
    if (slack.is_open(function.scope[k])) result.scope.push_back(function.scope[k]);
  }
  result.costs.assign(entries, k_infinite);
  for (std::size_t e = function.begin; e < function.end; ++e) {
    std::size_t at = 0;
    bool is_kept = true;
    for (int k = 0; k < function.variables; ++k) {
      const int kept = number[k][states_[k][e]];
      is_kept = is_kept && kept >= 0;
      at += step[k] * static_cast<std::size_t>(kept);
    }
    if (is_kept) result.costs[at] = cost_of(function, e) - now_.least[f];
  }
  if (entries == 0) return;
  if (result.scope.size() > 1) {
    slack.functions.push_back(std::move(result));
  } else if (result.scope.empty()) {
    slack.settled = join(slack.settled, result.costs.front());
  } else {
    std::vector<Ticks>& own = slack.own[result.scope.front()];
    std::transform(own.begin(), own.end(), result.costs.begin(), own.begin(), join);
  }
}

/// Per state of a function's variable its least entry where the other variables have the states
/// that they have got (-1: any).
void DualBound::find_minima(const Function& function, int index, const std::vector<int>& states,
                            Ticks* result) const {
  std::fill_n(result, states_of(function.scope[index]), k_infinite);
  std::size_t e = function.begin, end = function.end;
  const int first = index == 0 ? -1 : states[function.scope[0]];
  if (first >= 0) {
    const std::size_t* row = &entry_rows_[function.row];
    end = e + row[first + 1] - row[0];
    e += row[first] - row[0];
  }
  for (; e < end; ++e) {
    bool fits = true;
    for (int k = 1; k < function.variables; ++k) {
      const int wanted = states[function.scope[k]];
      fits = fits && (k == index || wanted < 0 || wanted == states_[k][e]);
    }
    if (!fits) continue;
    Ticks& least = result[states_[index][e]];
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
      if (place.behind || are_minima_stale_) {
        find_minima(functions_[place.function], place.index, states, with.data());
      } else {  // nothing that it has to do with has a state, nor changed since its last visit
        for (std::size_t s = 0; s < with.size(); ++s)
          with[s] = join(minima_[place.message + s], now_.messages[place.message + s]);
      }
      for (std::size_t s = 0; s < costs.size(); ++s) costs[s] = join(costs[s], with[s]);
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
    find_minima(function, 0, states, with.data());
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
