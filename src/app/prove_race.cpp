// SPDX-License-Identifier: Apache-2.0
// Third proof: plans are timed in interleaved rounds, untraced, each round a process of its own.
#include <algorithm>

#include "prove_internal.h"
#include "stab/core/report.h"

namespace stab::proving {
namespace {

constexpr int k_rounds_before_dropping = 3;

Trial timed_trial(const ProofRequest& request, const Route& route, const Entrant& entrant) {
  Trial trial;
  if (entrant.plan != nullptr) {
    trial = trial_by(request, route, entrant.id, entrant.plan->keys);
  } else {
    trial.label = entrant.id;
    trial.way = Way::config;
    trial.source_as_is = true;
    trial.inputs = request.own_inputs;
  }
  trial.warmup = request.warmup;
  trial.runs = std::max(1, (request.runs + request.rounds - 1) / request.rounds);
  return trial;
}

/// Ends the plans that are surely slower than the one with the smallest median. A single backend
/// is only measured against its like: the best of them is what every gain is told against, and has
/// to stay to the end whoever leads.
void drop_surely_slower(Race& race, const std::vector<Entrant>& entrants, bool singles) {
  std::vector<std::string> running;
  std::string leader;
  for (const Entrant& entrant : entrants) {
    if (race.dropped.contains(entrant.id) || (singles && !entrant.single)) continue;
    running.push_back(entrant.id);
    if (leader.empty() || *median(race.medians[entrant.id]) < *median(race.medians[leader]))
      leader = entrant.id;
  }
  for (const Entrant& entrant : entrants) {
    if (entrant.id == leader || entrant.single != singles) continue;
    if (std::find(running.begin(), running.end(), entrant.id) == running.end()) continue;
    const auto ratio = paired_log_interval(race.medians[entrant.id], race.medians[leader]);
    if (ratio && ratio->low && *ratio->low > 1) race.dropped.insert(entrant.id);
  }
}

void time_one(TrialRunner& runner, const ProofRequest& request, const Route& route,
              const Entrant& entrant, Race& race) {
  const TrialOutcome outcome = runner.run(timed_trial(request, route, entrant));
  std::vector<double> samples = outcome.samples_us;
  if (samples.empty() && outcome.mean_us) samples = {*outcome.mean_us};
  if (!outcome.ok() || samples.empty()) {
    race.dropped.insert(entrant.id);
    race.failures[entrant.id] =
        outcome.reason.empty() ? "the runner printed no times" : outcome.reason;
    return;
  }
  race.medians[entrant.id].push_back(*median(samples));
  race.samples[entrant.id].push_back(std::move(samples));
}

/// "; so far p1 leads with 8.40 ms"
std::string leader_so_far(const Race& race) {
  std::optional<double> least;
  std::string leader;
  for (const auto& [id, medians] : race.medians) {
    const auto us = median(medians);
    if (!us || (least && *us >= *least)) continue;
    least = us;
    leader = id;
  }
  return least ? "; so far " + leader + " leads with " + render_time(*least) : "";
}

}  // namespace

Race run_race(TrialRunner& runner, const ProofRequest& request, const Route& route,
              const std::vector<Entrant>& entrants, bool drop_losers, const std::string& name) {
  Race race;
  for (int round = 0; round < request.rounds; ++round) {
    if (round > 0 && request.out_of_time && request.out_of_time()) break;
    for (std::size_t i = 0; i < entrants.size(); ++i) {
      const Entrant& entrant = entrants[round % 2 == 0 ? i : entrants.size() - 1 - i];
      if (race.dropped.contains(entrant.id)) continue;
      if (request.progress) {
        request.progress(
            name + " round " + std::to_string(round + 1) + ": " + entrant.id + leader_so_far(race),
            static_cast<double>(round) +
                static_cast<double>(i) / static_cast<double>(entrants.size()),
            request.rounds);
      }
      time_one(runner, request, route, entrant, race);
    }
    if (!drop_losers || round + 1 < k_rounds_before_dropping) continue;
    drop_surely_slower(race, entrants, false);
    drop_surely_slower(race, entrants, true);
  }
  return race;
}

}  // namespace stab::proving
