// SPDX-License-Identifier: Apache-2.0
// The small jobs on a device: doctor, unlock, clean.
#pragma once

#include <ostream>

#include "stab/app/options.h"
#include "stab/device/transport.h"
#include "stab/host/progress.h"

namespace stab {

/// Looks at the device, changes nothing, and prints each check with verdict and remedy, as a table
/// or as JSON; with a runtime folder also whether that runtime can work there. Returns 4 when a
/// check failed.
int doctor(const Options& options, Progress& progress, const StopRequested& stop,
           std::ostream& out);

/// Removes the lock of a stab that is gone (with --force of a living one, too) and says whose it
/// was. Returns 0 also when there was none.
int unlock_device(const Options& options, Progress& progress, const StopRequested& stop,
                  std::ostream& out);

/// Removes what stab made on the device and says what it removed and what it left. Takes the
/// device's lock meanwhile.
int clean_device(const Options& options, Progress& progress, const StopRequested& stop,
                 std::ostream& out);

}  // namespace stab
