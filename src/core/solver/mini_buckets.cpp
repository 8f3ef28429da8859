// SPDX-License-Identifier: Apache-2.0
#include "core/solver/mini_buckets.h"

#include <algorithm>
#include <utility>

namespace stab::solver {
namespace {

/// How to walk through a table while those of a larger scope change.
struct Walk {
  const Ticks* at = nullptr;
  std::vector<std::size_t> steps;  ///< per variable of the larger scope
};

class Elimination {
 public:
  Elimination(const SlackGraph& graph, const std::vector<int>& order, Ticks limit,
              std::size_t table_limit)
      : graph_(graph),
        limit_(limit),
        table_limit_(table_limit),
        position_(order.size()),
        buckets_(order.size()) {
    for (int k = 0; k < std::ssize(order); ++k) position_[order[k]] = k;
    result_.increases.resize(order.size());
    for (const Table& function : graph.functions) place(in_order(function));
    for (std::size_t k = order.size(); k-- > 0;) eliminate(order[k]);
  }

  MiniBuckets take() { return std::move(result_); }

 private:
  /// Functions that are eliminated together.
  struct Group {
    std::vector<int> scope;
    std::size_t entries = 0;
    std::vector<Table> tables;
  };

  bool is_earlier(int a, int b) const { return position_[a] < position_[b]; }

  std::size_t entries_of(const std::vector<int>& scope) const {
    std::size_t entries = 1;
    for (const int v : scope)
      entries = entries > (std::size_t{1} << 40) ? entries : entries * graph_.states_of(v);
    return entries;
  }

  /// To the bucket of the variable that is eliminated first.
  void place(Table table) {
    if (table.scope.empty()) {
      result_.bound = std::min(result_.bound + table.costs.front(), limit_);
    } else {
      buckets_[table.scope.back()].push_back(std::move(table));
    }
  }

  /// The same function with the scope as the variables are assigned.
  Table in_order(const Table& function) const {
    Table result{function.scope, {}};
    std::sort(result.scope.begin(), result.scope.end(),
              [this](int a, int b) { return is_earlier(a, b); });
    result.costs.resize(function.costs.size());
    const Walk walk = walk_of(function, result.scope);
    combine({walk}, result.scope, result.costs.data());
    return result;
  }

  Walk walk_of(const Table& table, const std::vector<int>& scope) const {
    Walk walk{table.costs.data(), std::vector<std::size_t>(scope.size(), 0)};
    std::size_t step = 1;
    for (std::size_t k = table.scope.size(); k-- > 0;) {
      const auto axis = std::find(scope.begin(), scope.end(), table.scope[k]) - scope.begin();
      walk.steps[static_cast<std::size_t>(axis)] = step;
      step *= graph_.states_of(table.scope[k]);
    }
    return walk;
  }

  /// The sums of what the walks see, at most the limit.
  void combine(std::vector<Walk> walks, const std::vector<int>& scope, Ticks* sums) const {
    const std::size_t outer = scope.size() < 2 ? 0 : scope.size() - 2;
    const std::size_t rows = scope.size() < 2 ? 1 : graph_.states_of(scope[outer]);
    const std::size_t block = rows * graph_.states_of(scope.back());
    std::size_t blocks = 1;
    for (std::size_t k = 0; k < outer; ++k) blocks *= graph_.states_of(scope[k]);
    std::vector<std::size_t> at(outer, 0);
    for (std::size_t left = blocks; left > 0; --left, sums += block) {
      std::fill_n(sums, block, 0);
      for (const Walk& walk : walks) add_block(walk, walk.steps[outer], rows, block / rows, sums);
      for (std::size_t k = outer; k-- > 0;) {
        const bool wraps = ++at[k] == graph_.states_of(scope[k]);
        for (Walk& walk : walks) {
          walk.at += walk.steps[k];
          if (wraps) walk.at -= walk.steps[k] * graph_.states_of(scope[k]);
        }
        if (!wraps) break;
        at[k] = 0;
      }
    }
  }

  /// Adds what a walk sees while the states of the last two variables change.
  void add_block(const Walk& walk, std::size_t row_step, std::size_t rows, std::size_t own,
                 Ticks* sums) const {
    const std::size_t step = walk.steps.back();
    for (std::size_t row = 0; row < rows; ++row, sums += own) {
      const Ticks* costs = walk.at + row * row_step;
      for (std::size_t s = 0; s < own; ++s) sums[s] = std::min(sums[s] + costs[s * step], limit_);
    }
  }

  void eliminate(int v) {
    std::vector<Table> tables = std::move(buckets_[v]);
    tables.push_back({{v}, graph_.own[v]});
    std::stable_sort(tables.begin(), tables.end(), [](const Table& a, const Table& b) {
      return a.costs.size() > b.costs.size();
    });
    std::vector<Group> groups;
    for (Table& table : tables) add_to_group(groups, std::move(table));
    for (const Group& group : groups) eliminate(v, group);
  }

  void add_to_group(std::vector<Group>& groups, Table table) const {
    for (Group& group : groups) {
      std::vector<int> scope;
      std::set_union(group.scope.begin(), group.scope.end(), table.scope.begin(), table.scope.end(),
                     std::back_inserter(scope), [this](int a, int b) { return is_earlier(a, b); });
      const std::size_t entries = entries_of(scope);
      if (entries > std::max(table_limit_, group.entries)) continue;
      group.scope = std::move(scope);
      group.entries = entries;
      group.tables.push_back(std::move(table));
      return;
    }
    Group& group = groups.emplace_back();
    group.scope = table.scope;
    group.entries = table.costs.size();
    group.tables.push_back(std::move(table));
  }

  void eliminate(int v, const Group& group) {
    Increase increase{group.scope, std::vector<Ticks>(group.entries)};
    std::vector<Walk> walks;
    for (const Table& table : group.tables) walks.push_back(walk_of(table, group.scope));
    combine(std::move(walks), group.scope, increase.costs.data());
    const std::size_t own = graph_.states_of(v);
    Table message{{group.scope.begin(), group.scope.end() - 1}, {}};
    message.costs.reserve(group.entries / std::max<std::size_t>(own, 1));
    for (auto row = increase.costs.begin(); row != increase.costs.end();
         row += static_cast<std::ptrdiff_t>(own)) {
      const auto end = row + static_cast<std::ptrdiff_t>(own);
      const Ticks least = *std::min_element(row, end);
      for (auto cost = row; cost != end; ++cost) *cost -= least;
      message.costs.push_back(least);
    }
    result_.entries += group.entries * group.tables.size();
    result_.increases[v].push_back(std::move(increase));
    place(std::move(message));
  }

  const SlackGraph& graph_;
  Ticks limit_;
  std::size_t table_limit_;
  std::vector<int> position_;
  std::vector<std::vector<Table>> buckets_;  ///< per variable
  MiniBuckets result_;
};

}  // namespace

MiniBuckets eliminate_in_groups(const SlackGraph& graph, const std::vector<int>& order, Ticks limit,
                                std::size_t table_limit) {
  return Elimination(graph, order, limit, table_limit).take();
}

}  // namespace stab::solver
