// SPDX-License-Identifier: Apache-2.0
// Which stab-runner fits a runtime, and where it lies.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stab/core/machine.h"

namespace stab {

/// "stab-runner-x86_64", "stab-runner-aarch64", "stab-runner-armhf" or "stab-runner-armel" (32-bit
/// ARM with soft float; a float ABI that is not known counts as hard); absent for machines that
/// none is built for.
std::optional<std::string> own_runner_name(const Machine& machine);

struct RunnerSearch {
  std::optional<std::string> environment;  ///< value of STAB_RUNNER_DIR: then only there
  std::filesystem::path executable;        ///< this program's own file
};

/// Folders that a stab-runner may lie in, in order: those of an installation, then those of a
/// build.
std::vector<std::filesystem::path> runner_folders(const RunnerSearch& search);

/// The stab-runner for that machine; absent when there is none.
std::optional<std::filesystem::path> find_own_runner(const Machine& machine,
                                                     const RunnerSearch& search);

}  // namespace stab
