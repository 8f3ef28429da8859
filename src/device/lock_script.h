// SPDX-License-Identifier: Apache-2.0
// The shell text that makes, reads and removes the device's lock.
#pragma once

#include <string>
#include <string_view>

namespace stab {

/// Defines `lock_state`, which says the line `lock KIND ...` with KIND `free`, `held` or `stale`
/// and, for the last two, process, seconds or "-", user and who; or `odd` when no lock stands at
/// the path.
std::string lock_functions_script(std::string_view path);

/// Takes the lock (after lock_functions_script), prints "ready" and holds it until it is ended.
/// Otherwise says `lock …` lines and ends.
std::string hold_lock_script(std::string_view who, long wait_seconds);

/// Removes the lock where that is right, and says what it was.
std::string remove_lock_script(bool force);

}  // namespace stab
