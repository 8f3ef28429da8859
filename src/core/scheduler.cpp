// SPDX-License-Identifier: Apache-2.0
#include "stab/core/scheduler.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/solver/branch_and_bound.h"
#include "core/solver/elimination.h"
#include "core/solver/elimination_plan.h"
#include "core/solver/reduction.h"
#include "stab/core/error.h"
#include "stab/core/placement_moves.h"

namespace stab {
namespace {

using solver::Component;
using solver::Reduction;

/// Elimination of more states per operation is put off until a search has left out choices, and
/// starts anew when its root has left out one in so many.
constexpr std::uint64_t k_dear_states = 1000;
constexpr int k_narrow_share = 4;
constexpr int k_most_narrowings = 3;

/// Table entries that a search may look at below its root before a thorough look for a way of
/// elimination.
constexpr std::uint64_t k_patience = std::uint64_t{1} << 20;

class Solver {
 public:
  Solver(const PlacementProblem& problem, const SolverLimits& limits)
      : problem_(problem),
        limits_(limits),
        reduction_(problem, solver::Scaling::ties),
        bound_(reduction_.decided_cost()) {
    if (!reduction_.feasible()) throw_impossible();
    solution_.placement.assign(problem.ops.size(), -1);
    std::vector<int> all(problem.ops.size());
    std::iota(all.begin(), all.end(), 0);
    take_decided(reduction_, all);
    solution_.certificate.forced = reduction_.decided();
    for (const Component& component : reduction_.components()) {
      ++solution_.certificate.components;
      if (solve(reduction_, component, all, 0) >= solver::k_infinite) {
        throw Error(ErrorKind::input, "cannot place the operations", "",
                    "no possible placement was found within the solver's limits",
                    "--algorithm greedy");
      }
    }
  }

  Solution finish() {
    if (bound_ >= solver::k_infinite) throw_impossible();
    settle_ties();
    const Evaluation evaluation = evaluate(problem_, solution_.placement);
    Certificate& certificate = solution_.certificate;
    certificate.cost = evaluation.total;
    // Scaled costs hold the true cost times the scale, and at most scale - 1 more for operations
    // away from home.
    const Ticks scale = reduction_.scale();
    certificate.bound = std::min(evaluation.total, bound_ / scale);
    certificate.status = certificate.bound == certificate.cost ? Certificate::Status::optimal
                                                               : Certificate::Status::bounded;
    return std::move(solution_);
  }

 private:
  [[noreturn]] static void throw_impossible() {
    throw Error(ErrorKind::input, "cannot place the operations", "",
                "no placement avoids every impossible backend and copy");
  }

  /// `ops`: which operations of the whole problem those of the reduction are.
  void take_decided(const Reduction& reduction, const std::vector<int>& ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      solution_.placement[ops[i]] = reduction.ops()[i].chosen;
    }
  }

  /// Places a component, and adds to the bound. Returns what the placement costs, k_infinite when
  /// none was found within the limits.
  Ticks solve(const Reduction& reduction, const Component& component, const std::vector<int>& ops,
              int narrowed) {
    const std::uint64_t cheap = k_dear_states * component.ops.size();
    if (const auto plan = solver::plan_elimination(
            reduction, component, {limits_.table_states, std::min(limits_.total_states, cheap)},
            solver::PlanEffort::quick)) {
      return eliminate(component, ops, *plan);
    }
    auto search =
        std::make_unique<solver::BranchAndBound>(reduction, component, limits_.search_states);
    search->start();
    const bool is_narrow = search->left_out() * k_narrow_share >= search->choices();
    if (!search->is_solved() && narrowed < k_most_narrowings && is_narrow) {
      const solver::SearchResult root = search->result();
      const PlacementProblem rest = search->narrowed();
      search.reset();  // large, and not needed any more
      return solve_narrowed(rest, root, component, ops, narrowed);
    }
    search->go_on(std::min(search->result().states + k_patience, limits_.search_states));
    if (!search->is_solved()) {
      if (const auto plan = solver::plan_elimination(reduction, component,
                                                     {limits_.table_states, limits_.total_states},
                                                     solver::PlanEffort::thorough)) {
        note(search->result());
        return eliminate(component, ops, *plan);
      }
    }
    search->go_on(limits_.search_states);
    const solver::SearchResult& found = search->result();
    if (found.bound >= solver::k_infinite) throw_impossible();
    note(found);
    bound_ = solver::add(bound_, found.bound);
    return place(found, component, ops);
  }

  Ticks eliminate(const Component& component, const std::vector<int>& ops,
                  const solver::EliminationPlan& plan) {
    const solver::CheapestStates found = solver::eliminate(plan.graph, plan.order);
    if (found.cost >= solver::k_infinite) throw_impossible();
    note(SolveMethod::dynamic_programming, plan.order.width, plan.order.total_states);
    for (std::size_t k = 0; k < component.ops.size(); ++k) {
      solution_.placement[ops[component.ops[k]]] = plan.backend(k, found.states);
    }
    bound_ = solver::add(bound_, found.cost);
    return found.cost;
  }

  /// Solves what is left of a component when the root of a search has left out choices; `root`:
  /// what it found.
  Ticks solve_narrowed(const PlacementProblem& problem, const solver::SearchResult& root,
                       const Component& component, const std::vector<int>& ops, int narrowed) {
    note(root);
    const Reduction rest(problem, solver::Scaling::none);
    if (!rest.feasible()) throw_impossible();
    std::vector<int> own;
    for (const int op : component.ops) own.push_back(ops[op]);
    take_decided(rest, own);
    bound_ = solver::add(bound_, rest.decided_cost());
    Ticks cost = rest.decided_cost();
    for (const Component& part : rest.components()) {
      cost = solver::add(cost, solve(rest, part, own, narrowed + 1));
    }
    // Where the parts ran out of what they may spend, the root may know better.
    return cost <= root.cost ? cost : place(root, component, ops);
  }

  Ticks place(const solver::SearchResult& found, const Component& component,
              const std::vector<int>& ops) {
    for (std::size_t k = 0; k < found.placement.size(); ++k) {
      solution_.placement[ops[component.ops[k]]] = found.placement[k];
    }
    return found.cost;
  }

  void note(const solver::SearchResult& found) {
    note(SolveMethod::branch_and_bound, 0, found.states);
    solution_.certificate.nodes += found.nodes;
  }

  void note(SolveMethod method, int width, std::uint64_t states) {
    Certificate& certificate = solution_.certificate;
    certificate.method = std::max(certificate.method, method);
    certificate.width = std::max(certificate.width, width);
    certificate.states = solver::saturating_sum(certificate.states, states);
  }

  /// Moves operations that are away from home to where more of their neighbours are, or to an
  /// earlier backend with as many, as long as the cost stays the same. Each move makes more
  /// neighbours agree or lowers a backend, so it ends.
  void settle_ties() {
    PlacementMoves moves(problem_, std::move(solution_.placement));
    const int count = static_cast<int>(problem_.ops.size());
    bool moved = true;
    while (moved) {
      moved = false;
      for (int op = 0; op < count; ++op) moved |= settle(moves, op);
      for (int op = count - 1; op >= 0; --op) moved |= settle(moves, op);
    }
    solution_.placement = moves.placement();
  }

  bool settle(PlacementMoves& moves, int op) const {
    const int now = moves.placement()[op];
    if (now == problem_.ops[op].preferred) return false;
    const PlacementMoves::Changes changes = moves.changes(op);
    int best = now;
    for (int b = 0; b < problem_.backends; ++b) {
      if (b == best || changes[b] != 0) continue;
      const int gained = moves.neighbours_on(op, b) - moves.neighbours_on(op, best);
      if (gained > 0 || (gained == 0 && b < best)) best = b;
    }
    if (best != now) moves.move(op, best);
    return best != now;
  }

  const PlacementProblem& problem_;
  const SolverLimits& limits_;
  Reduction reduction_;
  Ticks bound_;  ///< of the scaled cost
  Solution solution_;
};

}  // namespace

std::string_view to_string(SolveMethod method) {
  switch (method) {
    case SolveMethod::separable:
      return "separable";
    case SolveMethod::dynamic_programming:
      return "dynamic_programming";
    case SolveMethod::branch_and_bound:
      return "branch_and_bound";
  }
  return "separable";
}

std::string_view to_string(Certificate::Status status) {
  return status == Certificate::Status::optimal ? "optimal" : "bounded";
}

double Certificate::gap() const {
  return cost == 0 ? 0.0 : static_cast<double>(cost - bound) / static_cast<double>(cost);
}

Solution solve(const PlacementProblem& problem, const SolverLimits& limits) {
  check(problem);
  return Solver(problem, limits).finish();
}

}  // namespace stab
