// SPDX-License-Identifier: Apache-2.0
// A lower bound of a factor graph by moving costs between its functions, and a good guess of the
// cheapest states.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/solver/factor_graph.h"
#include "core/solver/slack_graph.h"

namespace stab::solver {

/// Costs are moved in whole ticks, so that the sum stays the same for all states and the bound is
/// exact. Each pass visits the variables in one direction, draws into each what its functions can
/// spare, and hands it on to those ahead: sequential reweighted message passing (Kolmogorov 2015;
/// for functions of two variables it is TRW-S, 2006). Functions have up to three variables.
class DualBound {
 public:
  explicit DualBound(const FactorGraph& graph);

  /// One pass forwards and one backwards. Returns the bound, which never falls.
  Ticks improve();

  Ticks bound() const { return bound_; }

  /// Per variable and state: a bound of the cost with it.
  std::vector<std::vector<Ticks>> bounds_with() const;

  /// From now on `variable` does not have `state`.
  void exclude(int variable, int state);

  /// Where the costs have been moved to, and what is excluded.
  struct Position {
    std::vector<Ticks> own;
    std::vector<Ticks> messages;
    std::vector<Ticks> least;
  };
  const Position& position() const { return now_; }
  void go_to(Position position);

  bool can_be(int variable, int state) const {
    return now_.own[own_at_[variable] + static_cast<std::size_t>(state)] < k_infinite / 2;
  }

  /// States chosen one variable after the other.
  std::vector<int> guess() const;

  /// Per variable: how far its own cost and its functions' are from their minima in `states`. All
  /// are zero only when the states cost no more than the bound.
  std::vector<Ticks> doubt(const std::vector<int>& states) const;

  /// What states cost above the bound of this moment, as far as that can come to less than `limit`
  /// in all. Absent when its functions have more than `most_entries`.
  std::optional<SlackGraph> slack(Ticks limit, std::uint64_t most_entries) const;

  /// What a call of improve() counts for, in table entries: those that it looks at when it has to
  /// look at all.
  std::uint64_t states_of_a_pass() const { return (now_.own.size() + costs_.size()) * 4; }

 private:
  /// A function of two or three variables: only what can be, since "the union of these two sets" is
  /// possible for few triples. Its cost is what it was at first plus one message per variable; the
  /// messages of what is excluded are k_infinite, of which the sum takes three at most.
  struct Function {
    int variables = 0;
    std::array<int, k_most_variables> scope{};
    std::array<std::size_t, k_most_variables> message{};  ///< where each variable's messages start
    std::size_t begin = 0;  ///< of its entries, which are in the order of its variables' states
    std::size_t end = 0;
    std::size_t row = 0;  ///< in entry_rows_, of the first variable's first state
  };

  /// A function of a variable, and which of its variables that is.
  struct Place {
    int function = 0;
    int index = 0;
    bool ahead = false;  ///< another variable of the function comes later in the order
    bool behind = false;
    std::size_t message = 0;  ///< where the variable's messages to the function start
    std::size_t row = 0;      ///< in entry_rows_, of the variable's first state
  };

  /// An entry of a function, as one of its variables looks at it.
  struct Entry {
    Ticks cost = 0;
    std::array<std::uint32_t, k_most_variables - 1> messages{};  ///< of the other variables
  };

  /// The message of a variable that a function does not have: always zero.
  static constexpr std::uint32_t k_no_message = 0;

  void add_function(const Table& table);
  void set_order();
  void visit(int v, bool forwards);
  Ticks sum_of_minima() const;
  Ticks cost_of(const Function& function, std::size_t entry) const;
  std::size_t add_entries(const Place& place);
  void find_minima(const Place& place, int states, Ticks* result) const;
  void find_minima(const Function& function, int index, const std::vector<int>& states,
                   Ticks* result) const;
  Ticks least_own(int v) const;
  void add_slack(int f, const std::vector<int>& numbers, SlackGraph& slack) const;
  int states_of(int v) const { return static_cast<int>(own_at_[v + 1] - own_at_[v]); }

  const FactorGraph& graph_;
  std::vector<std::size_t> own_at_;  ///< per variable: where its states start
  std::vector<Function> functions_;
  std::vector<Ticks> costs_;  ///< of all functions' entries, as they were at first
  std::array<std::vector<std::uint16_t>, k_most_variables> states_;  ///< of each entry's variables
  std::vector<Entry> entries_;           ///< of all places, each by its variable's states
  std::vector<std::size_t> entry_rows_;  ///< per place and state: where these start; and the end
  Position now_;
  std::vector<std::vector<Place>> places_;  ///< per variable
  std::vector<int> order_;
  Ticks bound_ = 0;
  std::vector<Ticks> minima_;  ///< per message: what the last visit of its variable found
  bool are_minima_stale_ = true;
  std::vector<Ticks> shares_;  ///< of one visit: per state
};

/// Whether passes go on: they brought at least one `share`th of what is `missing` to the best
/// answer.
inline bool worth_going_on(Ticks brought, Ticks missing, Ticks share) {
  return missing > 0 && brought > (missing - 1) / share;
}

}  // namespace stab::solver
