// SPDX-License-Identifier: Apache-2.0
// Asking a person on the terminal.
#pragma once

#include <optional>
#include <string>

namespace stab {

/// Whether somebody can answer: standard input and error are a terminal.
bool can_prompt();

/// Asks on the controlling terminal; without `echo` what is typed is not shown. Absent at end of
/// input, after Ctrl-C, or without a terminal.
std::optional<std::string> prompt_on_terminal(const std::string& question, bool echo);

}  // namespace stab
