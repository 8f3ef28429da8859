// SPDX-License-Identifier: Apache-2.0
// What there is to say about timings.
#pragma once

#include <string>
#include <vector>

#include "stab/core/timings.h"

namespace stab {

/// What the readers of one label's traces noticed, each kind once; and whether warm-up was left in.
void add_trace_warnings(const std::string& label, const std::vector<const RunTrace*>& runs,
                        std::vector<Warning>& warnings);

/// What the figures themselves show: averages only, drift, an interval that is too wide. Sorts all
/// warnings.
void add_timing_warnings(Timings& timings);

}  // namespace stab
