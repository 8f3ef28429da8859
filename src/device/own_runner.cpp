// SPDX-License-Identifier: Apache-2.0
#include "stab/device/own_runner.h"

namespace stab {

namespace fs = std::filesystem;

std::optional<std::string> own_runner_name(const Machine& machine) {
  const std::string base = "stab-runner-";
  if (!machine.little_endian) return std::nullopt;
  if (machine.arch == "x86_64" || machine.arch == "aarch64") return base + machine.arch;
  if (machine.arch == "arm") return base + (machine.float_abi == "soft" ? "armel" : "armhf");
  return std::nullopt;
}

std::vector<fs::path> runner_folders(const RunnerSearch& search) {
  if (search.environment && !search.environment->empty()) return {*search.environment};
  const fs::path here = search.executable.parent_path();
  return {here.parent_path() / "libexec" / "stab", here / "runner", here.parent_path() / "runner",
          here.parent_path().parent_path() / "runner"};
}

std::optional<fs::path> find_own_runner(const Machine& machine, const RunnerSearch& search) {
  const auto name = own_runner_name(machine);
  if (!name) return std::nullopt;
  for (const fs::path& folder : runner_folders(search)) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / *name, ignored)) return folder / *name;
  }
  return std::nullopt;
}

}  // namespace stab
