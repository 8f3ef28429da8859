// SPDX-License-Identifier: Apache-2.0
#include "stab/app/prove.h"

#include <algorithm>
#include <cmath>

#include "prove_internal.h"
#include "stab/core/schedule_keys.h"

namespace stab {
namespace {

using proving::Entrant;
using proving::Equality;
using proving::Race;
using proving::Route;

constexpr const char* k_today = "today";

/// Of two plans of one race, over the rounds that both have: who fails or is dropped leaves for
/// good, so that their first rounds are pairs.
std::optional<Interval> ratio_of(const Race& race, const std::string& a, const std::string& b) {
  const auto of_a = race.medians.find(a);
  const auto of_b = race.medians.find(b);
  if (of_a == race.medians.end() || of_b == race.medians.end()) return std::nullopt;
  const std::size_t common = std::min(of_a->second.size(), of_b->second.size());
  return paired_log_interval(std::span(of_a->second).first(common),
                             std::span(of_b->second).first(common));
}

bool surely_faster(const Race& race, const std::string& id, const std::string& than) {
  const auto ratio = ratio_of(race, id, than);
  return ratio && ratio->high && *ratio->high < 1;
}

/// It failed in a round, or never had one.
bool lost(const Race& race, const std::string& id) {
  return race.failures.contains(id) || !race.medians.contains(id);
}

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
    int done = 0;
    for (Plan& plan : outcome_.plans) {
      say("prove " + plan.id, done++, static_cast<double>(outcome_.plans.size()));
      prove_one(plan, equality);
    }
    outcome_.warnings.insert(outcome_.warnings.end(), equality.warnings().begin(),
                             equality.warnings().end());
    outcome_.config_is_read = route_.config_is_read;
    if (!anything_to_write()) return std::move(outcome_);
    if (request_.verify) {
      race();
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

  /// A plan like an earlier one has its proofs.
  bool take_from_twin(Plan& plan) const {
    for (const Plan& other : outcome_.plans) {
      if (&other == &plan) return false;
      if (!twins(other, plan)) continue;
      plan.applied = other.applied;
      plan.equal = other.equal;
      plan.peak_rss_kb = other.peak_rss_kb;
      return true;
    }
    return false;
  }

  static bool twins(const Plan& a, const Plan& b) {
    return a.placement == b.placement && a.keys == b.keys;
  }

  void prove_one(Plan& plan, Equality& equality) {
    if (take_from_twin(plan)) {
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

  static bool fit(const Plan& plan) {
    return plan.applied.status == ProofStatus::pass && plan.equal.status != ProofStatus::fail;
  }

  Plan* find(const std::string& id) {
    const auto found = std::find_if(outcome_.plans.begin(), outcome_.plans.end(),
                                    [&](const Plan& plan) { return plan.id == id; });
    return found == outcome_.plans.end() ? nullptr : &*found;
  }

  bool anything_to_write() {
    const auto may_be_written = [](const Plan& plan) {
      return fit(plan) && plan.kind != PlanKind::baseline;
    };
    if (std::any_of(outcome_.plans.begin(), outcome_.plans.end(), may_be_written)) return true;
    for (const Plan& plan : outcome_.plans) {
      const bool applied = plan.applied.status == ProofStatus::pass;
      outcome_.refusal = plan.id + ": " + (applied ? plan.equal.reason : plan.applied.reason);
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

  /// Equal placements with equal keys are timed once: the later one takes the times of the earlier.
  /// A baseline's plan waits for the last rounds.
  std::vector<Entrant> entrants() {
    std::vector<Entrant> all;
    for (const Plan& plan : outcome_.plans) {
      if (!fit(plan) || plan.kind == PlanKind::baseline) continue;
      const bool twin = std::any_of(all.begin(), all.end(),
                                    [&](const Entrant& other) { return twins(*other.plan, plan); });
      if (!twin) all.push_back({plan.id, &plan, stands_for_single(plan)});
    }
    return all;
  }

  void race() {
    const std::vector<Entrant> all = entrants();
    const Race first = proving::run_race(runner_, request_, route_, all, true, "race");
    note_failures(first);
    std::string winner;
    std::string single;
    std::string previous;
    for (const Entrant& entrant : all) {
      if (lost(first, entrant.id)) continue;
      const auto better = [&](const std::string& than) {
        return than.empty() ||
               *median(first.medians.at(entrant.id)) < *median(first.medians.at(than));
      };
      if (!first.dropped.contains(entrant.id) && better(winner)) winner = entrant.id;
      if (entrant.single && !first.dropped.contains(entrant.id) && better(single))
        single = entrant.id;
      if (stands_for_previous(*entrant.plan)) previous = entrant.id;
    }
    if (winner.empty()) {
      outcome_.refusal = "no plan could be timed";
      return;
    }
    if (single.empty()) single = winner;
    for (const Entrant& entrant : all) record(first, entrant.id, single);
    final_round(winner, single, previous);
  }

  /// A plan that puts everything where a single plan does counts as that single backend.
  bool stands_for_single(const Plan& plan) const {
    if (plan.kind == PlanKind::single) return true;
    return std::any_of(outcome_.plans.begin(), outcome_.plans.end(), [&](const Plan& other) {
      return other.kind == PlanKind::single && other.placement == plan.placement &&
             other.keys == plan.keys;
    });
  }

  /// Today's candidates often hold yesterday's plan, and only one of the two is timed.
  bool stands_for_previous(const Plan& plan) const {
    return std::any_of(outcome_.plans.begin(), outcome_.plans.end(), [&](const Plan& other) {
      return other.kind == PlanKind::previous && twins(other, plan);
    });
  }

  void note_failures(const Race& race) {
    for (const auto& [id, reason] : race.failures) {
      if (id == k_today) {
        outcome_.warnings.push_back({"today_failed", Severity::warning, "the source package",
                                     "it could not be timed as it is: " + reason, ""});
        continue;
      }
      Plan* plan = find(id);
      plan->applied.status = ProofStatus::fail;
      plan->applied.reason = reason;
    }
  }

  void record(const Race& race, const std::string& id, const std::string& against) {
    Plan* plan = find(id);
    const auto medians = race.medians.find(id);
    if (plan == nullptr || medians == race.medians.end()) return;
    FasterProof& proof = plan->faster;
    proof.against = against;
    proof.median_us = median(medians->second);
    proof.round_medians_us = medians->second;
    proof.samples_us = race.samples.at(id);
    proof.status = FasterStatus::same;
    proof.delta_us.reset();
    if (id == against) return;
    const auto ratio = ratio_of(race, id, against);
    if (!ratio) {
      proof.status = FasterStatus::skipped;
      return;
    }
    const double reference = *median(race.medians.at(against));
    const auto difference = [&](double factor) { return (factor - 1) * reference; };
    proof.delta_us = Interval{difference(ratio->median), {}, {}};
    if (!ratio->low || !ratio->high) return;
    proof.delta_us->low = difference(*ratio->low);
    proof.delta_us->high = difference(*ratio->high);
    if (*ratio->high < 1) proof.status = FasterStatus::faster;
    if (*ratio->low > 1) proof.status = FasterStatus::slower;
  }

  void final_round(const std::string& winner, const std::string& single,
                   const std::string& previous) {
    std::vector<Entrant> finalists = {{winner, find(winner)}};
    if (single != winner) finalists.push_back({single, find(single)});
    if (!previous.empty() && previous != winner && previous != single)
      finalists.push_back({previous, find(previous)});
    const std::string baseline = join_baseline(finalists);
    if (request_.time_today) finalists.push_back({k_today, nullptr});
    const Race race = proving::run_race(runner_, request_, route_, finalists, false, "verdict");
    note_failures(race);
    for (const Entrant& finalist : finalists) record(race, finalist.id, single);
    outcome_.baseline = single;
    outcome_.chosen = choose(race, winner, single, previous);
    if (request_.baseline_may_win && !baseline.empty())
      outcome_.chosen = choose_baseline(race, baseline, previous);
    if (outcome_.chosen.empty()) {
      outcome_.refusal = "every plan failed while it was timed: " + race.failures.begin()->second;
      return;
    }
    summarise(race, single);
    share_with_twins();
  }

  /// Adds the baseline's plan unless it is one of the finalists already; returns its id when it is
  /// timed by itself.
  std::string join_baseline(std::vector<Entrant>& finalists) const {
    for (const Plan& plan : outcome_.plans) {
      if (plan.kind != PlanKind::baseline || !fit(plan)) continue;
      const bool twin = std::any_of(finalists.begin(), finalists.end(),
                                    [&](const Entrant& other) { return twins(*other.plan, plan); });
      if (twin) return "";
      finalists.push_back({plan.id, &plan});
      return plan.id;
    }
    return "";
  }

  /// Without an earlier plan the baseline's is kept unless beaten; beside one it has to beat what
  /// was chosen.
  std::string choose_baseline(const Race& race, const std::string& baseline,
                              const std::string& previous) const {
    const std::string& chosen = outcome_.chosen;
    if (lost(race, baseline)) return chosen;
    if (chosen.empty()) return baseline;
    const bool keep = previous.empty() ? !surely_faster(race, chosen, baseline)
                                       : surely_faster(race, baseline, chosen);
    return keep ? baseline : chosen;
  }

  /// Among those that lasted: the winner if it surely beats the best single backend, else that one;
  /// the plan of yesterday before either unless surely beaten. Empty when none lasted.
  static std::string choose(const Race& race, const std::string& winner, const std::string& single,
                            const std::string& previous) {
    std::string best;
    for (const std::string& id : {winner, single}) {
      if (best.empty() && !lost(race, id)) best = id;
    }
    if (best != single && !lost(race, single) && !surely_faster(race, best, single)) best = single;
    if (previous.empty() || previous == best || lost(race, previous)) return best;
    if (best.empty()) return previous;
    const bool beaten =
        surely_faster(race, best, previous) ||
        (!lost(race, single) && previous != single && surely_faster(race, single, previous));
    return beaten ? best : previous;
  }

  static std::optional<Interval> speedup(const Race& race, const std::string& of,
                                         const std::string& over) {
    return of == over ? std::nullopt : ratio_of(race, over, of);
  }

  void summarise(const Race& race, const std::string& single) {
    if (race.medians.contains(k_today)) {
      outcome_.today_us = median(race.medians.at(k_today));
      Plan today;
      today.id = k_today;
      today.kind = PlanKind::today;
      outcome_.plans.push_back(std::move(today));
      record(race, k_today, single);
    }
    outcome_.speedup = speedup(race, outcome_.chosen, single);
    outcome_.speedup_over_today = speedup(race, outcome_.chosen, k_today);
    if (outcome_.speedup)
      outcome_.beyond_noise = (outcome_.speedup->low && *outcome_.speedup->low > 1) ||
                              (outcome_.speedup->high && *outcome_.speedup->high < 1);
  }

  /// Plans that were not timed because an equal one was get its times.
  void share_with_twins() {
    for (Plan& plan : outcome_.plans) {
      if (plan.faster.median_us || !fit(plan)) continue;
      for (const Plan& other : outcome_.plans) {
        if (!other.faster.median_us || other.id == k_today || !twins(other, plan)) continue;
        plan.faster = other.faster;
        break;
      }
    }
  }

  void finish_delivery() {
    const Plan* chosen = find(outcome_.chosen);
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
