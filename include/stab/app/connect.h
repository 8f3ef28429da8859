// SPDX-License-Identifier: Apache-2.0
// From the options to a connection: this machine or a device over SSH.
#pragma once

#include <memory>
#include <vector>

#include "stab/app/options.h"
#include "stab/core/error.h"
#include "stab/device/lock.h"
#include "stab/device/transport.h"
#include "stab/host/progress.h"

namespace stab {

/// Connects to what --ip names. Passphrases are asked for on a terminal only. Throws Error(device)
/// or Error(usage).
std::unique_ptr<Transport> connect(const Options& options, Progress& progress, StopRequested stop,
                                   std::vector<Warning>& warnings);

/// How the device's lock is asked for: who we are, how long to wait, and what is shown meanwhile.
LockOptions lock_options(const Options& options, Progress& progress);

/// The work folder on the device that the options mean.
std::string work_folder_of(const Options& options, const Transport& transport);

}  // namespace stab
