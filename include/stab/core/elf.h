// SPDX-License-Identifier: Apache-2.0
// What an ELF file says about where it can run: architecture, libraries it needs, versions it asks
// of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/machine.h"

namespace stab {

/// A version that a file asks of a library: "libc.so.6" and "GLIBC_2.17".
struct VersionNeed {
  std::string library;
  std::string version;

  bool operator==(const VersionNeed&) const = default;
};

struct ElfInfo {
  Machine machine;
  bool executable = false;  ///< has an interpreter, so it can be started
  std::string interpreter;  ///< "/lib/ld-linux-armhf.so.3"; empty for libraries
  std::string soname;
  std::vector<std::string> needed;        ///< library names, in the file's order
  std::vector<std::string> search_paths;  ///< RUNPATH (else RPATH), "$ORIGIN" unexpanded
  std::vector<VersionNeed> versions;      ///< in the file's order
  bool debug_info = false;                ///< carries .debug_info
};

/// Reads an ELF file (System V gABI; GNU symbol versioning; ARM ELF for the float ABI), 32 or 64
/// bit, either byte order. Never reads outside `bytes`; sections may be missing. `name` stands in
/// messages. Throws Error(input) for bytes that are no ELF file or whose tables lie outside them.
ElfInfo parse_elf(std::string_view bytes, std::string_view name);

/// The machine alone, from the start of a file (64 bytes are enough); absent when it is no ELF
/// file. The float ABI is only known where the header's flags hold it.
std::optional<Machine> parse_elf_header(std::string_view start);

/// The highest version that the file asks for with this prefix ("GLIBC_", "GLIBCXX_", "CXXABI_"),
/// without the prefix: "2.17". Absent when it asks for none.
std::optional<std::string> highest_version(const ElfInfo& info, std::string_view prefix);

/// Compares dotted numbers: negative, zero or positive as `a` is lower than, equal to or higher
/// than `b`. "2.9" < "2.17".
int compare_versions(std::string_view a, std::string_view b);

/// Those of `candidates` that stand in `bytes` as text of their own: ended by a NUL and not the end
/// of a longer word.
std::vector<std::string> literals_in(std::string_view bytes,
                                     const std::vector<std::string>& candidates);

}  // namespace stab
