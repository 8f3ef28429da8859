// SPDX-License-Identifier: Apache-2.0
// What the states of a factor graph cost above a lower bound, as far as that is below a limit.
#pragma once

#include <cstddef>
#include <vector>

#include "core/solver/factor_graph.h"

namespace stab::solver {

/// Functions that are nowhere negative; their sum is the cost above `bound`. Variables have only
/// the states with which the cost can be below the limit, and are as many as in the factor graph.
struct SlackGraph {
  Ticks bound = 0;
  Ticks settled = 0;                     ///< of variables that have one state, whatever the others'
  std::vector<std::vector<int>> states;  ///< per variable: which of the factor graph's
  std::vector<std::vector<Ticks>> own;   ///< per variable and state; not read of a single state
  std::vector<Table> functions;          ///< of two or more variables, all of them open

  std::size_t states_of(int variable) const { return states[variable].size(); }
  bool is_open(int variable) const { return states[variable].size() > 1; }
};

}  // namespace stab::solver
