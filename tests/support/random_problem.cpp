// SPDX-License-Identifier: Apache-2.0
#include "support/random_problem.h"

#include <algorithm>
#include <set>
#include <vector>

namespace stab::test {
namespace {

class Maker {
 public:
  Maker(std::mt19937_64& random, const ProblemShape& shape) : random_(random), shape_(shape) {
    for (int b = 0; b < shape.backends; ++b) {
      class_of_.push_back(shape.classes == 0 ? b : b < shape.classes ? b : below(shape.classes));
    }
    class_of_.push_back(0);
    problem_.backends = shape.backends;
    add_tensor(k_builtin);
    for (int i = 0; i < shape.ops; ++i) add_op(i);
  }

  PlacementProblem take() { return std::move(problem_); }

 private:
  int below(int limit) { return static_cast<int>(random_() % static_cast<std::uint64_t>(limit)); }
  bool happens(double share) { return below(10'000) < static_cast<int>(share * 10'000); }
  Ticks cost(Ticks largest) { return below(static_cast<int>(largest) + 1); }

  void add_op(int i) {
    PlacementOp op;
    for (int b = 0; b < shape_.backends; ++b) {
      op.cost.push_back(happens(shape_.impossible) ? k_impossible : cost(shape_.largest_cost));
    }
    const int kept = below(shape_.backends);
    if (op.cost[kept] == k_impossible) op.cost[kept] = cost(shape_.largest_cost);
    op.preferred = kept;
    problem_.ops.push_back(op);
    if (happens(shape_.pinned)) pin(problem_, i, kept);
    std::set<int> inputs;
    const int count = happens(shape_.sources) ? 0 : 1 + below(shape_.most_inputs);
    const int existing = static_cast<int>(problem_.tensors.size());
    const int oldest = shape_.reach == 0 ? 0 : std::max(0, existing - shape_.reach);
    for (int k = 0; k < count; ++k) inputs.insert(oldest + below(existing - oldest));
    for (const int t : inputs) problem_.tensors[t].readers.push_back(i);
    add_tensor(i);
  }

  void add_tensor(int producer) {
    PlacementTensor tensor;
    tensor.producer = producer;
    tensor.graph_output = happens(shape_.outputs);
    const int locations = shape_.backends + 1;
    for (int from = 0; from < locations; ++from) {
      for (int to = 0; to < locations; ++to) {
        const bool free = class_of_[from] == class_of_[to];
        tensor.copy.push_back(free                        ? 0
                              : happens(shape_.forbidden) ? k_impossible
                                                          : cost(shape_.largest_copy));
      }
    }
    problem_.tensors.push_back(tensor);
  }

  std::mt19937_64& random_;
  const ProblemShape& shape_;
  std::vector<int> class_of_;
  PlacementProblem problem_;
};

}  // namespace

PlacementProblem random_problem(std::mt19937_64& random, const ProblemShape& shape) {
  return Maker(random, shape).take();
}

namespace {

/// Goes through all placements that can run. Adds costs in its own way, so that it can be an oracle
/// for evaluate() too.
class Trial {
 public:
  explicit Trial(const PlacementProblem& problem)
      : problem_(problem), placement_(problem.ops.size(), 0) {
    place(0, 0, 0);
  }

  BestOfAll best() const { return best_; }

 private:
  void place(std::size_t i, Ticks ops, int at_home) {
    if (ops > best_.cost) return;
    if (i == placement_.size()) return finish(ops, at_home);
    for (int b = 0; b < problem_.backends; ++b) {
      const PlacementOp& op = problem_.ops[i];
      if (op.cost[b] == k_impossible) continue;
      placement_[i] = b;
      place(i + 1, ops + op.cost[b], at_home + (b == op.preferred));
    }
  }

  void finish(Ticks cost, int at_home) {
    for (const PlacementTensor& tensor : problem_.tensors) {
      const int from = tensor.producer < 0 ? problem_.backends : placement_[tensor.producer];
      const auto* row = tensor.copy.data() + from * (problem_.backends + 1);
      std::uint64_t seen = std::uint64_t{1} << from;
      const auto read_on = [&](int location) {
        if (seen >> location & 1) return true;
        seen |= std::uint64_t{1} << location;
        cost += tensor.copy.empty() || row[location] == k_impossible ? 0 : row[location];
        return tensor.copy.empty() || row[location] != k_impossible;
      };
      if (tensor.graph_output && !read_on(problem_.backends)) return;
      for (const int reader : tensor.readers) {
        if (!read_on(placement_[reader])) return;
      }
    }
    if (cost < best_.cost) best_ = {cost, at_home};
    if (cost == best_.cost) best_.at_home = std::max(best_.at_home, at_home);
  }

  const PlacementProblem& problem_;
  std::vector<int> placement_;
  BestOfAll best_;
};

}  // namespace

BestOfAll try_all(const PlacementProblem& problem) {
  return Trial(problem).best();
}

}  // namespace stab::test
