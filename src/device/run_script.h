// SPDX-License-Identifier: Apache-2.0
// The shell text of one run, and what has to be on the device before it.
#pragma once

#include <cstdint>
#include <string>

#include "stab/device/run.h"

namespace stab {

/// Throws Error(input) for a request that cannot be put into a script safely.
void check_run_request(const RunRequest& request);

/// Sends the inputs of `request` (and an environment that is too long for a script) into the run's
/// folder. False when there is nothing to send; the folder then is not made yet.
bool stage_run_inputs(Transport& transport, const std::string& work_folder,
                      const RunRequest& request);

/// The time limit as the script keeps it: whole seconds, at least one.
std::int64_t limit_seconds(const RunRequest& request);

/// The script, to follow the prologue. `staged`: the folder is there with its inputs. `pack`: files
/// come back as gzip where the device has it.
std::string run_script(const std::string& work_folder, const RunRequest& request, bool staged,
                       bool pack);

}  // namespace stab
