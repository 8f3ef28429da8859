// SPDX-License-Identifier: Apache-2.0
#include "core/solver/factor_graph.h"

#include <cstddef>

namespace stab::solver {

Table tabulate(const FactorGraph& graph, const Factor& factor) {
  Table table{factor.scope, {}};
  std::size_t entries = 1;
  std::vector<std::uint32_t> values;
  for (const int v : factor.scope) {
    entries *= static_cast<std::size_t>(graph.variables[v].states());
    values.push_back(graph.variables[v].values.front());
  }
  table.costs.reserve(entries);
  std::vector<int> states(factor.scope.size(), 0);
  for (std::size_t entry = 0; entry < entries; ++entry) {
    table.costs.push_back(factor.cost(values.data()));
    for (std::size_t k = states.size(); k-- > 0;) {
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
  std::vector<std::uint32_t> values;
  for (const Factor& factor : graph.factors) {
    values.clear();
    for (const int v : factor.scope) values.push_back(graph.variables[v].values[states[v]]);
    total = add(total, factor.cost(values.data()));
  }
  return total;
}

}  // namespace stab::solver
