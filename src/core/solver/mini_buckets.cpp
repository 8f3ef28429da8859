// SPDX-License-Identifier: Apache-2.0
#include "core/solver/mini_buckets.h"

#include <algorithm>
#include <utility>

namespace stab::solver {
namespace {

/// How to walk through a table while those of a larger scope change.
struct Walk {
  const Ticks* at = nullptr;
  std::array<std::uint32_t, k_most_in_scope> steps{};  ///< per variable of the larger scope
};

class Elimination {
 public:
  Elimination(const SlackGraph& graph, const std::vector<int>& order, Ticks limit,
              std::size_t table_limit)
      : limit_(limit), table_limit_(table_limit), first_(order.size(), -1) {
    for (const int v : order) states_.push_back(static_cast<std::uint32_t>(graph.states_of(v)));
    result_.bound = std::min(graph.settled, limit_);
    result_.increases_end.assign(order.size() + 1, 0);
    place_functions(graph, order);
    for (std::size_t step = order.size(); step-- > 0;) {
      add_to_bucket(static_cast<int>(step),
                    keep({{{static_cast<int>(step)}, 1}, 0, 0}, graph.own[order[step]]));
      eliminate(step);
      result_.increases_end[step] = result_.increases.size();
    }
  }

  MiniBuckets take() { return std::move(result_); }

 private:
  /// Tables that are eliminated together.
  struct Group {
    OrderedScope scope;
    std::size_t entries = 0;
    std::vector<int> tables;
  };

  void place_functions(const SlackGraph& graph, const std::vector<int>& order) {
    std::vector<int> place_of(graph.states.size(), -1);
    for (int k = 0; k < std::ssize(order); ++k) place_of[order[k]] = k;
    std::size_t entries = 0;
    for (const Table& function : graph.functions) entries += function.costs.size();
    result_.costs.reserve(8 * entries);
    for (const Table& function : graph.functions) place(in_order(function, place_of));
  }

  std::size_t entries_of(const OrderedScope& scope) const {
    std::size_t entries = 1;
    for (const int k : scope)
      entries = entries > (std::size_t{1} << 40) ? entries : entries * states_[k];
    return entries;
  }

  std::size_t make_room(std::size_t entries) {
    const std::size_t begin = result_.costs.size();
    result_.costs.resize(begin + entries);
    return begin;
  }

  OrderedTable keep(OrderedTable table, const std::vector<Ticks>& costs) {
    table.entries = costs.size();
    table.begin = make_room(table.entries);
    std::copy(costs.begin(), costs.end(), &result_.costs[table.begin]);
    return table;
  }

  /// To the bucket of the variable that is eliminated first.
  void place(const OrderedTable& table) {
    if (table.scope.size == 0) {
      result_.bound = std::min(result_.bound + result_.costs[table.begin], limit_);
    } else {
      add_to_bucket(table.scope.back(), table);
    }
  }

  void add_to_bucket(int step, const OrderedTable& table) {
    next_.push_back(first_[step]);
    first_[step] = static_cast<int>(tables_.size());
    tables_.push_back(table);
  }

  /// The same function with the scope as the variables are assigned.
  OrderedTable in_order(const Table& function, const std::vector<int>& place_of) {
    OrderedTable result;
    result.scope.size = function.scope.size();
    std::array<int, k_most_in_scope> places{};
    for (std::size_t k = 0; k < function.scope.size(); ++k) places[k] = place_of[function.scope[k]];
    result.scope.places = places;
    std::sort(result.scope.places.begin(), result.scope.places.begin() + result.scope.size);
    result.entries = function.costs.size();
    result.begin = make_room(result.entries);
    walks_.assign(
        1, walk_of(function.costs.data(), {places.data(), function.scope.size()}, result.scope));
    combine(result.scope, &result_.costs[result.begin]);
    return result;
  }

  Walk walk_of(const Ticks* costs, std::span<const int> own, const OrderedScope& scope) const {
    Walk walk{costs, {}};
    std::uint32_t step = 1;
    for (std::size_t k = own.size(); k-- > 0;) {
      const auto axis = std::find(scope.begin(), scope.end(), own[k]) - scope.begin();
      walk.steps[static_cast<std::size_t>(axis)] = step;
      step *= states_[own[k]];
    }
    return walk;
  }

  /// The sums of what the walks see, at most the limit.
  void combine(const OrderedScope& scope, Ticks* sums) {
    const std::size_t outer = scope.size < 2 ? 0 : scope.size - 2;
    const std::size_t rows = scope.size < 2 ? 1 : states_[scope[outer]];
    const std::size_t own = states_[scope.back()];
    std::size_t blocks = 1;
    for (std::size_t k = 0; k < outer; ++k) blocks *= states_[scope[k]];
    std::array<std::size_t, k_most_in_scope> at{};
    for (std::size_t left = blocks; left > 0; --left, sums += rows * own) {
      std::fill_n(sums, rows * own, 0);
      for (const Walk& walk : walks_)
        add_block(walk, walk.steps[outer], walk.steps[scope.size - 1], rows, own, sums);
      for (std::size_t k = outer; k-- > 0;) {
        const bool wraps = ++at[k] == states_[scope[k]];
        for (Walk& walk : walks_) {
          if (wraps) {
            walk.at -= walk.steps[k] * (states_[scope[k]] - 1);
          } else {
            walk.at += walk.steps[k];
          }
        }
        if (!wraps) break;
        at[k] = 0;
      }
    }
  }

  /// Adds what a walk sees while the states of the last two variables change.
  void add_block(const Walk& walk, std::size_t row_step, std::size_t step, std::size_t rows,
                 std::size_t own, Ticks* sums) const {
    for (std::size_t row = 0; row < rows; ++row, sums += own) {
      const Ticks* costs = walk.at + row * row_step;
      for (std::size_t s = 0; s < own; ++s) sums[s] = std::min(sums[s] + costs[s * step], limit_);
    }
  }

  /// Largest tables first.
  void eliminate(std::size_t step) {
    bucket_.clear();
    for (int t = first_[step]; t >= 0; t = next_[t]) bucket_.push_back(t);
    std::sort(bucket_.begin(), bucket_.end(), [this](int a, int b) {
      return tables_[a].entries != tables_[b].entries ? tables_[a].entries > tables_[b].entries
                                                      : a < b;
    });
    groups_in_use_ = 0;
    for (const int t : bucket_) add_to_group(t);
    for (std::size_t g = 0; g < groups_in_use_; ++g) eliminate(groups_[g]);
  }

  void add_to_group(int t) {
    const OrderedTable& table = tables_[t];
    for (std::size_t g = 0; g < groups_in_use_; ++g) {
      Group& group = groups_[g];
      if (!unite(group.scope, table.scope)) continue;
      const std::size_t entries = entries_of(united_);
      if (entries > std::max(table_limit_, group.entries)) continue;
      group.scope = united_;
      group.entries = entries;
      group.tables.push_back(t);
      return;
    }
    if (groups_in_use_ == groups_.size()) groups_.emplace_back();
    Group& group = groups_[groups_in_use_++];
    group.scope = table.scope;
    group.entries = table.entries;
    group.tables.assign(1, t);
  }

  /// False when these are too many.
  bool unite(const OrderedScope& a, const OrderedScope& b) {
    std::array<int, 2 * k_most_in_scope> all;
    const auto end = std::set_union(a.begin(), a.end(), b.begin(), b.end(), all.begin());
    united_.size = static_cast<std::size_t>(end - all.begin());
    if (united_.size > k_most_in_scope) return false;
    std::copy(all.begin(), end, united_.places.begin());
    return true;
  }

  void eliminate(const Group& group) {
    OrderedTable increase{group.scope, make_room(group.entries), group.entries};
    const std::size_t own = states_[group.scope.back()];
    OrderedTable message{group.scope, 0, group.entries / own};
    --message.scope.size;
    message.begin = make_room(message.entries);
    walks_.clear();
    for (const int t : group.tables) {
      const OrderedTable& table = tables_[t];
      walks_.push_back(walk_of(&result_.costs[table.begin], {table.scope.begin(), table.scope.size},
                               group.scope));
    }
    Ticks* row = &result_.costs[increase.begin];
    combine(group.scope, row);
    for (std::size_t e = 0; e < message.entries; ++e, row += own) {
      const Ticks least = *std::min_element(row, row + own);
      for (std::size_t s = 0; s < own; ++s) row[s] -= least;
      result_.costs[message.begin + e] = least;
    }
    result_.entries += group.entries * group.tables.size();
    result_.increases.push_back(increase);
    place(message);
  }

  Ticks limit_;
  std::size_t table_limit_;
  std::vector<std::uint32_t> states_;  ///< per step: of its variable
  std::vector<OrderedTable> tables_;   ///< of all buckets
  std::vector<int> first_;             ///< per step: the last table that came to its bucket, or -1
  std::vector<int> next_;              ///< per table: the one that came to its bucket before, or -1
  MiniBuckets result_;
  // Kept to save allocations:
  std::vector<int> bucket_;
  std::vector<Group> groups_;
  std::size_t groups_in_use_ = 0;
  std::vector<Walk> walks_;
  OrderedScope united_;
};

}  // namespace

MiniBuckets eliminate_in_groups(const SlackGraph& graph, const std::vector<int>& order, Ticks limit,
                                std::size_t table_limit) {
  return Elimination(graph, order, limit, table_limit).take();
}

}  // namespace stab::solver
