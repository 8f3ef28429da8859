// SPDX-License-Identifier: Apache-2.0
// One job from options to exit status: runs it, prints its result, writes the files that were asked
// for.
#pragma once

#include <ostream>

#include "stab/app/options.h"

namespace stab {

/// Runs the job. The result goes to `out`, talk and progress to standard error. Returns the exit
/// status; throws Error for what ends the job.
int run(const Options& options, std::ostream& out);

}  // namespace stab
