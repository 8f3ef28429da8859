// SPDX-License-Identifier: Apache-2.0
// Judges what a device told: the lines of `stab doctor`.
#pragma once

#include <cstdint>
#include <vector>

#include "stab/device/preflight.h"

namespace stab {

/// Checks in a fixed order; `now` is our clock, in seconds since 1970.
std::vector<Check> make_checks(const Preflight& preflight, std::int64_t now);

}  // namespace stab
