// SPDX-License-Identifier: Apache-2.0
// Profiles of any bytes: the reader either refuses them or gives a profile that is written and read
// again without change.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "stab/core/error.h"
#include "stab/core/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text;
  try {
    text = stab::render_profile(
        stab::parse_profile({reinterpret_cast<const char*>(data), size}, "profile.json"));
  } catch (const stab::Error& error) {
    if (error.kind() != stab::ErrorKind::input) std::abort();
    return 0;
  }
  if (stab::render_profile(stab::parse_profile(text, "written")) != text) std::abort();
  return 0;
}
