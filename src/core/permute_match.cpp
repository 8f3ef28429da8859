// SPDX-License-Identifier: Apache-2.0
#include "stab/core/permute_match.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "stab/core/statistics.h"

namespace stab {
namespace {

constexpr int k_after_all = std::numeric_limits<int>::max();
constexpr int k_before_all = -1;

/// Sizes with more Permutes than this are not proven one by one: that takes cubic time.
constexpr std::size_t k_most_alike = 200;

/// A copy that the placement must lead to.
struct ExpectedCopy {
  TensorId tensor;
  std::string from, to;  ///< classes
  std::uint64_t bytes = 0;
  int after = k_before_all;  ///< position of the producer
  int before = k_after_all;  ///< position of the first reader on the target
};

/// A Permute of the trace.
struct Seen {
  OpId id;
  int position = 0;
  double us = 0;
};

struct WhereAndWhen {
  std::string backend = "builtin";
  int position = k_before_all;
};

std::optional<std::int64_t> elements_of(const Tensor& tensor) {
  const std::optional<std::size_t> size = element_size(tensor.type);
  if (!size || !tensor.bytes) return std::nullopt;
  return static_cast<std::int64_t>(*tensor.bytes / *size);
}

/// By number of elements.
using ExpectedBySize = std::map<std::int64_t, std::vector<ExpectedCopy>>;

class Expectation {
 public:
  Expectation(const Subgraph& graph, const Trace& trace) {
    for (const OpTrace& op : trace.ops) {
      if (op.op.subgraph == 0 && op.position) ran_[op.op.index] = {op.backend, *op.position};
    }
    std::vector<WhereAndWhen> made(graph.tensors.size());
    std::vector<std::map<std::string, int>> read(graph.tensors.size());
    for (const Operation& operation : graph.operations) {
      const auto found = ran_.find(operation.id.index);
      if (found == ran_.end()) continue;
      for (const int t : operation.outputs) made[t] = found->second;
      for (const int t : operation.inputs) {
        if (t >= 0) note_reader(read[t], found->second);
      }
    }
    for (const int t : graph.outputs) read[t].try_emplace("builtin", k_after_all);
    for (const Tensor& tensor : graph.tensors)
      expect(tensor, made[tensor.id.index], read[tensor.id.index]);
  }

  ExpectedBySize take() { return std::move(expected_); }

 private:
  static void note_reader(std::map<std::string, int>& read, const WhereAndWhen& reader) {
    const auto [place, is_new] = read.try_emplace(reader.backend, reader.position);
    if (!is_new) place->second = std::min(place->second, reader.position);
  }

  void expect(const Tensor& tensor, const WhereAndWhen& made,
              const std::map<std::string, int>& read) {
    const std::optional<std::int64_t> elements = elements_of(tensor);
    if (tensor.constant || !elements) return;
    const std::string from = backend_class(made.backend);
    for (const auto& [backend, first] : read) {
      const std::string to = backend_class(backend);
      if (to == from) continue;
      expected_[*elements].push_back({tensor.id, from, to, *tensor.bytes, made.position, first});
    }
  }

  std::map<int, WhereAndWhen> ran_;
  ExpectedBySize expected_;
};

/// Permutes of one size against the copies of that size.
class Matching {
 public:
  Matching(const std::vector<Seen>& seen, const std::vector<ExpectedCopy>& expected) {
    for (const Seen& permute : seen) {
      std::vector<int>& options = options_.emplace_back();
      for (int c = 0; c < std::ssize(expected); ++c) {
        if (permute.position > expected[c].after && permute.position < expected[c].before)
          options.push_back(c);
      }
    }
    copies_ = expected.size();
  }

  bool all_can_be_matched() const { return can_match(-1, -1); }

  /// The copies that Permute `p` stands for in some way to match all.
  std::vector<int> possible(int p) const {
    if (options_.size() > k_most_alike) return options_[p];
    std::vector<int> result;
    for (const int c : options_[p]) {
      if (can_match(p, c)) result.push_back(c);
    }
    return result;
  }

 private:
  /// Whether all Permutes can be matched at once, `p` with `c` (Kuhn's augmenting paths).
  bool can_match(int p, int c) const {
    std::vector<int> owner(copies_, -1);
    if (c >= 0) owner[c] = p;
    for (int other = 0; other < std::ssize(options_); ++other) {
      std::vector<bool> tried(copies_, false);
      if (c >= 0) tried[c] = true;
      if (other != p && !augment(other, owner, tried)) return false;
    }
    return true;
  }

  bool augment(int p, std::vector<int>& owner, std::vector<bool>& tried) const {
    for (const int c : options_[p]) {
      if (tried[c]) continue;
      tried[c] = true;
      if (owner[c] >= 0 && !augment(owner[c], owner, tried)) continue;
      owner[c] = p;
      return true;
    }
    return false;
  }

  std::vector<std::vector<int>> options_;
  std::size_t copies_ = 0;
};

std::map<std::int64_t, std::vector<Seen>> permutes_by_size(const Trace& trace,
                                                           PermuteMatch& match) {
  std::map<std::int64_t, std::vector<Seen>> result;
  for (const OpTrace& op : trace.ops) {
    if (op.type != "Permute" || op.op.subgraph != 0) continue;
    const std::optional<std::int64_t> elements = op.input_elements();
    std::optional<double> us = median(op.samples_us);
    if (!us && op.averaged) us = op.averaged->mean_us;
    if (!elements || !op.position || !us) {
      match.unmatched.push_back(op.op);
      continue;
    }
    result[*elements].push_back({op.op, *op.position, *us});
  }
  return result;
}

void match_size(const std::vector<Seen>& seen, const std::vector<ExpectedCopy>& expected,
                PermuteMatch& match) {
  const Matching matching(seen, expected);
  const bool complete = matching.all_can_be_matched();
  for (int p = 0; p < std::ssize(seen); ++p) {
    const std::vector<int> possible = complete ? matching.possible(p) : std::vector<int>{};
    std::set<std::pair<std::string, std::string>> classes;
    std::set<std::uint64_t> sizes;
    for (const int c : possible) {
      classes.emplace(expected[c].from, expected[c].to);
      sizes.insert(expected[c].bytes);
    }
    if (classes.size() != 1 || sizes.size() != 1) {
      match.unmatched.push_back(seen[p].id);
      continue;
    }
    MatchedCopy copy{seen[p].id,     std::nullopt, classes.begin()->first, classes.begin()->second,
                     *sizes.begin(), seen[p].us};
    if (possible.size() == 1) copy.tensor = expected[possible.front()].tensor;
    match.copies.push_back(std::move(copy));
  }
}

}  // namespace

PermuteMatch match_permutes(const Model& model, const Trace& trace) {
  PermuteMatch match;
  const ExpectedBySize expected = Expectation(model.subgraphs.front(), trace).take();
  for (const auto& [elements, copies] : expected) match.expected += static_cast<int>(copies.size());
  for (const auto& [elements, seen] : permutes_by_size(trace, match)) {
    const auto found = expected.find(elements);
    match_size(seen, found == expected.end() ? std::vector<ExpectedCopy>{} : found->second, match);
  }
  std::sort(match.copies.begin(), match.copies.end(),
            [](const MatchedCopy& a, const MatchedCopy& b) { return a.permute < b.permute; });
  std::sort(match.unmatched.begin(), match.unmatched.end());
  return match;
}

std::vector<TransferPoint> transfer_points(std::span<const MatchedCopy> copies) {
  std::vector<TransferPoint> points;
  for (const MatchedCopy& copy : copies)
    points.push_back({copy.from, copy.to, copy.bytes, copy.us});
  return points;
}

}  // namespace stab
