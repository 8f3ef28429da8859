// SPDX-License-Identifier: Apache-2.0
// A lower bound of a factor graph by moving costs between its functions, and a good guess of the
// cheapest states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/solver/factor_graph.h"

namespace stab::solver {

/// Costs are moved in whole ticks, so that the sum stays the same for all states and the bound is
/// exact. Each pass visits the variables in one direction, draws into each what its functions can
/// spare, and hands it on to those ahead: sequential reweighted message passing (Kolmogorov 2015;
/// for functions of two variables it is TRW-S, 2006).
class DualBound {
 public:
  explicit DualBound(const FactorGraph& graph);

  /// One pass forwards and one backwards. Returns the bound, which never falls.
  Ticks improve();

  Ticks bound() const { return bound_; }

  /// Per operation's variable (they come first) and state: a bound of the cost with it.
  std::vector<std::vector<Ticks>> bounds_with() const;

  /// States chosen one variable after the other.
  std::vector<int> guess() const;

  /// Per variable: how far its own cost and its functions' are from their minima in `states`. All
  /// are zero only when the states cost no more than the bound.
  std::vector<Ticks> doubt(const std::vector<int>& states) const;

  /// Table entries that a call of improve() looks at.
  std::uint64_t states_of_a_pass() const { return entries_ * 4; }

 private:
  /// A function of two or more variables: only what can be, since "the union of these two sets" is
  /// possible for few triples.
  struct Entries {
    std::vector<int> scope;
    std::vector<std::vector<std::uint16_t>> states;  ///< per variable of the scope, of each entry
    std::vector<Ticks> costs;
  };

  /// A function of a variable, and which of its states that variable's is.
  struct Place {
    int function = 0;
    std::size_t index = 0;
    bool ahead = false;  ///< another variable of the function comes later in the order
    bool behind = false;
  };

  void add_function(const Table& table);
  void set_order();
  void visit(int v, bool forwards);
  Ticks sum_of_minima() const;
  void find_minima(const Place& place, std::vector<Ticks>& result) const;
  void shift(const Place& place, const std::vector<Ticks>& by);
  Ticks cheapest_with(const Place& place, int state, const std::vector<int>& states) const;

  const FactorGraph& graph_;
  std::vector<std::vector<Ticks>> own_;  ///< per variable and state
  std::vector<Entries> functions_;
  std::vector<std::vector<Place>> places_;
  std::vector<int> order_;
  Ticks bound_ = 0;
  std::uint64_t entries_ = 0;  ///< of all functions, those that can be
  /// Of one visit: what is added to each place's function, per state; kept to save allocations.
  std::vector<std::vector<Ticks>> moves_;
};

/// Whether passes go on: they brought at least one `share`th of what is `missing` to the best
/// answer.
inline bool worth_going_on(Ticks brought, Ticks missing, Ticks share) {
  return missing > 0 && brought > (missing - 1) / share;
}

}  // namespace stab::solver
