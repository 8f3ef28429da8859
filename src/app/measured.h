// SPDX-License-Identifier: Apache-2.0
// What measuring ends in, on a device or from the traces of an earlier measurement; and what is
// asked of each backend before.
#pragma once

#include <string>
#include <vector>

#include "stab/app/job.h"
#include "stab/app/measure.h"
#include "stab/app/profile_store.h"
#include "stab/core/result.h"

namespace stab {

struct Measured {
  LoadedProfile loaded;
  std::vector<Single> singles;     ///< with the placements that were run in the end
  std::vector<BackendRow> failed;  ///< backends that were asked for and have no time
  Discovered discovered;
  std::vector<Warning> warnings;
};

/// The single runs to make: cpu first, then of each backend what the op list gives it; of one that
/// no list knows the heavy types, and all ordinary operations. Those that cannot run at all get
/// their row in `measured.failed`.
std::vector<Single> singles_to_measure(const Job& job, const std::vector<std::string>& backends,
                                       const RuntimeInfo& runtime, Measured& measured);

/// Takes over how single runs ended. A backend that failed after it had worked (with other threads,
/// or with fewer operations) keeps what it has, and a warning says so.
void take_singles(const Job& job, const MeasureOutcome& outcome, Measured& measured);

/// The operation at an index of a trace must be the model's. Throws Error(input) that shows both.
void check_types(const Job& job, const Trace& trace, const std::string& label);

/// The complete measurement of an earlier job, for this one. Throws Error(input) when it is of
/// another model, other shapes or another device (unless forced), or holds nothing usable.
Measured read_back(const Job& job, const Options& options);

}  // namespace stab
