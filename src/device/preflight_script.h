// SPDX-License-Identifier: Apache-2.0
// The shell text that asks a device about itself.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace stab {

/// Tools that stab cannot do without, and those that it makes use of.
inline constexpr std::array k_needed_tools = {
    "cat", "chmod", "env", "ln", "ls", "mkdir", "mv", "rm", "rmdir", "sleep", "tar", "touch", "wc"};
inline constexpr std::array k_useful_tools = {"sha256sum", "find",   "stat", "gzip", "taskset",
                                              "df",        "setsid", "date", "dd"};

/// Says lines `dev KEY VALUE`, `state now …`, `work …`, `lock …`, and the begin of /bin/sh as the
/// blob "sh".
std::string preflight_script(std::string_view work_folder, std::string_view lock_path,
                             std::string_view system_root);

}  // namespace stab
