// SPDX-License-Identifier: Apache-2.0
// Emulated ARM boards for tests, as scripts/board makes and starts them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "support/process.h"

namespace stab::test {

/// How a running board is reached over SSH (user root; a user dev without rights has the same key).
struct Board {
  std::string arch;               ///< as scripts/board names it: armhf or arm64
  std::string host;               ///< an address of the loopback interface
  int port = 0;                   ///< where its SSH server listens
  std::filesystem::path ssh_dir;  ///< holds id_ed25519, known_hosts and config, as ~/.ssh would
};

/// A running board; makes and starts it where it does not run yet (seconds; minutes the first
/// time). A test ends as skipped where mounting is refused, everywhere, and fails where the board
/// cannot be started for any other reason.
Board require_board(std::string_view arch);

/// Runs a shell command on a board as root, with ssh, and waits for its end.
ProcessResult run_on_board(const Board& board, const std::string& command);

}  // namespace stab::test
