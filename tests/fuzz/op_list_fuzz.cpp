// SPDX-License-Identifier: Apache-2.0
// Op lists and pins of any text: read, or refused as the user's mistake.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stab/core/error.h"
#include "stab/core/op_list.h"
#include "stab/core/pins.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    for (const stab::BackendOps& line : stab::parse_op_list(text, "input")) {
      if (line.backend.empty()) std::abort();
    }
  } catch (const stab::Error& error) {
    if (error.kind() != stab::ErrorKind::input) std::abort();
  }
  try {
    if (stab::parse_pin(text).backend.empty()) std::abort();
  } catch (const stab::Error& error) {
    if (error.kind() != stab::ErrorKind::usage) std::abort();
  }
  return 0;
}
