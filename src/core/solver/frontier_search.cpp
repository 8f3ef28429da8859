// SPDX-License-Identifier: Apache-2.0
#include "core/solver/frontier_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/solver/frontier_order.h"
#include "core/solver/mini_buckets.h"

namespace stab::solver {
namespace {

/// States of the variables of a frontier, packed.
constexpr int k_key_words = 2;
using Key = std::array<std::uint64_t, k_key_words>;

/// Where a key holds the state of a variable.
struct Slot {
  int word = 0;
  int shift = 0;
  int bits = 0;

  std::uint64_t mask() const { return ((std::uint64_t{1} << bits) - 1) << shift; }
  std::uint64_t state(const Key& key) const { return (key[word] & mask()) >> shift; }
};

/// A partial assignment: its frontier, what it has come to, and what it was made from.
struct Label {
  Key key;
  Ticks slack;
  std::uint32_t parent;
  std::uint32_t state;
};

/// An increase of the bound, as labels look it up.
struct Term {
  struct Digit {
    Slot slot;
    std::size_t step = 0;  ///< how far a state of it is to the next
  };
  std::array<Digit, k_most_in_scope> digits;
  std::size_t size = 0;
  const Ticks* added = nullptr;

  const Ticks* row(const Key& key) const {
    std::size_t at = 0;
    for (std::size_t k = 0; k < size; ++k) at += digits[k].slot.state(key) * digits[k].step;
    return added + at;
  }
};

std::uint64_t hash(const Key& key) {
  std::uint64_t sum = 0;
  for (const std::uint64_t word : key) sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
  return sum ^ (sum >> 32);
}

class FrontierSearch {
 public:
  FrontierSearch(const SlackGraph& graph, Ticks limit, const FrontierLimits& limits)
      : graph_(graph),
        limit_(limit),
        most_labels_(limits.labels),
        order_(find_frontier_order(graph)),
        buckets_(eliminate_in_groups(graph, order_, limit, limits.table_entries)),
        slots_(order_.size()),
        last_(order_.size()) {
    for (std::size_t step = 0; step < order_.size(); ++step) {
      for (const OrderedTable& increase : buckets_.of_step(step)) {
        for (const int k : increase.scope) last_[k] = step;
      }
    }
  }

  std::optional<LeastSlack> run() {
    if (buckets_.bound >= limit_) return LeastSlack{limit_, {}};
    layers_.push_back({Label{{}, buckets_.bound, 0, 0}});
    for (std::size_t step = 0; step < order_.size(); ++step) {
      if (!assign(step)) return std::nullopt;
    }
    if (layers_.back().empty()) return LeastSlack{limit_, {}};
    return look_back();
  }

  std::uint64_t entries() const { return buckets_.entries + labels_; }

 private:
  LeastSlack look_back() const {
    LeastSlack result{layers_.back().front().slack, {}};
    for (const std::vector<int>& states : graph_.states) result.states.push_back(states.front());
    std::uint32_t at = 0;
    for (std::size_t k = order_.size(); k-- > 0;) {
      const Label& label = layers_[k + 1][at];
      const int v = order_[k];
      result.states[v] = graph_.states[v][label.state];
      at = label.parent;
    }
    return result;
  }

  /// False when that takes more labels, or longer keys, than there may be.
  bool assign(std::size_t step) {
    terms_.clear();
    for (const OrderedTable& increase : buckets_.of_step(step)) terms_.push_back(term_of(increase));
    const std::size_t in_frontier = frontier_.size();
    std::erase_if(frontier_, [&](int k) {
      if (last_[k] > step) return false;
      used_[slots_[k].word] &= ~slots_[k].mask();
      return true;
    });
    const Key kept = used_;
    const bool stays = last_[step] > step;
    if (stays) {
      frontier_.push_back(static_cast<int>(step));
      if (!find_slot(step)) return false;
    }
    labels_ += layers_.back().size() * states_of(step);
    if (labels_ > most_labels_) return false;
    std::vector<Label> after = extend(step, kept);
    if (!stays || frontier_.size() <= in_frontier) merge(after);
    layers_.push_back(std::move(after));
    return true;
  }

  /// The labels of the last layer with each state of a variable; of their keys only what is `kept`
  /// stays.
  std::vector<Label> extend(std::size_t step, const Key& kept) {
    const std::vector<Label>& before = layers_.back();
    const std::size_t states = states_of(step);
    const Slot slot = slots_[step];  // of no bits where it does not stay
    std::vector<Label> after;
    after.reserve(before.size() * 2);
    rows_.resize(terms_.size());
    for (std::uint32_t k = 0; k < before.size(); ++k) {
      Label next = before[k];
      for (int word = 0; word < k_key_words; ++word) next.key[word] &= kept[word];
      const std::uint64_t others = next.key[slot.word];
      next.parent = k;
      for (std::size_t t = 0; t < terms_.size(); ++t) rows_[t] = terms_[t].row(before[k].key);
      for (std::size_t s = 0; s < states; ++s) {
        next.slack = before[k].slack;
        for (const Ticks* row : rows_) next.slack = std::min(next.slack + row[s], limit_);
        if (next.slack >= limit_) continue;
        next.state = static_cast<std::uint32_t>(s);
        next.key[slot.word] =
            others | ((static_cast<std::uint64_t>(s) << slot.shift) & slot.mask());
        after.push_back(next);
      }
    }
    return after;
  }

  /// Slot of bits that no variable of the frontier has.
  bool find_slot(std::size_t step) {
    Slot slot{0, 0, static_cast<int>(std::bit_width(states_of(step) - 1))};
    while ((used_[slot.word] & slot.mask()) != 0) {
      if (++slot.shift + slot.bits <= 64) continue;
      slot.shift = 0;
      if (++slot.word == k_key_words) return false;
    }
    slots_[step] = slot;
    used_[slot.word] |= slot.mask();
    return true;
  }

  Term term_of(const OrderedTable& increase) const {
    Term term;
    term.added = &buckets_.costs[increase.begin];
    std::size_t distance = states_of(increase.scope.back());
    for (std::size_t k = increase.scope.size - 1; k-- > 0;) {
      const auto before = static_cast<std::size_t>(increase.scope[k]);
      term.digits[term.size++] = {slots_[before], distance};
      distance *= states_of(before);
    }
    return term;
  }

  std::size_t states_of(std::size_t step) const { return graph_.states_of(order_[step]); }

  /// Of labels with the same key the one of least slack, the first of equals.
  void merge(std::vector<Label>& labels) {
    const std::size_t size = std::bit_ceil(labels.size() * 2 + 1);
    table_.assign(size, 0);
    std::size_t kept = 0;
    for (const Label& label : labels) {
      const std::uint64_t h = hash(label.key);
      std::size_t at = h & (size - 1);
      while (table_[at] != 0 && labels[table_[at] - 1].key != label.key) at = (at + 1) & (size - 1);
      if (table_[at] == 0) {
        labels[kept++] = label;
        table_[at] = static_cast<std::uint32_t>(kept);
      } else if (label.slack < labels[table_[at] - 1].slack) {
        labels[table_[at] - 1] = label;
      }
    }
    labels.resize(kept);
  }

  const SlackGraph& graph_;
  Ticks limit_;
  std::uint64_t most_labels_;
  std::vector<int> order_;
  MiniBuckets buckets_;
  std::vector<Slot> slots_;        ///< per step
  std::vector<std::size_t> last_;  ///< per step: the last one that asks for its state
  std::vector<int> frontier_;      ///< steps whose states a later one asks for
  Key used_{};                     ///< bits of the key that these have
  std::vector<std::vector<Label>> layers_;
  std::uint64_t labels_ = 0;
  // Kept to save allocations:
  std::vector<Term> terms_;
  std::vector<const Ticks*> rows_;
  std::vector<std::uint32_t> table_;
};

}  // namespace

std::optional<LeastSlack> find_least_slack(const SlackGraph& graph, Ticks limit,
                                           const FrontierLimits& limits, std::uint64_t& entries) {
  const auto is_empty = [](const std::vector<int>& states) { return states.empty(); };
  if (std::any_of(graph.states.begin(), graph.states.end(), is_empty)) return LeastSlack{limit, {}};
  FrontierSearch search(graph, limit, limits);
  std::optional<LeastSlack> result = search.run();
  entries += search.entries();
  return result;
}

}  // namespace stab::solver
