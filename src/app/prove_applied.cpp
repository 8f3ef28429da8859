// SPDX-License-Identifier: Apache-2.0
// First proof: a traced run of the staged package shows each operation on its backend.
#include "prove_internal.h"

namespace stab::proving {
namespace {

Trial traced_trial(const Plan& plan, Way way, bool config_is_read) {
  Trial trial;
  trial.label = plan.id;
  trial.keys = plan.keys;
  trial.way = way;
  trial.config_is_read = config_is_read;
  trial.traced = true;
  trial.warmup = 0;
  trial.runs = 1;
  return trial;
}

/// True when the run shows the whole placement; `reason` says why not.
bool applied(const ProofRequest& request, const Plan& plan, const TrialOutcome& outcome,
             AppliedProof& proof) {
  proof = {};
  if (!outcome.ok() || !outcome.trace) {
    proof.status = ProofStatus::fail;
    proof.reason = outcome.reason.empty() ? "the run left no trace" : outcome.reason;
    return false;
  }
  for (const Misplaced& wrong : misplaced(*outcome.trace, plan.placement, request.operations)) {
    proof.mismatches.push_back({wrong.op, wrong.wanted, wrong.ran});
  }
  proof.status = proof.mismatches.empty() ? ProofStatus::pass : ProofStatus::fail;
  if (!proof.mismatches.empty()) {
    const auto& first = proof.mismatches.front();
    proof.reason = std::to_string(proof.mismatches.size()) + " operations ran elsewhere, first " +
                   to_string(first.op) + ": wanted " + first.wanted + ", ran on " +
                   (first.ran.empty() ? "nothing" : first.ran);
  }
  return proof.mismatches.empty();
}

}  // namespace

Route find_route(TrialRunner& runner, const ProofRequest& request, const Plan& plan,
                 Delivery& delivery) {
  AppliedProof ignored;
  const auto works = [&](Way way, bool config_is_read) {
    return applied(request, plan, runner.run(traced_trial(plan, way, config_is_read)), ignored);
  };
  Route route;
  delivery.tried_config = works(Way::config, true);
  if (*delivery.tried_config) {
    route.found = true;
    return route;
  }
  route.config_is_read = false;
  for (const Way way : {Way::env, Way::api}) {
    const bool ok = works(way, false);
    (way == Way::env ? delivery.tried_env : delivery.tried_api) = ok;
    if (!ok) continue;
    route.way = way;
    route.found = true;
    return route;
  }
  return route;
}

AppliedProof prove_applied(TrialRunner& runner, const ProofRequest& request, const Route& route,
                           const Plan& plan) {
  AppliedProof proof;
  applied(request, plan, runner.run(traced_trial(plan, route.way, route.config_is_read)), proof);
  return proof;
}

}  // namespace stab::proving
