// SPDX-License-Identifier: Apache-2.0
// Runs a built stab-runner with an environment of its own, directly or on an emulated processor.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.h"

namespace stab::test {

using Arguments = std::vector<std::string>;

/// Runs this machine's stab-runner with exactly this environment (none by default). A test whose
/// runner was not built ends.
ProcessResult run_runner(const Arguments& arguments, const Environment& environment = {});

/// Runs another architecture's stab-runner under qemu-user with the cross compiler's libraries. A
/// test that lacks one of these ends.
ProcessResult run_emulated(const std::string& arch, const Arguments& arguments);

/// The text after "stab-runner " on the line that starts so; empty when there is none.
std::string json_line(const ProcessResult& result);

/// The 32-bit floats of a raw file.
std::vector<float> read_floats(const std::filesystem::path& file);

}  // namespace stab::test
