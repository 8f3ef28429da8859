// SPDX-License-Identifier: Apache-2.0
#include "core/solver/encoding.h"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

namespace stab::solver {
namespace {

/// Sets of more backends than this are not variables: they have too many states.
constexpr int k_largest_set = 10;

class Encoder {
 public:
  Encoder(const Reduction& reduction, const Component& component, Encoding encoding)
      : reduction_(reduction), component_(component), encoding_(encoding) {
    for (const int op : component.ops) add_op(op);
    for (const int t : component.tensors) add_tensor(t);
  }

  FactorGraph take() { return std::move(graph_); }

 private:
  void add_op(int op) {
    const OpenOp& open = reduction_.ops()[op];
    Variable variable{op, {}};
    for (int b = 0; b < reduction_.problem().backends; ++b) {
      if (has(open.domain, b)) variable.values.push_back(static_cast<std::uint32_t>(b));
    }
    const int v = add_variable(std::move(variable));
    add_factor({v},
               [choices = &open](const std::uint32_t* values) { return choices->cost[values[0]]; });
  }

  void add_tensor(int t) {
    const std::vector<int> readers = reduction_.open_readers(t);
    if (std::ssize(readers) <= encoding_.direct_readers) return add_direct(t, readers);
    const bool sets_fit = std::popcount(possible_targets(t)) <= k_largest_set;
    if (encoding_.shared == SharedTensor::split || !sets_fit) return add_split(t, readers);
    if (encoding_.shared == SharedTensor::unite) return add_price(t, unite(readers));
    add_offer(t, readers);
  }

  /// One function of the producer, where it is open, and all readers.
  void add_direct(int t, const std::vector<int>& readers) {
    std::vector<int> scope = producer_scope(t);
    for (const int reader : readers) scope.push_back(component_.place_of(reader));
    add_factor(std::move(scope),
               [origin = source(t), n = readers.size()](const std::uint32_t* values) {
                 const std::uint32_t* targets = values + (origin.open ? 1 : 0);
                 BackendSet set = 0;
                 for (std::size_t k = 0; k < n; ++k) set |= 1U << targets[k];
                 return origin.price(values, set);
               });
  }

  /// A set variable whose states are the sets worth offering: all that is free from some source,
  /// and any more.
  void add_offer(int t, const std::vector<int>& readers) {
    const BackendSet relevant = relevant_targets(t);
    std::vector<BackendSet> free;
    for (int f = 0; f <= reduction_.problem().builtin(); ++f) {
      if (has(reduction_.sources(t), f)) free.push_back(free_targets(t, f) & relevant);
    }
    Variable variable;
    for (BackendSet set = relevant;; set = (set - 1) & relevant) {
      const auto is_part = [set](BackendSet part) { return (part & set) == part; };
      if (std::any_of(free.begin(), free.end(), is_part)) variable.values.push_back(set);
      if (set == 0) break;
    }
    const int offered = add_variable(std::move(variable));
    add_price(t, offered);
    for (const int reader : readers) {
      add_factor({component_.place_of(reader), offered}, [relevant](const std::uint32_t* values) {
        return has(relevant, static_cast<int>(values[0])) &&
                       !has(values[1], static_cast<int>(values[0]))
                   ? k_infinite
                   : 0;
      });
    }
  }

  /// The variable of the set that the readers are on, last reader first, shared with other tensors.
  int unite(const std::vector<int>& readers) {
    int united = component_.place_of(readers.back());
    bool is_op = true;
    for (std::size_t k = readers.size() - 1; k-- > 0;) {
      const int next = component_.place_of(readers[k]);
      const auto [place, is_new] = unions_.try_emplace({united, next}, -1);
      if (is_new) place->second = add_union(united, is_op, next);
      united = place->second;
      is_op = false;
    }
    return united;
  }

  int add_union(int before, bool before_is_op, int reader) {
    Variable variable;
    const auto as_set = [before_is_op](std::uint32_t value) {
      return before_is_op ? 1U << value : value;
    };
    for (const std::uint32_t set : graph_.variables[before].values) {
      for (const std::uint32_t backend : graph_.variables[reader].values) {
        variable.values.push_back(as_set(set) | 1U << backend);
      }
    }
    std::sort(variable.values.begin(), variable.values.end());
    variable.values.erase(std::unique(variable.values.begin(), variable.values.end()),
                          variable.values.end());
    const int united = add_variable(std::move(variable));
    add_factor({before, reader, united}, [as_set](const std::uint32_t* values) {
      return (as_set(values[0]) | 1U << values[1]) == values[2] ? 0 : k_infinite;
    });
    return united;
  }

  /// What bringing tensor `t` to the backends of a set variable costs.
  void add_price(int t, int set_variable) {
    std::vector<int> scope = producer_scope(t);
    scope.push_back(set_variable);
    add_factor(std::move(scope), [origin = source(t)](const std::uint32_t* values) {
      return origin.price(values, values[origin.open ? 1 : 0]);
    });
  }

  void add_split(int t, const std::vector<int>& readers) {
    const BackendSet relevant = relevant_targets(t);
    for (int target = 0; target < reduction_.problem().backends; ++target) {
      if (!has(relevant, target)) continue;
      const int brought = add_variable({-1, {0, 1U << target}});
      add_price(t, brought);
      for (const int reader : readers) {
        if (!has(reduction_.ops()[reader].domain, target)) continue;
        add_factor({component_.place_of(reader), brought}, [target](const std::uint32_t* values) {
          return static_cast<int>(values[0]) == target && values[1] == 0 ? k_infinite : 0;
        });
      }
    }
  }

  /// Where a tensor comes from, and what it costs to bring it to a set of backends.
  struct Source {
    const Reduction* reduction;
    int tensor;
    bool open;  ///< the first value says where it comes from
    int from;

    Ticks price(const std::uint32_t* values, BackendSet targets) const {
      const int origin = open ? static_cast<int>(values[0]) : from;
      Ticks cost = 0;
      for (int b = 0; targets >> b != 0; ++b) {
        if (has(targets, b)) cost = add(cost, reduction->weight(tensor, origin, b));
      }
      return cost;
    }
  };

  Source source(int t) const {
    const OpenTensor& tensor = reduction_.tensors()[t];
    return {&reduction_, t, tensor.producer != k_builtin, tensor.from};
  }

  std::vector<int> producer_scope(int t) const {
    const int producer = reduction_.tensors()[t].producer;
    return producer == k_builtin ? std::vector<int>{}
                                 : std::vector<int>{component_.place_of(producer)};
  }

  BackendSet free_targets(int t, int from) const {
    BackendSet free = 0;
    for (int b = 0; b < reduction_.problem().backends; ++b) {
      if (reduction_.weight(t, from, b) == 0) free |= 1U << b;
    }
    return free;
  }

  /// Targets that an open reader may be on and that cost something from some source.
  BackendSet relevant_targets(int t) const {
    BackendSet relevant = 0;
    for (int f = 0; f <= reduction_.problem().builtin(); ++f) {
      if (has(reduction_.sources(t), f)) relevant |= ~free_targets(t, f);
    }
    return relevant & possible_targets(t);
  }

  BackendSet possible_targets(int t) const {
    BackendSet possible = 0;
    for (int b = 0; b < reduction_.problem().backends; ++b) {
      if (reduction_.tensors()[t].possible[b] > 0) possible |= 1U << b;
    }
    return possible;
  }

  int add_variable(Variable variable) {
    graph_.variables.push_back(std::move(variable));
    return static_cast<int>(graph_.variables.size()) - 1;
  }

  void add_factor(std::vector<int> scope, std::function<Ticks(const std::uint32_t*)> cost) {
    graph_.factors.push_back({std::move(scope), std::move(cost)});
  }

  const Reduction& reduction_;
  const Component& component_;
  Encoding encoding_;
  FactorGraph graph_;
  std::map<std::pair<int, int>, int> unions_;
};

}  // namespace

FactorGraph encode(const Reduction& reduction, const Component& component, Encoding encoding) {
  return Encoder(reduction, component, encoding).take();
}

}  // namespace stab::solver
