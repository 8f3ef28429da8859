// SPDX-License-Identifier: Apache-2.0
// The three proofs, on the device: a plan is applied, its outputs equal cpu's, and it is not slower
// than the best single backend. Picks the plan to write.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stab/app/trial.h"
#include "stab/core/model.h"
#include "stab/core/outputs.h"
#include "stab/core/plan.h"
#include "stab/core/result.h"

namespace stab {

struct ProofRequest {
  const Model* model = nullptr;
  std::vector<OpId> operations;  ///< those of subgraph 0 that a trace must show
  std::vector<Plan> plans;       ///< candidates; singles among them; equal placements stand once
  std::vector<std::vector<std::string>>
      input_sets;  ///< per seed the values of each graph input; empty: the runner's own
  /// The user's own inputs, which every run gets; null: the runner's.
  const std::vector<std::string>* own_inputs = nullptr;
  std::set<OpId> pinned;              ///< stay where they are, whatever their outputs
  std::vector<int> seeds;             ///< as many as input_sets, or empty for the user's own inputs
  std::vector<std::string> backends;  ///< in the user's order
  std::optional<OutputLimit> tolerance;
  bool check = true;   ///< compare outputs
  bool verify = true;  ///< time the plans
  int warmup = 5;
  int runs = 50;  ///< per plan, split over the rounds
  int rounds = 10;
  bool remedies = true;    ///< another memory planner, operations back to cpu
  bool time_today = true;  ///< also time the source package as it is
  std::string as_is;       ///< id of the plan that the package itself is: run untouched
  /// The plan of kind baseline, which joins in the last rounds, may be chosen, and is kept unless
  /// beaten where there is no earlier plan; otherwise it is timed and no more.
  bool baseline_may_win = false;
  int max_pins = 8;  ///< operations moved back to cpu because of wrong outputs
  /// The complete keys of a placement, with this memory planner as a remedy where given.
  std::function<RuntimeKeys(const Plan&, const std::optional<std::string>& planner)> make_keys;
  /// What a placement costs after an operation was moved: fills switches, copies, estimate.
  std::function<void(Plan&)> price;
  /// Says what is going on: text, done, total.
  std::function<void(const std::string&, double, double)> progress;
  /// Seconds until no further round may start; absent: no limit.
  std::function<bool()> out_of_time;
};

struct ProofOutcome {
  std::vector<Plan> plans;  ///< all that were looked at, with their proofs; `today` last
  std::string chosen;       ///< plan id; empty when nothing may be written
  std::string baseline;     ///< the best single backend; empty when none passed
  Delivery delivery;
  bool config_is_read =
      true;  ///< the runtime takes backends from the package, or it was not found out
  std::optional<double> today_us;
  std::optional<Interval> speedup;
  std::optional<Interval> speedup_over_today;
  std::optional<bool> beyond_noise;
  std::vector<std::pair<std::string, ProofStatus>>
      single_equal;     ///< backend and how its outputs compared
  std::string refusal;  ///< why nothing may be written; empty otherwise
  std::vector<Warning> warnings;
};

/// Runs the proofs. Throws what TrialRunner throws; every failed run is part of the outcome.
ProofOutcome prove(TrialRunner& runner, const ProofRequest& request);

}  // namespace stab
