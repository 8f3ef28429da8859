// SPDX-License-Identifier: Apache-2.0
// The parts of the solver that bound costs, against trying all states of small factor graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "core/solver/dual_bound.h"
#include "core/solver/factor_graph.h"
#include "core/solver/frontier_order.h"
#include "core/solver/frontier_search.h"
#include "core/solver/mini_buckets.h"

namespace stab::solver {
namespace {

constexpr std::uint64_t k_any = 1'000'000;  ///< entries

int below(std::mt19937_64& random, int limit) {
  return static_cast<int>(random() % static_cast<std::uint64_t>(limit));
}

/// A function of these variables; one value in `impossible` cannot be (0: all can).
Factor random_factor(std::mt19937_64& random, const FactorGraph& graph, std::vector<int> scope,
                     int impossible) {
  std::size_t entries = 1;
  for (const int v : scope) entries *= graph.variables[v].values.size();
  auto costs = std::make_shared<std::vector<Ticks>>();
  for (std::size_t e = 0; e < entries; ++e) {
    const bool can_be = impossible == 0 || below(random, impossible) != 0;
    costs->push_back(can_be ? below(random, 40) : k_infinite);
  }
  std::vector<std::size_t> sizes;
  for (const int v : scope) sizes.push_back(graph.variables[v].values.size());
  return {std::move(scope), [costs, sizes](const std::uint32_t* values) {
            std::size_t entry = 0;
            for (std::size_t k = 0; k < sizes.size(); ++k) entry = entry * sizes[k] + values[k];
            return (*costs)[entry];
          }};
}

FactorGraph random_graph(std::mt19937_64& random, int impossible) {
  FactorGraph graph;
  const int count = 2 + below(random, 6);
  for (int v = 0; v < count; ++v) {
    Variable variable{v, {}};
    const int states = 1 + below(random, 4);
    for (int s = 0; s < states; ++s) variable.values.push_back(static_cast<std::uint32_t>(s));
    graph.variables.push_back(std::move(variable));
  }
  for (int v = 0; v < count; ++v) graph.factors.push_back(random_factor(random, graph, {v}, 0));
  const int functions = below(random, 2 * count);
  for (int f = 0; f < functions; ++f) {
    std::vector<int> all;
    for (int v = 0; v < count; ++v) all.push_back(v);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(std::min<std::size_t>(all.size(), 2 + random() % 2));
    graph.factors.push_back(random_factor(random, graph, all, impossible));
  }
  return graph;
}

/// Per variable and state the least cost with it, at most k_infinite; by trying all.
std::vector<std::vector<Ticks>> least_with(const FactorGraph& graph) {
  std::vector<std::vector<Ticks>> least;
  for (const Variable& variable : graph.variables) {
    least.emplace_back(variable.values.size(), k_infinite);
  }
  std::vector<int> states(graph.variables.size(), 0);
  for (std::size_t v = 0; v < states.size();) {
    const Ticks cost = total_cost(graph, states);
    for (std::size_t k = 0; k < states.size(); ++k) {
      least[k][states[k]] = std::min(least[k][states[k]], cost);
    }
    for (v = 0; v < states.size(); ++v) {
      if (++states[v] < graph.variables[v].states()) break;
      states[v] = 0;
    }
  }
  return least;
}

Ticks least_of(const std::vector<Ticks>& costs) {
  return *std::min_element(costs.begin(), costs.end());
}

TEST(DualBound, IsNeverAboveWhatTryingAllFinds) {
  std::mt19937_64 random(42);
  for (int round = 0; round < 2000; ++round) {
    SCOPED_TRACE(round);
    const FactorGraph graph = random_graph(random, round % 3 == 0 ? 4 : 0);
    const std::vector<std::vector<Ticks>> least = least_with(graph);
    DualBound dual(graph);
    Ticks before = dual.bound();
    for (int pass = 0; pass < 1 + round % 5; ++pass) {
      EXPECT_GE(dual.improve(), before);
      before = dual.bound();
    }
    EXPECT_LE(dual.bound(), least_of(least[0]));
    const std::vector<std::vector<Ticks>> bounds = dual.bounds_with();
    for (std::size_t v = 0; v < least.size(); ++v) {
      for (std::size_t s = 0; s < least[v].size(); ++s) EXPECT_LE(bounds[v][s], least[v][s]);
    }
    if (HasFailure()) return;
  }
}

TEST(DualBound, BoundsWhatIsLeftWhenStatesAreExcludedAndReturns) {
  std::mt19937_64 random(43);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    const FactorGraph graph = random_graph(random, round % 3 == 0 ? 4 : 0);
    const std::vector<std::vector<Ticks>> least = least_with(graph);
    DualBound dual(graph);
    dual.improve();
    const DualBound::Position start = dual.position();
    const Ticks bound = dual.bound();
    const int v = below(random, static_cast<int>(least.size()));
    for (int s = 0; s < std::ssize(least[v]); ++s) {
      dual.go_to(start);
      for (int other = 0; other < std::ssize(least[v]); ++other) {
        if (other == s) continue;
        dual.exclude(v, other);
        EXPECT_FALSE(dual.can_be(v, other));
      }
      for (int pass = 0; pass < 3; ++pass) dual.improve();
      EXPECT_GE(dual.bound(), bound);
      EXPECT_LE(dual.bound(), least[v][s]);
    }
    if (HasFailure()) return;
  }
}

/// What the states of a graph come to in its slack graph; k_infinite when it left one of them out.
Ticks slack_of(const SlackGraph& slack, const std::vector<int>& states) {
  Ticks sum = slack.settled;
  std::vector<std::size_t> kept;
  for (std::size_t v = 0; v < states.size(); ++v) {
    const auto place = std::find(slack.states[v].begin(), slack.states[v].end(), states[v]);
    if (place == slack.states[v].end()) return k_infinite;
    kept.push_back(static_cast<std::size_t>(place - slack.states[v].begin()));
    if (slack.is_open(static_cast<int>(v))) sum = add(sum, slack.own[v][kept.back()]);
  }
  for (const Table& function : slack.functions) {
    std::size_t entry = 0;
    for (const int v : function.scope) entry = entry * slack.states_of(v) + kept[v];
    sum = add(sum, function.costs[entry]);
  }
  return sum;
}

TEST(FrontierSearch, FindsTheLeastSlackOrSaysThatTheLimitIsReached) {
  std::mt19937_64 random(44);
  int solved = 0;
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(round);
    const FactorGraph graph = random_graph(random, round % 3 == 0 ? 4 : 0);
    const Ticks least = least_of(least_with(graph)[0]);
    DualBound dual(graph);
    for (int pass = 0; pass < round % 4; ++pass) dual.improve();
    // Below, at and above the least cost.
    const Ticks limit = std::min(least, Ticks{1000}) - 5 + below(random, 20);
    const SlackGraph slack = dual.slack(limit, k_any).value();
    if (limit <= slack.bound) continue;
    const std::size_t table_entries = round % 2 == 0 ? 1 + random() % 30 : 1'000'000;
    std::uint64_t entries = 0;
    const std::optional<LeastSlack> found =
        find_least_slack(slack, limit - slack.bound, {table_entries, 1'000'000}, entries);
    ASSERT_TRUE(found);
    if (least < limit) {
      ++solved;
      EXPECT_EQ(slack.bound + found->slack, least);
      EXPECT_EQ(total_cost(graph, found->states), least);
      EXPECT_EQ(slack_of(slack, found->states), found->slack);
    } else {
      EXPECT_GE(slack.bound + found->slack, limit);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(solved, 500);
}

TEST(DualBound, MakesNoTablesOfSlackThatAreTooLarge) {
  std::mt19937_64 random(47);
  for (int round = 0; round < 200; ++round) {
    const FactorGraph graph = random_graph(random, 0);
    const DualBound dual(graph);
    const std::optional<SlackGraph> all = dual.slack(k_infinite, k_any);
    std::uint64_t entries = 0;
    for (const Table& table : all->functions) entries += table.costs.size();
    EXPECT_TRUE(dual.slack(k_infinite, entries));
    EXPECT_TRUE(entries == 0 || !dual.slack(k_infinite, entries - 1));
  }
}

TEST(FrontierSearch, GivesUpWhereItMayNotSpendEnough) {
  std::mt19937_64 random(45);
  int given_up = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const FactorGraph graph = random_graph(random, 0);
    const Ticks least = least_of(least_with(graph)[0]);
    const SlackGraph slack = DualBound(graph).slack(k_infinite, k_any).value();
    std::uint64_t entries = 0;
    const std::uint64_t labels = 1 + random() % 100;
    const std::optional<LeastSlack> found =
        find_least_slack(slack, k_infinite, {8, labels}, entries);
    const bool has_choice = !find_frontier_order(slack).empty();
    EXPECT_EQ(entries > 0, has_choice);
    given_up += !found;
    if (!found) continue;
    EXPECT_EQ(slack.bound + found->slack, least);
  }
  EXPECT_GT(given_up, 50);
  EXPECT_LT(given_up, 250);
}

TEST(FrontierOrder, HasEachVariableWithAChoiceOnce) {
  std::mt19937_64 random(48);
  for (int round = 0; round < 300; ++round) {
    const FactorGraph graph = random_graph(random, 0);
    const SlackGraph slack =
        DualBound(graph).slack(round % 2 == 0 ? k_infinite : 40, k_any).value();
    std::vector<int> open;
    for (int v = 0; v < std::ssize(slack.states); ++v) {
      if (slack.is_open(v)) open.push_back(v);
    }
    std::vector<int> order = find_frontier_order(slack);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, open);
  }
}

TEST(MiniBuckets, BoundTheLeastSlackAndMeetItWhereTheTablesFit) {
  std::mt19937_64 random(46);
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE(round);
    const FactorGraph graph = random_graph(random, round % 3 == 0 ? 4 : 0);
    const Ticks least = least_of(least_with(graph)[0]);
    const SlackGraph slack = DualBound(graph).slack(k_infinite, k_any).value();
    const std::vector<int> order = find_frontier_order(slack);
    const auto bound = [&](std::size_t table_entries) {
      return std::min(
          slack.bound + eliminate_in_groups(slack, order, k_infinite, table_entries).bound,
          k_infinite);
    };
    const auto is_empty = [](const std::vector<int>& states) { return states.empty(); };
    if (std::any_of(slack.states.begin(), slack.states.end(), is_empty)) continue;
    EXPECT_LE(bound(1), least);
    EXPECT_LE(bound(20), least);
    EXPECT_EQ(bound(1'000'000), least);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stab::solver
