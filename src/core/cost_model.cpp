// SPDX-License-Identifier: Apache-2.0
#include "stab/core/cost_model.h"

#include <algorithm>
#include <utility>

#include "stab/core/error.h"

namespace stab {
namespace {

constexpr const char* k_builtin_name = "builtin";

class ProblemMaker {
 public:
  ProblemMaker(const Model& model, const OpTimes& times, const TransferModel& transfers,
               std::span<const std::string> backends)
      : graph_(model.subgraphs.front()), times_(times), transfers_(transfers) {
    made_.backends.push_back(k_cpu);
    for (const std::string& backend : backends) {
      if (backend != k_cpu) made_.backends.push_back(backend);
    }
    made_.problem.backends = static_cast<int>(made_.backends.size());
    number_.assign(graph_.operations.size(), k_builtin);
    for (const Operation& operation : graph_.operations) {
      if (!operation.control_flow) add_op(operation);
    }
    add_tensors();
  }

  ModelProblem take() { return std::move(made_); }

 private:
  void add_op(const Operation& operation) {
    number_[operation.id.index] = static_cast<int>(made_.ops.size());
    made_.ops.push_back(operation.id);
    PlacementOp& op = made_.problem.ops.emplace_back();
    op.cost.assign(made_.backends.size(), k_impossible);
    bool measured = false;
    if (const auto found = times_.find(operation.id); found != times_.end()) {
      for (std::size_t b = 0; b < made_.backends.size(); ++b) {
        const auto time = found->second.find(made_.backends[b]);
        if (time == found->second.end()) continue;
        op.cost[b] = to_ticks(time->second.us.median);
        measured = true;
      }
    }
    if (measured) return;
    op.cost[0] = 0;
    made_.without_time.push_back(operation.id);
  }

  void add_tensors() {
    std::vector<PlacementTensor> tensors(graph_.tensors.size());
    for (const Operation& operation : graph_.operations) {
      const int number = number_[operation.id.index];
      for (const int t : operation.outputs) {
        if (t >= 0) tensors[t].producer = number;
      }
      for (const int t : operation.inputs) {
        if (t >= 0) add_reader(tensors[t], number);
      }
    }
    for (const int t : graph_.outputs) tensors[t].graph_output = true;
    for (const Tensor& tensor : graph_.tensors) {
      PlacementTensor& own = tensors[tensor.id.index];
      if (own.producer != k_builtin) std::erase(own.readers, own.producer);  // updated in place
      if (tensor.constant || (own.readers.empty() && !own.graph_output)) continue;
      own.copy = copy_table(tensor);
      made_.tensors.push_back(tensor.id);
      made_.problem.tensors.push_back(std::move(own));
    }
  }

  /// Operations come in ascending order, so the readers do.
  static void add_reader(PlacementTensor& tensor, int number) {
    if (number == k_builtin) {
      tensor.graph_output = true;
    } else if (tensor.readers.empty() || tensor.readers.back() != number) {
      tensor.readers.push_back(number);
    }
  }

  std::vector<Ticks> copy_table(const Tensor& tensor) const {
    std::vector<std::string> locations = made_.backends;
    locations.push_back(k_builtin_name);
    std::vector<Ticks> table;
    bool all_free = true;
    for (const std::string& from : locations) {
      for (const std::string& to : locations) {
        const std::optional<double> cost = transfers_.cost_us(from, to, tensor.bytes);
        table.push_back(cost ? to_ticks(*cost) : k_impossible);
        all_free = all_free && table.back() == 0;
      }
    }
    return all_free ? std::vector<Ticks>{} : table;
  }

  const Subgraph& graph_;
  const OpTimes& times_;
  const TransferModel& transfers_;
  std::vector<int> number_;
  ModelProblem made_;
};

int index_of(const std::vector<std::string>& backends, const std::string& name) {
  const auto found = std::find(backends.begin(), backends.end(), name);
  return found == backends.end() ? -1 : static_cast<int>(found - backends.begin());
}

void pin_by_name(ModelProblem& made, OpId op, const std::string& backend) {
  const std::optional<int> number = made.number_of(op);
  const int b = index_of(made.backends, backend);
  if (!number || b < 0 || made.problem.ops[*number].cost[b] == k_impossible) {
    throw Error(ErrorKind::input, "cannot pin operation", to_string(op),
                "it has no time on " + backend);
  }
  pin(made.problem, *number, b);
}

int preferred_of(const PlacementOp& op, int wanted) {
  const auto possible = [&op](int b) { return b >= 0 && op.cost[b] != k_impossible; };
  if (possible(wanted)) return wanted;
  for (int b = 0; b < std::ssize(op.cost); ++b) {
    if (possible(b)) return b;
  }
  return 0;
}

}  // namespace

OpTimes op_times(const Timings& timings, const Model& model, const OpList& list,
                 std::span<const std::string> backends, const Discovered& discovered) {
  OpTimes times;
  for (const Operation& operation : model.subgraphs.front().operations) {
    for (const std::string& backend :
         candidates(model, operation.id, list, backends, discovered).backends) {
      const OpTiming* timing = timings.find(operation.id, backend);
      if (timing != nullptr) times[operation.id].emplace(backend, *timing);
    }
  }
  return times;
}

void reenter_times(OpTimes& times, const Timings& timings, std::string_view label) {
  for (const OpTiming& timing : timings.in_company) {
    if (timing.label != label) continue;
    const auto op = times.find(timing.op);
    if (op == times.end()) continue;
    const auto found = op->second.find(timing.backend);
    if (found != op->second.end()) found->second = timing;
  }
}

double fixed_us(const Timings& timings, std::string_view label) {
  double sum = 0;
  for (const FixedTiming& fixed : timings.fixed) {
    const bool counts = fixed.kind == FixedKind::control_flow || fixed.kind == FixedKind::builtin ||
                        fixed.kind == FixedKind::custom || fixed.kind == FixedKind::fused;
    if (counts && fixed.timing.op.subgraph == 0 && fixed.timing.label == label)
      sum += fixed.timing.us.median;
  }
  return sum;
}

std::optional<int> ModelProblem::number_of(OpId op) const {
  const auto found = std::lower_bound(ops.begin(), ops.end(), op);
  if (found == ops.end() || *found != op) return std::nullopt;
  return static_cast<int>(found - ops.begin());
}

Placement ModelProblem::to_placement(std::span<const int> numbers) const {
  Placement placement;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (numbers[i] != 0) placement[ops[i]] = backends[numbers[i]];
  }
  return placement;
}

std::optional<std::vector<int>> ModelProblem::to_numbers(const Placement& placement) const {
  std::vector<int> numbers(ops.size(), 0);
  for (const auto& [op, backend] : placement) {
    const std::optional<int> number = number_of(op);
    const int b = index_of(backends, backend);
    if (!number || b < 0) return std::nullopt;
    numbers[*number] = b;
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (problem.ops[i].cost[numbers[i]] == k_impossible) return std::nullopt;
  }
  return numbers;
}

ModelProblem make_problem(const Model& model, const OpTimes& times, const TransferModel& transfers,
                          std::span<const std::string> backends,
                          const std::map<OpId, std::string>& pins,
                          const Placement& default_placement) {
  ModelProblem made = ProblemMaker(model, times, transfers, backends).take();
  for (const auto& [op, backend] : pins) pin_by_name(made, op, backend);
  for (std::size_t i = 0; i < made.ops.size(); ++i) {
    const std::string& wanted = backend_of(default_placement, made.ops[i]);
    made.problem.ops[i].preferred =
        preferred_of(made.problem.ops[i], index_of(made.backends, wanted));
  }
  return made;
}

}  // namespace stab
