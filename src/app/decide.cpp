// SPDX-License-Identifier: Apache-2.0
#include "stab/app/decide.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "app/plan_problem.h"
#include "stab/core/error.h"
#include "stab/core/greedy.h"
#include "stab/core/rows.h"
#include "stab/core/schedule_keys.h"
#include "stab/core/scheduler.h"

namespace stab {
namespace {

ListedTypes listed_types(const OpList& list) {
  ListedTypes types;
  for (const BackendOps& backend : list) {
    std::vector<std::string> names;
    for (const OpRule& rule : backend.rules) names.push_back(rule.type);
    types.emplace_back(backend.backend, names);
  }
  return types;
}

/// How the greedy plan is written: the form follows from where its operations are now.
struct GreedyRule {
  std::string default_backend;
  std::vector<std::string> default_types;
  std::vector<OpId> decided;

  GreedyForm form(const Placement& placement) const {
    GreedyForm form{default_backend, default_types, {}};
    for (const OpId op : decided) {
      const std::string& backend = backend_of(placement, op);
      if (backend != default_backend) form.exceptions[op] = backend;
    }
    return form;
  }
};

class Decider {
 public:
  explicit Decider(const DecideRequest& request)
      : request_(request),
        problem_(std::make_shared<PlanProblem>(*request.model, *request.timings, request.op_list,
                                               request.backends, request.discovered)) {}

  Decision run() {
    if (request_.singles.empty())
      throw Error(ErrorKind::input, "cannot decide", "the package", "no backend was measured");
    pins_ = resolve_pins(*request_.model, request_.pins, request_.op_list, request_.backends,
                         request_.discovered);
    find_best_single();
    problem_->set_default(best_->placement);
    for (const auto& [op, backend] : pins_) problem_->pin(op, backend);
    if (request_.algorithm == Algorithm::greedy) find_greedy_rule();
    make_functions();
    if (greedy_) {
      add(PlanKind::greedy, greedy_placement_);
    } else {
      add_optima();
    }
    add_singles();
    add_previous();
    out_.ops = problem_->rows();
    out_.transfers = problem_->transfers();
    out_.overhead_us = problem_->overhead_us();
    out_.left_out = left_out();
    return std::move(out_);
  }

 private:
  void find_best_single() {
    for (const MeasuredSingle& single : request_.singles) {
      if (best_ == nullptr || single.graph_us < best_->graph_us) best_ = &single;
    }
    const LabelTiming* label = request_.timings->find_label(best_->label);
    if (label != nullptr && label->overhead_us)
      problem_->set_overhead(std::max(0.0, label->overhead_us->median));
  }

  void make_functions() {
    const std::shared_ptr<PlanProblem> problem = problem_;
    out_.price = [problem](Plan& plan) { problem->price(plan); };
    out_.in_company = [problem](const Placement& placement) {
      return problem->in_company(placement);
    };
    out_.make_keys = [rule = greedy_, make = request_.make_keys](
                         const Plan& plan, const std::optional<std::string>& planner) {
      const bool greedy_form = rule && plan.kind == PlanKind::greedy;
      return make(plan.placement, planner,
                  greedy_form ? std::optional(rule->form(plan.placement)) : std::nullopt);
    };
  }

  Plan& add(PlanKind kind, const Placement& placement) {
    Plan plan;
    plan.id = "p" + std::to_string(out_.plans.size() + 1);
    plan.kind = kind;
    plan.placement = placement;
    for (const auto& [op, backend] : pins_) {
      if (backend == k_cpu)
        plan.placement.erase(op);
      else
        plan.placement[op] = backend;
    }
    plan.keys = out_.make_keys(plan, std::nullopt);
    problem_->price(plan);
    out_.plans.push_back(std::move(plan));
    return out_.plans.back();
  }

  void add_optima() {
    const Solution averse = problem_->solve_averse();
    const Solution raw = problem_->solve();
    add(PlanKind::averse, problem_->placement_of(averse.placement));
    add(PlanKind::optimum, problem_->placement_of(raw.placement));
    CertificateRow& row = out_.certificate;
    const Certificate& certificate = raw.certificate;
    row.status = std::string(to_string(certificate.status));
    row.cost_us = to_us(certificate.cost);
    row.bound_us = to_us(certificate.bound);
    row.gap = certificate.gap();
    row.method = std::string(to_string(certificate.method));
    row.width = certificate.width;
    row.states = certificate.states;
  }

  void find_greedy_rule() {
    const GreedyPlan plan = greedy(request_.averages->runs, listed_types(request_.op_list));
    greedy_ = GreedyRule{plan.default_backend, plan.default_types, {}};
    for (const auto& [op, backend] : plan.choices) {
      greedy_->decided.push_back(op);
      if (backend != k_cpu) greedy_placement_[op] = backend;
    }
  }

  void add_singles() {
    for (const MeasuredSingle& single : request_.singles) {
      Plan& plan = add(PlanKind::single, single.placement);
      plan.backend = single.backend;
      if (&single == best_) out_.best_single = plan.id;
    }
  }

  /// Yesterday's plan counts while everything it asks for is still measured, and while it keeps the
  /// pins.
  void add_previous() {
    if (!request_.previous) return;
    const Placement& placement = request_.previous->chosen.placement;
    for (const auto& [op, backend] : placement) {
      if (!problem_->can(op, backend)) return;
    }
    for (const auto& [op, backend] : pins_) {
      if (backend_of(placement, op) != backend) return;
    }
    Plan& plan = add(PlanKind::previous, placement);
    const std::string* planner = find_key(request_.previous->chosen.keys, "CPU_MEMORY_PLANNER");
    if (planner != nullptr) plan.keys = out_.make_keys(plan, *planner);
  }

  std::vector<LeftOutRow> left_out() const {
    std::vector<LeftOutRow> rows;
    for (const LeftOut& left :
         unmappable(*request_.model, request_.op_list, request_.backends, request_.discovered)) {
      rows.push_back({left.op, left.wanted, left.reason});
    }
    return rows;
  }

  const DecideRequest& request_;
  std::shared_ptr<PlanProblem> problem_;
  std::map<OpId, std::string> pins_;
  const MeasuredSingle* best_ = nullptr;
  std::optional<GreedyRule> greedy_;
  Placement greedy_placement_;
  Decision out_;
};

}  // namespace

Decision decide(const DecideRequest& request) {
  return Decider(request).run();
}

}  // namespace stab
