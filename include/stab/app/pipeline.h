// SPDX-License-Identifier: Apache-2.0
// The main job from options to result: package, model, traces, timings, costs, plan, proofs,
// written package.
#pragma once

#include "stab/app/options.h"
#include "stab/core/result.h"
#include "stab/device/transport.h"
#include "stab/host/progress.h"

namespace stab {

/// Schedules a package into `result`. Everything that goes wrong on the way is thrown, with what is
/// known by then in the result; a proof that fails is in the result (its exit status is 6 and
/// nothing was written).
void schedule(const Options& options, Progress& progress, const StopRequested& stop,
              Result& result);

/// The plan for the traces that are there, explained; nothing is written and no device contacted.
Result explain(const Options& options, Progress& progress, const StopRequested& stop);

}  // namespace stab
