// SPDX-License-Identifier: Apache-2.0
// MANIFESTs of any bytes: what is accepted must name paths in the package and stay accepted once it
// is scheduled.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "stab/core/error.h"
#include "stab/core/file_list.h"
#include "stab/core/manifest.h"

namespace {

std::optional<stab::Manifest> parse(std::string_view text) {
  try {
    return stab::parse_manifest(text, "MANIFEST");
  } catch (const stab::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto manifest = parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!manifest) return 0;
  if (stab::normal_path(manifest->model) != manifest->model) std::abort();
  const auto scheduled = parse(stab::scheduled_manifest(*manifest));
  if (!scheduled || scheduled->config != "metadata/config.cfg") std::abort();
  if (scheduled->model != manifest->model || scheduled->format != manifest->format) std::abort();
  return 0;
}
