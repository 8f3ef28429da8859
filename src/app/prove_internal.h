// SPDX-License-Identifier: Apache-2.0
// What the parts of the proofs share.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "stab/app/prove.h"

namespace stab::proving {

/// How the schedule reaches this runtime, once found.
struct Route {
  Way way = Way::config;
  bool found = false;          ///< a plan that needs delivery was seen to be applied
  bool config_is_read = true;  ///< the runtime takes backends from the package
};

/// A trial by this route with these keys; the package untouched for the plan that it is itself.
Trial trial_by(const ProofRequest& request, const Route& route, const std::string& label,
               const RuntimeKeys& keys);

/// Tries config, environment and API with `plan`, which must have operations off cpu; fills the
/// delivery's `tried`.
Route find_route(TrialRunner& runner, const ProofRequest& request, const Plan& plan,
                 Delivery& delivery);

/// A traced run of the plan as it would be delivered.
AppliedProof prove_applied(TrialRunner& runner, const ProofRequest& request, const Route& route,
                           const Plan& plan);

/// The comparison of outputs, with its references, remedies and pins.
class Equality {
 public:
  Equality(TrialRunner& runner, const ProofRequest& request, const Route& route);
  /// Fills plan.equal; may change plan.placement, plan.keys and plan.peak_rss_kb where a remedy was
  /// needed.
  void prove(Plan& plan);
  const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  struct Reference {
    std::vector<std::string> first;
    std::vector<std::string> second;
  };
  struct Verdict {
    ProofStatus status = ProofStatus::pass;
    std::vector<EqualProof::Output> outputs;
    std::string reason;
    std::optional<std::int64_t> peak_rss_kb;
  };

  bool make_references();
  TrialOutcome run(const std::string& label, const RuntimeKeys& keys, Way way, std::size_t set);
  Verdict compare(const Plan& plan, const RuntimeKeys& keys);
  Verdict compare_set(const Plan& plan, const RuntimeKeys& keys, std::size_t set);
  bool try_planner(Plan& plan, const Verdict& before);
  std::optional<OpId> find_guilty(const Plan& plan);
  bool prefix_is_equal(const Plan& plan, const std::vector<OpId>& switched, std::size_t length);

  TrialRunner& runner_;
  const ProofRequest& request_;
  Route route_;
  std::vector<Reference> references_;
  bool references_made_ = false;
  std::string no_reference_;  ///< why there is none
  std::set<int> flipping_;
  std::vector<Warning> warnings_;
};

/// The timing of plans against each other.
struct Race {
  std::map<std::string, std::vector<std::vector<double>>>
      samples;                                         ///< plan id -> per round the timed runs
  std::map<std::string, std::vector<double>> medians;  ///< plan id -> per round
  std::set<std::string> dropped;                       ///< surely slower than the leader, or failed
  std::map<std::string, std::string> failures;         ///< plan id -> the runtime's words
};

struct Entrant {
  std::string id;
  const Plan* plan = nullptr;  ///< null: the source package as it is
  bool single = false;         ///< places everything as a single backend does
};

/// Interleaved untraced rounds. With `drop_losers` those surely slower than the leader (a single
/// backend: than the leading single backend) leave after three rounds.
Race run_race(TrialRunner& runner, const ProofRequest& request, const Route& route,
              const std::vector<Entrant>& entrants, bool drop_losers, const std::string& name);

/// The same operations in the same places by the same keys: proven and timed once.
bool twins(const Plan& a, const Plan& b);
/// Made by stab from single operations: one that computes wrong outputs may be put back to cpu. A
/// backend's own plan, yesterday's or one asked for is what it is.
bool may_be_rearranged(const Plan& plan);
/// Applied, and not known to compute something else than cpu.
bool fit(const Plan& plan);

/// Times all plans that are fit and fills in their `faster`, the plan to write, the best single
/// backend, and the gains; or a refusal when none lasts.
void run_contest(TrialRunner& runner, const ProofRequest& request, const Route& route,
                 ProofOutcome& outcome);

}  // namespace stab::proving
