// SPDX-License-Identifier: Apache-2.0
// An nnpackage as a value, and the list of files that its scheduled copy consists of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/config.h"
#include "stab/core/context.h"
#include "stab/core/error.h"
#include "stab/core/file_list.h"
#include "stab/core/manifest.h"
#include "stab/core/schedule_keys.h"

namespace stab {

struct Package {
  std::string name;    ///< of the folder, or the stem of a zip or bare model file
  std::string origin;  ///< absolute, resolved path of what the user named
  FileList files;      ///< everything in the package, MANIFEST and configuration included
  std::string sha256;  ///< hash_of(files)
  Manifest manifest;
  RuntimeKeys config;        ///< as the runtime reads it; empty when there is none
  std::string model_source;  ///< absolute path of the model file on this machine
  std::string model_sha256;
  std::vector<Warning> warnings;  ///< of MANIFEST, configuration and files
};

/// Where the texts that stab writes stand in a package.
inline constexpr const char* k_manifest_path = "metadata/MANIFEST";
inline constexpr const char* k_config_path = "metadata/config.cfg";
inline constexpr const char* k_environment_path = "metadata/stab.env";
inline constexpr const char* k_record_path = "metadata/stab.json";

/// What makes a scheduled package of a package. Absent texts are not in it.
struct ScheduleTexts {
  RuntimeKeys config;  ///< of config.cfg: ours; the user's own keys are merged in
  std::optional<RuntimeKeys> environment;  ///< of stab.env
  std::optional<std::string> record;       ///< stab.json
};

/// The files of the scheduled copy: the package's, with MANIFEST, config.cfg, stab.env and
/// stab.json made anew. An earlier stab.env and stab.json are gone when there is no new one. What
/// is staged on a device and what is written come from here, so they are the same bytes.
FileList scheduled_files(const Package& package, const ScheduleTexts& texts);

/// The package's part of the context of all documents.
PackageInfo package_info(const Package& package);

/// context.model.sha256 of a stab.json; absent when the text is none.
std::optional<std::string> scheduled_model(std::string_view record);

}  // namespace stab
