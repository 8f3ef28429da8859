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
  std::vector<std::vector<int>> states;  ///< per variable: which of the factor graph's
  std::vector<std::vector<Ticks>> own;   ///< per variable and state
  std::vector<Table> functions;          ///< of two or more variables

  std::size_t states_of(int variable) const { return states[variable].size(); }
};

}  // namespace stab::solver
