// SPDX-License-Identifier: Apache-2.0
// Small steps from what the stages found to the rows of the result.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stab/app/decide.h"
#include "stab/app/job.h"
#include "stab/app/measure.h"
#include "stab/app/profile_store.h"
#include "stab/app/prove.h"
#include "stab/core/conditions.h"
#include "stab/core/result.h"
#include "stab/core/rows.h"
#include "stab/core/sha256.h"

namespace stab {

StabInfo stab_info();
/// "2026-01-31T12:00:00Z"
std::string utc_now();

ModelInfo model_info(const Job& job);
Settings settings_of(const Options& options, const Job& job);
/// Why traces recorded in that context are not of this job's model, shapes or device, naming both;
/// empty when they are, or when the job does not say.
std::string why_not_of(const Context& recorded, const Job& job, const Options& options);
ProfileRun profile_run(const MeasuredRun& run);

/// One row per measured backend, with its times for each number of threads. Labels of one backend
/// share a row: the faster.
std::vector<BackendRow> backend_rows(const std::vector<Single>& singles,
                                     const std::map<int, Timings>& timings);
Noise noise_of(const Timings& timings);
/// What the device was doing over all runs, and the warnings that follow.
void add_conditions(const LoadedProfile& loaded, bool affinity_given, Result& result);
/// Plans, choice, delivery and gain as proven.
void take_proofs(ProofOutcome&& outcome, Result& result);
/// Everything that depends on which plan was chosen: each operation's backend, backends' status,
/// outcome, gain.
void finish_choice(const Plan& chosen, const Decision& decision, Result& result);

}  // namespace stab
