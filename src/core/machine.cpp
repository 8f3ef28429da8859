// SPDX-License-Identifier: Apache-2.0
#include "stab/core/machine.h"

namespace stab {

std::string to_string(const Machine& machine) {
  std::string text = machine.arch;
  if (machine.arch == "arm") {
    text = "32-bit ARM";
    if (machine.float_abi) text += " (" + *machine.float_abi + " float)";
  }
  return machine.little_endian ? text : text + " (big-endian)";
}

bool compatible(const Machine& a, const Machine& b) {
  return a.bits == b.bits && a.little_endian == b.little_endian && a.arch == b.arch &&
         (!a.float_abi || !b.float_abi || a.float_abi == b.float_abi);
}

std::string device_arch(const Machine& machine) {
  return machine.arch == "arm" ? "armv7l" : machine.arch;
}

std::optional<Machine> machine_of(std::string_view name,
                                  const std::optional<std::string>& float_abi) {
  if (name == "x86_64" || name == "amd64") return Machine{64, true, "x86_64", std::nullopt};
  if (name == "aarch64" || name == "arm64") return Machine{64, true, "aarch64", std::nullopt};
  if (name == "armhf") return Machine{32, true, "arm", "hard"};
  if (name == "armel") return Machine{32, true, "arm", "soft"};
  if (name.starts_with("armv") || name == "arm") return Machine{32, true, "arm", float_abi};
  return std::nullopt;
}

}  // namespace stab
