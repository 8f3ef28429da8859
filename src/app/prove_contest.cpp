// SPDX-License-Identifier: Apache-2.0
// Third proof: candidates race, then the winner, the best single backend, the plan of yesterday and
// today's package are timed afresh, and these rounds alone choose what is written.
#include <algorithm>
#include <span>

#include "prove_internal.h"

namespace stab::proving {
namespace {

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

bool has_twin(const std::vector<Entrant>& entrants, const Plan& plan) {
  return std::any_of(entrants.begin(), entrants.end(),
                     [&](const Entrant& other) { return twins(*other.plan, plan); });
}

class Contest {
 public:
  Contest(TrialRunner& runner, const ProofRequest& request, const Route& route,
          ProofOutcome& outcome)
      : runner_(runner), request_(request), route_(route), outcome_(outcome) {}

  void run() {
    const std::vector<Entrant> all = entrants();
    const Race first = run_race(runner_, request_, route_, all, true, "race");
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
      if (stands_for(PlanKind::previous, *entrant.plan)) previous = entrant.id;
    }
    if (winner.empty()) {
      outcome_.refusal = "no plan could be timed";
      return;
    }
    if (single.empty()) single = winner;
    for (const Entrant& entrant : all) record(first, entrant.id, single);
    final_round(winner, single, previous);
  }

 private:
  /// Equal placements with equal keys are timed once: the later one takes the times of the earlier.
  /// A baseline's plan waits for the last rounds.
  std::vector<Entrant> entrants() {
    std::vector<Entrant> all;
    for (const Plan& plan : outcome_.plans) {
      if (!fit(plan) || plan.kind == PlanKind::baseline) continue;
      if (!has_twin(all, plan)) all.push_back({plan.id, &plan, stands_for(PlanKind::single, plan)});
    }
    return all;
  }

  /// It is a plan of this kind, or the same in all but its name, and only one of the two is timed.
  bool stands_for(PlanKind kind, const Plan& plan) const {
    return std::any_of(outcome_.plans.begin(), outcome_.plans.end(),
                       [&](const Plan& other) { return other.kind == kind && twins(other, plan); });
  }

  void note_failures(const Race& race) {
    for (const auto& [id, reason] : race.failures) {
      if (id == k_today) {
        outcome_.warnings.push_back({"today_failed", Severity::warning, "the source package",
                                     "it could not be timed as it is: " + reason, ""});
        continue;
      }
      Plan* plan = find_plan(outcome_.plans, id);
      plan->applied.status = ProofStatus::fail;
      plan->applied.reason = reason;
    }
  }

  void record(const Race& race, const std::string& id, const std::string& against) {
    Plan* plan = find_plan(outcome_.plans, id);
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
    std::vector<Entrant> finalists = {{winner, find_plan(outcome_.plans, winner)}};
    if (single != winner) finalists.push_back({single, find_plan(outcome_.plans, single)});
    if (!previous.empty() && previous != winner && previous != single)
      finalists.push_back({previous, find_plan(outcome_.plans, previous)});
    const std::string baseline = join_baseline(finalists);
    if (request_.time_today) finalists.push_back({k_today, nullptr});
    const Race race = run_race(runner_, request_, route_, finalists, false, "verdict");
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
      if (has_twin(finalists, plan)) return "";
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

  TrialRunner& runner_;
  const ProofRequest& request_;
  const Route& route_;
  ProofOutcome& outcome_;
};

}  // namespace

bool twins(const Plan& a, const Plan& b) {
  return a.placement == b.placement && a.keys == b.keys;
}

bool fit(const Plan& plan) {
  return plan.applied.status == ProofStatus::pass && plan.equal.status != ProofStatus::fail;
}

void run_contest(TrialRunner& runner, const ProofRequest& request, const Route& route,
                 ProofOutcome& outcome) {
  Contest(runner, request, route, outcome).run();
}

}  // namespace stab::proving
