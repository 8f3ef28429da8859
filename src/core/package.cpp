// SPDX-License-Identifier: Apache-2.0
#include "stab/core/package.h"

#include <map>
#include <nlohmann/json.hpp>

namespace stab {

FileList scheduled_files(const Package& package, const ScheduleTexts& texts) {
  FileList files = package.files;
  std::erase_if(files, [](const FileEntry& entry) {
    return entry.path == k_environment_path || entry.path == k_record_path;
  });
  std::map<std::string, std::string> made = {
      {k_manifest_path, scheduled_manifest(package.manifest)},
      {k_config_path, render_config(merge_config(package.config, texts.config))}};
  if (texts.environment) made[k_environment_path] = render_environment(*texts.environment);
  if (texts.record) made[k_record_path] = *texts.record;
  return with_texts(std::move(files), made);
}

PackageInfo package_info(const Package& package) {
  return {package.name, package.sha256, {package.config.begin(), package.config.end()}};
}

std::optional<std::string> scheduled_model(std::string_view record) {
  const auto root = nlohmann::json::parse(record.begin(), record.end(), nullptr, false);
  const auto pointer = nlohmann::json::json_pointer("/context/model/sha256");
  if (root.is_discarded() || !root.is_object() || !root.contains(pointer)) return std::nullopt;
  const auto& value = root.at(pointer);
  if (!value.is_string()) return std::nullopt;
  return value.get<std::string>();
}

}  // namespace stab
