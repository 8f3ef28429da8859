// SPDX-License-Identifier: Apache-2.0
// For which processor something was built, and what runs where.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stab {

/// For which processor and calling convention a file was built.
struct Machine {
  int bits = 0;  ///< 32 or 64
  bool little_endian = true;
  std::string arch;  ///< "x86_64", "aarch64", "arm", "x86", "riscv", … or "machine 243"
  std::optional<std::string>
      float_abi;  ///< "hard" or "soft" on 32-bit ARM, absent where the file does not say

  bool operator==(const Machine&) const = default;
};

/// For people: "aarch64", "32-bit ARM (hard float)", "x86_64".
std::string to_string(const Machine& machine);

/// False when a process of one cannot load a file of the other. A float ABI that is not known
/// matches both.
bool compatible(const Machine& a, const Machine& b);

/// Names as `uname -m` and the documents have them: "x86_64", "aarch64", "armv7l" (any 32-bit ARM),
/// else `arch`.
std::string device_arch(const Machine& machine);

/// The machine that such a name and float ABI stand for; absent for names that are not known.
std::optional<Machine> machine_of(std::string_view device_arch,
                                  const std::optional<std::string>& float_abi);

}  // namespace stab
