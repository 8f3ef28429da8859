// SPDX-License-Identifier: Apache-2.0
// The shells and tool sets that scripts have to work with.
#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "stab/device/transport.h"

namespace stab::test {

/// This machine as a device, with nobody asking to stop.
std::unique_ptr<Transport> this_machine();

/// A kind of device: its shell, and which tools it has.
struct Shell {
  const char* name;
  const char* words;                 ///< of the shell; empty: /bin/sh as it is
  bool busybox_only;                 ///< PATH holds nothing but BusyBox's applets
  std::vector<std::string> missing;  ///< of these applets
};

inline void PrintTo(const Shell& shell, std::ostream* out) {
  *out << shell.name;
}

/// dash, bash, BusyBox ash with its applets only, and a shell that has nothing but the few tools
/// that are needed.
std::vector<Shell> all_shells();

/// Why a shell cannot be tested here; empty when it can.
std::string shell_problem(const Shell& shell);

/// `inner` seen through that shell. `folder` takes the links to the applets and has to outlive it.
std::unique_ptr<Transport> through_shell(const Shell& shell, std::unique_ptr<Transport> inner,
                                         const std::filesystem::path& folder);

}  // namespace stab::test
