// SPDX-License-Identifier: Apache-2.0
// A cost as a sum of small functions of a few variables each: what elimination and branch and bound
// work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/solver/arithmetic.h"

namespace stab::solver {

/// A variable: an operation's backend, or a set of backends that a tensor is brought to.
struct Variable {
  int op = -1;                        ///< the operation, or -1
  std::vector<std::uint32_t> values;  ///< what each state means: a backend, or a set of backends

  int states() const { return static_cast<int>(values.size()); }
};

/// Most variables of a factor.
inline constexpr std::size_t k_most_variables = 3;

/// A function of a few variables; `cost` takes what their states mean, in the order of `scope`.
struct Factor {
  std::vector<int> scope;  ///< indices of variables, each once
  std::function<Ticks(const std::uint32_t* values)> cost;
};

/// The sum of the factors is the cost.
struct FactorGraph {
  std::vector<Variable> variables;
  std::vector<Factor> factors;

  /// What a variable's state means.
  std::uint32_t value(std::size_t variable, const std::vector<int>& states) const {
    return variables[variable].values[states[variable]];
  }
};

/// A function as numbers: row-major over `scope`, the last variable's states side by side.
struct Table {
  std::vector<int> scope;
  std::vector<Ticks> costs;
};

/// All values of a factor.
Table tabulate(const FactorGraph& graph, const Factor& factor);

/// The cost of one state per variable, at most k_infinite.
Ticks total_cost(const FactorGraph& graph, const std::vector<int>& states);

}  // namespace stab::solver
