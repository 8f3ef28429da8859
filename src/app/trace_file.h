// SPDX-License-Identifier: Apache-2.0
// Trace files on this machine, read piece by piece.
#pragma once

#include <filesystem>
#include <optional>

#include "stab/core/trace.h"

namespace stab {

/// Folds the two forms of one run, either of which may be absent; of the executions the last `runs`
/// are kept. Throws Error(input).
Trace read_trace_files(const std::optional<std::filesystem::path>& chrome,
                       const std::optional<std::filesystem::path>& averaged,
                       std::optional<int> runs);

}  // namespace stab
