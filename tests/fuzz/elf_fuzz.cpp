// SPDX-License-Identifier: Apache-2.0
// ELF files of any bytes: read or refused, never outside them, with lists no longer than the file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stab/core/elf.h"
#include "stab/core/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const stab::ElfInfo info = stab::parse_elf(bytes, "lib.so");
    if (info.needed.size() > size || info.versions.size() > size) std::abort();
    stab::highest_version(info, "GLIBC_");
  } catch (const stab::Error&) {
  }
  stab::parse_elf_header(bytes);
  return 0;
}
