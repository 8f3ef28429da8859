// SPDX-License-Identifier: Apache-2.0
// The command line: argv to Options. The only place that knows CLI11.
#pragma once

#include <optional>
#include <ostream>

#include "stab/app/options.h"

namespace stab {

/// Reads the command line. Absent when it was already answered (--help, --version: text on `out`).
/// Throws Error(usage) for everything that it does not accept.
std::optional<Options> parse_command_line(int argc, const char* const* argv, std::ostream& out);

/// "90", "90s", "10m", "2h" as seconds; throws Error(usage) naming `option` otherwise.
std::chrono::seconds parse_duration(const std::string& text, const std::string& option);

}  // namespace stab
