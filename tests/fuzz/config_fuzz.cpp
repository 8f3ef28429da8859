// SPDX-License-Identifier: Apache-2.0
// Configurations of any bytes: what is read and merged must be writable and read back the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "stab/core/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const stab::Config config = stab::parse_config(text, "config.cfg");
  const stab::RuntimeKeys merged = stab::merge_config(config.keys, {{"BACKENDS", "cpu;ruy"}});
  if (stab::parse_config(stab::render_config(merged), "config.cfg").keys != merged) std::abort();
  return 0;
}
