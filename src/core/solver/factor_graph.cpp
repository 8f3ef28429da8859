// SPDX-License-Identifier: Apache-2.0
#include "core/solver/factor_graph.h"

#include <array>
#include <cstddef>

namespace stab::solver {

Table tabulate(const FactorGraph& graph, const Factor& factor) {
  Table table{factor.scope, {}};
  std::size_t entries = 1;
  std::array<std::uint32_t, k_most_variables> values{};
  for (std::size_t k = 0; k < factor.scope.size(); ++k) {
    const Variable& variable = graph.variables[factor.scope[k]];
    entries *= static_cast<std::size_t>(variable.states());
    values[k] = variable.values.front();
  }
  table.costs.resize(entries);
  std::array<int, k_most_variables> states{};
  for (Ticks& cost : table.costs) {
    cost = factor.cost(values.data());
    for (std::size_t k = factor.scope.size(); k-- > 0;) {
      const Variable& variable = graph.variables[factor.scope[k]];
      states[k] = states[k] + 1 < variable.states() ? states[k] + 1 : 0;
      values[k] = variable.values[states[k]];
      if (states[k] != 0) break;
    }
  }
  return table;
}

Ticks total_cost(const FactorGraph& graph, const std::vector<int>& states) {
  Ticks total = 0;
  std::array<std::uint32_t, k_most_variables> values{};
  for (const Factor& factor : graph.factors) {
    for (std::size_t k = 0; k < factor.scope.size(); ++k)
      values[k] = graph.value(static_cast<std::size_t>(factor.scope[k]), states);
    total = add(total, factor.cost(values.data()));
  }
  return total;
}

}  // namespace stab::solver
