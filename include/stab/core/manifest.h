// SPDX-License-Identifier: Apache-2.0
// metadata/MANIFEST of an nnpackage: which model and which configuration the runtime takes, and the
// same text with ours.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/error.h"
#include "stab/core/model.h"

namespace stab {

/// Name of the configuration that a scheduled package has, in `metadata/`.
inline constexpr const char* k_config_name = "config.cfg";

struct Manifest {
  std::string text;                          ///< as it was read
  std::string model;                         ///< path below the package, normalised
  ModelFormat format = ModelFormat::tflite;  ///< by `model-types`, else by the extension
  std::optional<std::string>
      config;  ///< path below the package of the one configuration that the runtime reads
  std::vector<Warning> warnings;
};

/// Reads a MANIFEST (nnpackage specification, versions 1.0 to 1.3). Only element 0 of `configs`
/// counts, which may be absent, empty or "". Throws Error(input) for text that is no JSON object,
/// for several models (the runtime refuses OP_BACKEND_MAP there), for a model type other than
/// tflite and circle, and for paths that leave the package. Memory and time are bounded: at most 1
/// MiB, 64 levels and 4,000 values are accepted. `name` stands in messages.
Manifest parse_manifest(std::string_view text, std::string_view name);

/// The MANIFEST of the scheduled package: element 0 of `configs` becomes config.cfg; further
/// elements, every other member and their order are kept.
std::string scheduled_manifest(const Manifest& manifest);

/// A MANIFEST for a bare model file.
std::string make_manifest(std::string_view model, ModelFormat format);

}  // namespace stab
