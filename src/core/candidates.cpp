// SPDX-License-Identifier: Apache-2.0
#include "stab/core/candidates.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "stab/core/error.h"
#include "stab/core/placement_moves.h"

namespace stab {
namespace {

class CandidateMaker {
 public:
  CandidateMaker(const ModelProblem& made, const OpTimes& times, const CandidateRequest& request)
      : made_(made), times_(times), request_(request) {
    if (request.greedy) {
      add(PlanKind::greedy, *request.greedy);
    } else {
      const Solution optimum = solve(made.problem, request.limits);
      set_.certificate = optimum.certificate;
      add(PlanKind::optimum, made.to_placement(optimum.placement));
      const PlacementProblem charged = averse(made.problem, half_widths(made, times));
      add(PlanKind::averse, made.to_placement(solve(charged, request.limits).placement));
    }
    set_.baseline = set_.plans.size() + best_single(request.singles);
    for (const SinglePlan& single : request.singles) {
      add(PlanKind::single, single.placement);
      set_.plans.back().backend = single.backend;
    }
    for (const Placement& placement : request.previous) add(PlanKind::previous, placement);
    for (const Placement& placement : request.baselines) add(PlanKind::baseline, placement);
  }

  CandidateSet take() { return std::move(set_); }

 private:
  void add(PlanKind kind, const Placement& placement) {
    Plan& plan = set_.plans.emplace_back();
    plan.id = "p" + std::to_string(set_.plans.size());
    plan.kind = kind;
    plan.placement = placement;
    const std::optional<std::vector<int>> numbers = made_.to_numbers(placement);
    if (!numbers) return;
    plan.estimate = estimate(made_, times_, *numbers, request_.fixed_us, request_.overhead_us);
    const Evaluation evaluation = evaluate(made_.problem, *numbers);
    plan.switches = evaluation.switches;
    for (const CopyMade& copy : evaluation.copies_made) {
      plan.copies.push_back(
          {made_.tensors[copy.tensor], location(copy.from), location(copy.to), to_us(copy.cost)});
    }
  }

  std::string location(int number) const {
    return number == made_.problem.builtin() ? "builtin" : made_.backends[number];
  }

  const ModelProblem& made_;
  const OpTimes& times_;
  const CandidateRequest& request_;
  CandidateSet set_;
};

}  // namespace

std::size_t best_single(std::span<const SinglePlan> singles) {
  if (singles.empty()) {
    throw Error(ErrorKind::internal, "cannot choose among single backends", "", "there is none");
  }
  const auto faster = [](const SinglePlan& a, const SinglePlan& b) {
    return a.graph_us && (!b.graph_us || *a.graph_us < *b.graph_us);
  };
  return static_cast<std::size_t>(std::min_element(singles.begin(), singles.end(), faster) -
                                  singles.begin());
}

CandidateSet make_candidates(const ModelProblem& problem, const OpTimes& times,
                             const CandidateRequest& request) {
  return CandidateMaker(problem, times, request).take();
}

std::map<OpId, std::map<std::string, double>> in_company_us(const ModelProblem& made,
                                                            std::span<const int> placement) {
  std::map<OpId, std::map<std::string, double>> result;
  const Ticks total = evaluate(made.problem, placement).total;
  const PlacementMoves moves(made.problem, {placement.begin(), placement.end()});
  for (int i = 0; i < std::ssize(made.ops); ++i) {
    const PlacementMoves::Changes changes = moves.changes(i);
    for (int b = 0; b < made.problem.backends; ++b) {
      if (changes[b] != k_impossible)
        result[made.ops[i]][made.backends[b]] = to_us(total + changes[b]);
    }
  }
  return result;
}

std::vector<SwitchCause> switch_causes(const ModelProblem& made, std::span<const int> placement) {
  std::map<int, SwitchCause> causes;
  const auto blame = [&](int op, Ticks cost) {
    SwitchCause& cause = causes[op];
    ++cause.switches;
    cause.copies_us += to_us(cost);
  };
  for (int t = 0; t < std::ssize(made.problem.tensors); ++t) {
    const PlacementTensor& tensor = made.problem.tensors[t];
    const int from =
        tensor.producer == k_builtin ? made.problem.builtin() : placement[tensor.producer];
    std::map<int, std::vector<int>> readers_on;
    for (const int reader : tensor.readers) readers_on[placement[reader]].push_back(reader);
    if (tensor.graph_output) readers_on[made.problem.builtin()];
    for (const auto& [to, readers] : readers_on) {
      const Ticks cost = made.problem.copy_cost(t, from, to);
      const bool is_switch = tensor.producer != k_builtin && to != made.problem.builtin();
      if (to == from || (cost == 0 && !is_switch)) continue;
      if (tensor.producer != k_builtin) blame(tensor.producer, cost);
      if (readers.size() == 1) blame(readers.front(), cost);
    }
  }
  std::vector<SwitchCause> result;
  for (auto& [op, cause] : causes) {
    cause.op = made.ops[op];
    result.push_back(cause);
  }
  std::sort(result.begin(), result.end(), [](const SwitchCause& a, const SwitchCause& b) {
    return std::tuple(-a.copies_us, -a.switches, a.op) <
           std::tuple(-b.copies_us, -b.switches, b.op);
  });
  return result;
}

}  // namespace stab
