// SPDX-License-Identifier: Apache-2.0
#include "stab/app/prove.h"

#include <algorithm>
#include <cmath>

#include "prove_internal.h"
#include "stab/core/schedule_keys.h"

namespace stab {
namespace {

using proving::Equality;
using proving::fit;
using proving::Route;
using proving::twins;

/// The order in which plans are preferred where times do not tell: the noise-averse optimum first,
/// then what is most sure.
int preference(const Plan& plan) {
  switch (plan.kind) {
    case PlanKind::averse:
      return 1;
    case PlanKind::greedy:
      return 2;
    case PlanKind::optimum:
      return 3;
    case PlanKind::single:
      return 4;
    case PlanKind::baseline:
      return 5;
    case PlanKind::previous:
    case PlanKind::today:
      return 6;
  }
  return 7;
}

class Prover {
 public:
  Prover(TrialRunner& runner, const ProofRequest& request) : runner_(runner), request_(request) {
    outcome_.plans = request.plans;
  }

  ProofOutcome run() {
    find_route();
    if (!deliverable()) return std::move(outcome_);
    Equality equality(runner_, request_, route_);
    for (std::size_t i = 0; i < outcome_.plans.size(); ++i) {
      say("prove " + outcome_.plans[i].id, static_cast<double>(i),
          static_cast<double>(outcome_.plans.size()));
      prove_one(i, equality);
    }
    outcome_.warnings.insert(outcome_.warnings.end(), equality.warnings().begin(),
                             equality.warnings().end());
    outcome_.config_is_read = route_.config_is_read;
    if (!anything_to_write()) return std::move(outcome_);
    if (request_.verify) {
      proving::run_contest(runner_, request_, route_, outcome_);
    } else {
      choose_without_times();
    }
    finish_delivery();
    return std::move(outcome_);
  }

 private:
  void say(const std::string& text, double done, double total) const {
    if (request_.progress) request_.progress(text, done, total);
  }

  void find_route() {
    for (const Plan& plan : outcome_.plans) {
      if (plan.placement.empty()) continue;
      say("find out what the runtime reads", 0, 0);
      route_ = proving::find_route(runner_, request_, plan, outcome_.delivery);
      if (route_.found) return;
    }
    route_.way = Way::config;
  }

  /// Where nothing moves operations only cpu can be written, and only if it is the best single
  /// backend anyway; the gain that is lost is named.
  bool deliverable() {
    const Plan* best = nullptr;
    const Plan* single = nullptr;
    const Plan* cpu = nullptr;
    for (const Plan& plan : outcome_.plans) {
      if (best == nullptr || cost(plan) < cost(*best)) best = &plan;
      if (plan.kind == PlanKind::single && (single == nullptr || cost(plan) < cost(*single)))
        single = &plan;
      if (plan.placement.empty()) cpu = &plan;
    }
    const bool nothing_to_move = best == nullptr || best->placement.empty();
    if (route_.found || nothing_to_move) return true;
    std::string lost =
        "neither the package's config nor the environment nor the API puts "
        "operations where they should run";
    if (cpu != nullptr && cpu->estimate && best->estimate && best->estimate->total_us > 0) {
      const double ratio = cpu->estimate->total_us / best->estimate->total_us;
      lost += "; estimated gain that is lost: " + std::to_string(std::lround(100 * (ratio - 1))) +
              " % over cpu";
    }
    if (single == nullptr || single->placement.empty()) {
      outcome_.warnings.push_back({"not_deliverable", Severity::warning, "schedule", lost, ""});
      return true;
    }
    outcome_.refusal = lost;
    return false;
  }

  /// The number of an earlier plan that was asked for in the same words, or that a remedy made the
  /// same: its proofs hold, and what cured it cures.
  std::optional<std::size_t> earlier_twin(std::size_t index) const {
    const Plan& plan = outcome_.plans[index];
    for (std::size_t i = 0; i < index; ++i) {
      const Plan& proven = outcome_.plans[i];
      if (!twins(request_.plans[i], plan) && !twins(proven, plan)) continue;
      const bool treated_alike =
          proving::may_be_rearranged(proven) == proving::may_be_rearranged(plan);
      const bool passed_as_it_is =
          proven.equal.status != ProofStatus::fail && proven.equal.guilty.empty();
      if (treated_alike || passed_as_it_is) return i;
    }
    return std::nullopt;
  }

  static void take_proofs(const Plan& twin, Plan& plan) {
    plan.placement = twin.placement;
    plan.keys = twin.keys;
    plan.switches = twin.switches;
    plan.copies = twin.copies;
    plan.estimate = twin.estimate;
    plan.peak_rss_kb = twin.peak_rss_kb;
    plan.applied = twin.applied;
    plan.equal = twin.equal;
  }

  void prove_one(std::size_t index, Equality& equality) {
    Plan& plan = outcome_.plans[index];
    if (const auto twin = earlier_twin(index)) {
      take_proofs(outcome_.plans[*twin], plan);
      if (plan.kind == PlanKind::single) note_single(plan, plan.equal.status);
      return;
    }
    plan.applied = proving::prove_applied(runner_, request_, route_, plan);
    if (plan.applied.status != ProofStatus::pass) {
      if (plan.kind == PlanKind::single) note_single(plan, ProofStatus::skipped);
      return;
    }
    if (!request_.check) {
      if (plan.kind == PlanKind::single) note_single(plan, ProofStatus::skipped);
      return;
    }
    const Placement before = plan.placement;
    equality.prove(plan);
    if (plan.placement != before || plan.equal.remedy) {
      plan.applied = proving::prove_applied(runner_, request_, route_, plan);
    }
    if (plan.kind == PlanKind::single) note_single(plan, plan.equal.status);
  }

  void note_single(const Plan& plan, ProofStatus status) {
    outcome_.single_equal.emplace_back(plan.backend.value_or(k_cpu), status);
  }

  bool anything_to_write() {
    const auto may_be_written = [](const Plan& plan) {
      return fit(plan) && plan.kind != PlanKind::baseline;
    };
    if (std::any_of(outcome_.plans.begin(), outcome_.plans.end(), may_be_written)) return true;
    for (const Plan& plan : outcome_.plans) {
      const bool applied = plan.applied.status == ProofStatus::pass;
      outcome_.refusal = std::string(to_string(plan.kind)) + ": " +
                         (applied ? plan.equal.reason : plan.applied.reason);
      break;
    }
    return false;
  }

  void choose_without_times() {
    const Plan* best = nullptr;
    const Plan* previous = nullptr;
    for (const Plan& plan : outcome_.plans) {
      if (!fit(plan) || plan.kind == PlanKind::baseline) continue;
      if (plan.kind == PlanKind::previous) {
        previous = &plan;
      } else if (best == nullptr || std::make_pair(preference(plan), cost(plan)) <
                                        std::make_pair(preference(*best), cost(*best))) {
        best = &plan;
      }
    }
    if (best == nullptr || (previous != nullptr && keeps(*previous, *best))) best = previous;
    outcome_.chosen = best->id;
    const Plan* single = nullptr;
    for (const Plan& plan : outcome_.plans) {
      if (fit(plan) && plan.kind == PlanKind::single &&
          (single == nullptr || cost(plan) < cost(*single)))
        single = &plan;
    }
    if (single != nullptr) outcome_.baseline = single->id;
  }

  /// Without times yesterday's plan stays while it may be as fast as the estimate of today's; a
  /// rule that was asked for by name goes before it.
  static bool keeps(const Plan& previous, const Plan& today) {
    if (today.kind == PlanKind::greedy || !previous.estimate) return false;
    return !today.estimate || previous.estimate->total_us <= today.estimate->high_us;
  }

  static double cost(const Plan& plan) { return plan.estimate ? plan.estimate->total_us : 1e300; }

  void finish_delivery() {
    const Plan* chosen = find_plan(outcome_.plans, outcome_.chosen);
    if (chosen == nullptr) return;
    if (chosen->placement.empty() && !route_.found) {
      outcome_.delivery.works = "none_needed";
    } else if (chosen->placement.empty() && route_.way != Way::config) {
      outcome_.delivery.works = "none_needed";
    } else {
      outcome_.delivery.works = std::string(to_string(route_.way));
    }
    const ApiStrings api = api_strings(chosen->placement, request_.backends);
    outcome_.delivery.available_backends = api.available_backends;
    outcome_.delivery.per_operation = api.per_operation;
    if (!fits_api(api)) {
      outcome_.warnings.push_back({"api_too_long", Severity::warning, api.available_backends,
                                   "nnfw_set_available_backends takes no list as long as this",
                                   "fewer --backends"});
    }
  }

  TrialRunner& runner_;
  const ProofRequest& request_;
  ProofOutcome outcome_;
  Route route_;
};

}  // namespace

ProofOutcome prove(TrialRunner& runner, const ProofRequest& request) {
  return Prover(runner, request).run();
}

}  // namespace stab
