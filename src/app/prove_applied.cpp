// SPDX-License-Identifier: Apache-2.0
// First proof: a traced run of the staged package shows each operation on its backend.
#include "prove_internal.h"

namespace stab::proving {
namespace {

Trial traced_trial(const ProofRequest& request, const Route& route, const Plan& plan) {
  Trial trial = trial_by(request, route, plan.id, plan.keys);
  trial.traced = true;
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

Trial trial_by(const ProofRequest& request, const Route& route, const std::string& label,
               const RuntimeKeys& keys) {
  Trial trial;
  trial.label = label;
  trial.keys = keys;
  trial.way = route.way;
  trial.config_is_read = route.config_is_read;
  trial.source_as_is = label == request.as_is;
  trial.inputs = request.own_inputs;
  return trial;
}

Route find_route(TrialRunner& runner, const ProofRequest& request, const Plan& plan,
                 Delivery& delivery) {
  AppliedProof ignored;
  const auto works = [&](const Route& route) {
    return applied(request, plan, runner.run(traced_trial(request, route, plan)), ignored);
  };
  Route route;
  delivery.tried_config = works(route);
  if (*delivery.tried_config) {
    route.found = true;
    return route;
  }
  route.config_is_read = false;
  for (const Way way : {Way::env, Way::api}) {
    route.way = way;
    const bool ok = works(route);
    (way == Way::env ? delivery.tried_env : delivery.tried_api) = ok;
    if (!ok) continue;
    route.found = true;
    return route;
  }
  return route;
}

AppliedProof prove_applied(TrialRunner& runner, const ProofRequest& request, const Route& route,
                           const Plan& plan) {
  AppliedProof proof;
  applied(request, plan, runner.run(traced_trial(request, route, plan)), proof);
  return proof;
}

}  // namespace stab::proving
