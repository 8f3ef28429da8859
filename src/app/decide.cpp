// SPDX-License-Identifier: Apache-2.0
#include "stab/app/decide.h"

#include <algorithm>
#include <memory>

#include "stab/core/candidates.h"
#include "stab/core/compare.h"
#include "stab/core/cost_model.h"
#include "stab/core/error.h"
#include "stab/core/greedy.h"
#include "stab/core/permute_match.h"
#include "stab/core/rows.h"
#include "stab/core/transfer_model.h"

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
  const Model* model = nullptr;
  std::string default_backend;
  std::vector<std::string> default_types;
  std::vector<OpId> decided;

  GreedyForm form(const Placement& placement) const {
    GreedyForm form{default_backend, default_types, {}};
    for (const OpId op : decided) {
      if (default_backend != k_cpu && backend_of(placement, op) == k_cpu)
        form.exceptions[op] = k_cpu;
    }
    // The op list gives no types to a backend that it does not know, and pins reach any type: such
    // operations would stay on cpu.
    for (const auto& [op, backend] : placement) {
      const auto type =
          std::find(default_types.begin(), default_types.end(), model->operation(op).key);
      if (backend != default_backend || type == default_types.end()) form.exceptions[op] = backend;
    }
    return form;
  }
};

/// The problem and what prices a plan in it.
struct Pricing {
  ModelProblem problem;
  OpTimes times;
  double fixed_us = 0;
  double overhead_us = 0;

  void price(Plan& plan) const {
    plan.copies.clear();
    plan.estimate.reset();
    plan.switches = 0;
    const auto numbers = problem.to_numbers(plan.placement);
    if (!numbers) return;
    const Evaluation cost = evaluate(problem.problem, *numbers);
    plan.switches = cost.switches;
    const auto name = [&](int location) {
      return location == problem.problem.builtin()
                 ? std::string("builtin")
                 : problem.backends[static_cast<std::size_t>(location)];
    };
    for (const CopyMade& copy : cost.copies_made) {
      plan.copies.push_back({problem.tensors[static_cast<std::size_t>(copy.tensor)],
                             name(copy.from), name(copy.to), to_us(copy.cost)});
    }
    plan.estimate = estimate(problem, times, *numbers, fixed_us, overhead_us);
  }

  std::map<OpId, std::map<std::string, double>> in_company(const Placement& placement) const {
    const auto numbers = problem.to_numbers(placement);
    if (!numbers) return {};
    auto costs = in_company_us(problem, *numbers);
    for (auto& [op, by_backend] : costs) {
      for (auto& [backend, us] : by_backend) us += fixed_us + overhead_us;
    }
    return costs;
  }
};

Placement with_pins(Placement placement, const std::map<OpId, std::string>& pins) {
  for (const auto& [op, backend] : pins) {
    if (backend == k_cpu)
      placement.erase(op);
    else
      placement[op] = backend;
  }
  return placement;
}

class Decider {
 public:
  explicit Decider(const DecideRequest& request)
      : request_(request), pricing_(std::make_shared<Pricing>()) {}

  Decision run() {
    if (request_.singles.empty())
      throw Error(ErrorKind::input, "cannot decide", "the package", "no backend was measured");
    pins_ = resolve_pins(*request_.model, request_.pins, request_.op_list, request_.backends,
                         request_.discovered);
    out_.points = measured_copies();
    const TransferModel transfers(request_.backends, out_.points);
    for (const MeasuredSingle& single : request_.singles) {
      singles_.push_back({single.backend, with_pins(single.placement, pins_), single.graph_us});
    }
    const MeasuredSingle& best = request_.singles[best_single(singles_)];
    make_pricing(transfers, best);
    if (request_.algorithm == Algorithm::greedy) find_greedy_rule();
    make_functions();
    make_plans();
    make_rows(transfers);
    return std::move(out_);
  }

 private:
  /// Copies between classes of backends, as the Permutes of all traces show them.
  std::vector<TransferPoint> measured_copies() {
    std::vector<TransferPoint> points;
    std::size_t unmatched = 0;
    for (const RunTrace& run : request_.runs) {
      if (run.run.threads != request_.timings->threads || run.trace.ops.empty()) continue;
      const PermuteMatch match = match_permutes(*request_.model, run.trace);
      unmatched += match.unmatched.size();
      for (const TransferPoint& point : transfer_points(match.copies)) points.push_back(point);
    }
    if (unmatched > 0) {
      out_.warnings.push_back(
          {"permutes_unmatched", Severity::info, "copies",
           std::to_string(unmatched) +
               " Permutes of the traces could not be told apart and were left out of the fit",
           ""});
    }
    return points;
  }

  void make_pricing(const TransferModel& transfers, const MeasuredSingle& best) {
    Pricing& pricing = *pricing_;
    pricing.times = op_times(*request_.timings, *request_.model, request_.op_list,
                             request_.backends, request_.discovered);
    for (const std::string& label : request_.reenter)
      reenter_times(pricing.times, *request_.timings, label);
    pricing.problem = make_problem(*request_.model, pricing.times, transfers, request_.backends,
                                   pins_, with_pins(best.placement, pins_));
    pricing.fixed_us = fixed_us(*request_.timings, best.label);
    const LabelTiming* label = request_.timings->find_label(best.label);
    if (label != nullptr && label->overhead_us) {
      pricing.overhead_us = std::max(0.0, label->overhead_us->median);
      out_.overhead_us = pricing.overhead_us;
    }
  }

  void find_greedy_rule() {
    const GreedyPlan plan = greedy(request_.averages->runs, listed_types(request_.op_list));
    greedy_ = GreedyRule{request_.model, plan.default_backend, plan.default_types, {}};
    for (const auto& [op, backend] : plan.choices) {
      greedy_->decided.push_back(op);
      if (backend != k_cpu) greedy_placement_[op] = backend;
    }
  }

  void make_functions() {
    out_.price = [pricing = pricing_](Plan& plan) { pricing->price(plan); };
    out_.in_company = [pricing = pricing_](const Placement& placement) {
      return pricing->in_company(placement);
    };
    out_.calibration = [pricing = pricing_, model = request_.model, points = out_.points] {
      return plan_calibration(*model, pricing->problem, points);
    };
    out_.causes = [pricing = pricing_](const Placement& placement) {
      const auto numbers = pricing->problem.to_numbers(placement);
      return numbers ? switch_causes(pricing->problem, *numbers) : std::vector<SwitchCause>();
    };
    out_.make_keys = [rule = greedy_, make = request_.make_keys](
                         const Plan& plan, const std::optional<std::string>& planner) {
      const bool greedy_form = rule && plan.kind == PlanKind::greedy;
      return make(plan.placement, planner,
                  greedy_form ? std::optional(rule->form(plan.placement)) : std::nullopt);
    };
  }

  void make_plans() {
    CandidateRequest candidates;
    candidates.singles = singles_;
    if (greedy_) candidates.greedy = with_pins(greedy_placement_, pins_);
    if (const auto previous = usable_previous()) candidates.previous = {*previous};
    if (request_.baseline) candidates.baselines = {request_.baseline->placement};
    candidates.fixed_us = pricing_->fixed_us;
    candidates.overhead_us = pricing_->overhead_us;
    CandidateSet set = make_candidates(pricing_->problem, pricing_->times, candidates);
    for (Plan& plan : set.plans) {
      plan.keys = out_.make_keys(plan, planner_of(plan));
      if (plan.kind == PlanKind::baseline) take_baseline(plan);
      if (plan.kind == PlanKind::averse || plan.kind == PlanKind::greedy) out_.preferred = plan.id;
    }
    out_.best_single = set.plans[set.baseline].id;
    out_.plans = std::move(set.plans);
    if (set.certificate) take_certificate(*set.certificate);
  }

  /// The baseline runs with the very keys it had. It may be written only where tonight's settings
  /// come to the same keys, where all it asks for is measured, and where it keeps the pins.
  void take_baseline(Plan& plan) {
    const bool same_keys = same_schedule(plan, *request_.baseline);
    if (!same_keys) plan.keys = request_.baseline->keys;
    out_.baseline_may_win = same_keys && with_pins(plan.placement, pins_) == plan.placement &&
                            pricing_->problem.to_numbers(plan.placement).has_value();
  }

  /// Yesterday's plan counts while everything it asks for is still measured, and while it keeps the
  /// pins.
  std::optional<Placement> usable_previous() const {
    if (!request_.previous) return std::nullopt;
    const Placement& placement = request_.previous->chosen.placement;
    if (with_pins(placement, pins_) != placement || !pricing_->problem.to_numbers(placement))
      return std::nullopt;
    return placement;
  }

  std::optional<std::string> planner_of(const Plan& plan) const {
    const Plan* earlier = plan.kind == PlanKind::previous   ? &request_.previous->chosen
                          : plan.kind == PlanKind::baseline ? &*request_.baseline
                                                            : nullptr;
    if (earlier == nullptr) return std::nullopt;
    const std::string* planner = find_key(earlier->keys, "CPU_MEMORY_PLANNER");
    return planner == nullptr ? std::nullopt : std::optional(*planner);
  }

  void take_certificate(const Certificate& certificate) {
    CertificateRow& row = out_.certificate;
    row.status = std::string(to_string(certificate.status));
    row.cost_us = to_us(certificate.cost);
    row.bound_us = to_us(certificate.bound);
    row.gap = certificate.gap();
    row.method = std::string(to_string(certificate.method));
    row.width = certificate.width;
    row.states = certificate.states;
  }

  void make_rows(const TransferModel& transfers) {
    out_.ops = describe_operations(*request_.model);
    for (OpRow& row : out_.ops) fill_row(row);
    for (const Transfer& transfer : transfers.transfers()) {
      out_.transfers.push_back({transfer.from, transfer.to, transfer.latency_us,
                                transfer.bytes_per_us, transfer.points, transfer.residual_us,
                                std::string(to_string(transfer.source))});
    }
    for (const LeftOut& left :
         unmappable(*request_.model, request_.op_list, request_.backends, request_.discovered)) {
      out_.left_out.push_back({left.op, left.wanted, left.reason});
    }
  }

  void fill_row(OpRow& row) const {
    const Candidates choice = candidates(*request_.model, row.op, request_.op_list,
                                         request_.backends, request_.discovered);
    if (choice.fixed) row.fixed = std::string(to_string(*choice.fixed));
    if (pins_.contains(row.op)) row.fixed = "pin";
    const auto times = pricing_->times.find(row.op);
    if (times == pricing_->times.end()) return;
    for (const auto& [backend, timing] : times->second) {
      OpCandidate candidate;
      candidate.us = timing.us;
      candidate.samples = static_cast<int>(timing.samples);
      candidate.rounds = static_cast<int>(timing.rounds.size());
      for (const RoundMedian& round : timing.rounds) candidate.round_medians_us.push_back(round.us);
      candidate.runs = timing.runs;
      row.candidates[backend] = candidate;
    }
  }

  const DecideRequest& request_;
  std::shared_ptr<Pricing> pricing_;
  std::map<OpId, std::string> pins_;
  std::vector<SinglePlan> singles_;
  std::optional<GreedyRule> greedy_;
  Placement greedy_placement_;
  Decision out_;
};

}  // namespace

Decision decide(const DecideRequest& request) {
  return Decider(request).run();
}

}  // namespace stab
