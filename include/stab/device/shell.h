// SPDX-License-Identifier: Apache-2.0
// Words for a POSIX shell.
#pragma once

#include <string>
#include <string_view>

namespace stab {

/// `text` as one word of a POSIX shell, whatever it holds (a NUL byte throws Error(input)). Plain
/// words stay as they are.
std::string shell_quote(std::string_view text);

}  // namespace stab
