// SPDX-License-Identifier: Apache-2.0
// Whether processes of this machine are still there; zombies do not count, for who reaps them is
// not the test's matter.
#pragma once

#include <chrono>

namespace stab::test {

/// True once process `pid` is gone, at `limit` at the latest.
bool process_gone(int pid, std::chrono::milliseconds limit = std::chrono::seconds(5));

/// True once no process of the process group is left, at `limit` at the latest.
bool group_gone(int group, std::chrono::milliseconds limit = std::chrono::seconds(5));

}  // namespace stab::test
