// SPDX-License-Identifier: Apache-2.0
// The shell text that makes, reads and removes the device's lock.
#pragma once

#include <string>
#include <string_view>

#include "stab/device/exchange.h"
#include "stab/device/lock.h"

namespace stab {

/// What stands at the lock's path.
struct LockState {
  enum class Kind { free, held, stale, odd, nowhere } kind = Kind::free;
  LockHolder holder;
};

/// The rest of a line `lock KIND …`; absent for another form.
std::optional<LockState> parse_lock_line(std::string_view line);

/// The first such line of an answer; without one it is odd.
LockState parse_lock_state(const Answer& answer);

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
