// SPDX-License-Identifier: Apache-2.0
#include "stab/core/calibration.h"

#include <algorithm>
#include <bit>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace stab {
namespace {

/// A pair of classes and a size, the exponent of the largest power of four in it.
using Cell = std::tuple<std::string, std::string, int>;

Cell cell_of(const std::string& from, const std::string& to, std::uint64_t bytes) {
  return {from, to, static_cast<int>(std::bit_width(bytes)) / 2};
}

class Calibration {
 public:
  Calibration(const Model& model, const ModelProblem& made)
      : graph_(model.subgraphs.front()), made_(made) {
    std::vector<int> representatives = {0};
    for (int b = 1; b < std::ssize(made.backends); ++b) {
      if (backend_class(made.backends[b]) != k_portable) representatives.push_back(b);
    }
    find_depths();
    for (std::size_t a = 0; a < representatives.size(); ++a) {
      for (std::size_t b = a + 1; b < representatives.size(); ++b) {
        add_patterns(representatives[a], representatives[b]);
      }
    }
  }

  std::vector<CalibrationRun> choose(std::span<const TransferPoint> known,
                                     std::size_t most_runs) const {
    std::set<Cell> covered;
    for (const TransferPoint& point : known)
      covered.insert(cell_of(point.from, point.to, point.bytes));
    std::vector<CalibrationRun> runs;
    while (runs.size() < most_runs) {
      const Pattern* best = nullptr;
      std::size_t most = 0;
      for (const Pattern& pattern : patterns_) {
        const auto is_new = [&covered](const Cell& cell) { return !covered.contains(cell); };
        const auto added = static_cast<std::size_t>(
            std::count_if(pattern.cells.begin(), pattern.cells.end(), is_new));
        if (added > most) {
          most = added;
          best = &pattern;
        }
      }
      if (best == nullptr) break;
      covered.insert(best->cells.begin(), best->cells.end());
      runs.push_back({made_.to_placement(best->placement), best->copies});
    }
    return runs;
  }

 private:
  struct Pattern {
    std::vector<int> placement;
    std::set<Cell> cells;
    int copies = 0;
  };

  /// Longest way from a graph input, in operations; these come after what they read.
  void find_depths() {
    depths_.assign(made_.ops.size(), 0);
    std::vector<std::vector<int>> readers(made_.ops.size());
    for (const PlacementTensor& tensor : made_.problem.tensors) {
      if (tensor.producer == k_builtin) continue;
      std::vector<int>& own = readers[tensor.producer];
      own.insert(own.end(), tensor.readers.begin(), tensor.readers.end());
    }
    for (std::size_t i = 0; i < readers.size(); ++i) {
      for (const int reader : readers[i])
        depths_[reader] = std::max(depths_[reader], depths_[i] + 1);
    }
  }

  /// Operations take turns on the two backends, by their number and by their depth, in blocks of
  /// one and of three.
  void add_patterns(int a, int b) {
    for (const bool by_depth : {false, true}) {
      for (const int block : {1, 3}) {
        for (const int phase : {0, 1}) {
          std::vector<int> placement;
          for (int i = 0; i < std::ssize(made_.ops); ++i) {
            const int turn = (by_depth ? depths_[i] : i) / block + phase;
            const int wanted = turn % 2 == 0 ? a : b;
            placement.push_back(made_.problem.ops[i].cost[wanted] != k_impossible ? wanted
                                                                                  : fallback(i));
          }
          add(std::move(placement));
        }
      }
    }
  }

  int fallback(int op) const {
    const std::vector<Ticks>& cost = made_.problem.ops[op].cost;
    const auto possible =
        std::find_if(cost.begin(), cost.end(), [](Ticks c) { return c != k_impossible; });
    return static_cast<int>(possible - cost.begin());
  }

  void add(std::vector<int> placement) {
    const Evaluation evaluation = evaluate(made_.problem, placement);
    if (!evaluation.feasible()) return;
    Pattern& pattern = patterns_.emplace_back(Pattern{std::move(placement), {}, 0});
    for (const CopyMade& copy : evaluation.copies_made) {
      const Tensor& tensor = graph_.tensors[made_.tensors[copy.tensor].index];
      if (!tensor.bytes) continue;
      pattern.cells.insert(cell_of(class_at(copy.from), class_at(copy.to), *tensor.bytes));
      ++pattern.copies;
    }
  }

  std::string class_at(int location) const {
    return location == made_.problem.builtin() ? k_portable
                                               : backend_class(made_.backends[location]);
  }

  const Subgraph& graph_;
  const ModelProblem& made_;
  std::vector<int> depths_;
  std::vector<Pattern> patterns_;
};

}  // namespace

std::vector<CalibrationRun> plan_calibration(const Model& model, const ModelProblem& problem,
                                             std::span<const TransferPoint> known,
                                             std::size_t most_runs) {
  return Calibration(model, problem).choose(known, most_runs);
}

}  // namespace stab
