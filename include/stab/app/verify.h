// SPDX-License-Identifier: Apache-2.0
// The proofs alone, for a package that was scheduled earlier.
#pragma once

#include "stab/app/options.h"
#include "stab/core/result.h"
#include "stab/device/transport.h"
#include "stab/host/progress.h"

namespace stab {

/// Proves the package as it lies there, untouched: applied, equal, not slower than the single
/// backends that it was compared with. Nothing is written. The result's exit status is 6 when a
/// proof fails. Throws Error(input) for a package without stab.json, or with one of another model,
/// with what is known by then in `result`.
void verify(const Options& options, Progress& progress, const StopRequested& stop, Result& result);

}  // namespace stab
