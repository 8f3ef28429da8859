// SPDX-License-Identifier: Apache-2.0
// Runs a program on a terminal of its own, as a person does.
#pragma once

#include <string>
#include <vector>

#include "support/process.h"

namespace stab::test {

/// Runs `argv` (argv[0] is looked up on PATH) on a new pseudo-terminal of so many columns and waits
/// for its end, at most options.timeout_seconds. `out` holds everything that it drew, `err`
/// nothing.
ProcessResult run_in_terminal(const std::vector<std::string>& argv, int columns,
                              const ProcessOptions& options);

}  // namespace stab::test
