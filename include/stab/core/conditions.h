// SPDX-License-Identifier: Apache-2.0
// What the device was doing while it was measured, and what of that makes numbers doubtful.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stab/core/context.h"
#include "stab/core/error.h"
#include "stab/core/result.h"

namespace stab {

/// One run's share of the picture.
struct RunConditions {
  std::string label;
  int threads = 1;
  std::optional<DeviceState> before;
  std::optional<DeviceState> after;
};

struct Conditions {
  StateReport state;  ///< before the first run, after the last one, and what moved between
  std::vector<Warning> warnings;
};

/// Looks over all runs in the order in which they ran. Says what moved (governor, frequencies by
/// more than 10 %, temperature by more than 10 degrees, throttling), whether the device was busy
/// before, and whether cores of different speed were mixed; each with a remedy. What a device does
/// not tell is not guessed.
Conditions judge_conditions(const std::vector<RunConditions>& runs,
                            const std::optional<DeviceInfo>& device, bool affinity_given);

}  // namespace stab
