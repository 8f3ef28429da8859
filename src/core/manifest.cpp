// SPDX-License-Identifier: Apache-2.0
#include "stab/core/manifest.h"

#include <nlohmann/json.hpp>

#include "stab/core/file_list.h"

namespace stab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t k_max_bytes = std::size_t{1} << 20U;
constexpr int k_max_depth = 64;
constexpr int k_max_values = 4'000;

[[noreturn]] void refuse(std::string_view name, std::string why, std::string hint = {}) {
  throw Error(ErrorKind::input, "cannot use MANIFEST", std::string(name), std::move(why),
              std::move(hint));
}

Json parse_json(std::string_view text, std::string_view name) {
  if (text.size() > k_max_bytes) refuse(name, "it is larger than 1 MiB");
  int values = 0;
  // Depth and number are bounded while reading: writing recurses, and looking up a member is
  // linear.
  const auto count = [&](int depth, Json::parse_event_t event, const Json&) {
    if (depth > k_max_depth) refuse(name, "it is nested deeper than 64 levels");
    const bool opens = event == Json::parse_event_t::object_start ||
                       event == Json::parse_event_t::array_start ||
                       event == Json::parse_event_t::value;
    if (opens && ++values > k_max_values) refuse(name, "it holds more than 4,000 values");
    return true;
  };
  try {
    Json root = Json::parse(text.begin(), text.end(), count, true, true);
    if (!root.is_object()) refuse(name, "it is not a JSON object");
    return root;
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …": the part after the
    // bracket.
    const std::string_view what = error.what();
    refuse(name, std::string(what.substr(std::min(what.size(), what.find("] ") + 2))));
  }
}

/// The list `member`; null when it is absent or JSON null, as the runtime takes both.
const Json* find_list(const Json& root, const char* member, std::string_view name) {
  const auto found = root.find(member);
  if (found == root.end() || found->is_null()) return nullptr;
  if (!found->is_array()) refuse(name, std::string("'") + member + "' is not a list");
  return &*found;
}

const std::string& text_of(const Json& value, const char* member, std::string_view name) {
  if (!value.is_string()) refuse(name, std::string("an element of '") + member + "' is not text");
  return value.get_ref<const std::string&>();
}

std::string model_path(const Json& root, std::string_view name) {
  const Json* models = find_list(root, "models", name);
  if (models == nullptr || models->empty()) refuse(name, "it names no model ('models')");
  if (models->size() > 1) {
    refuse(name,
           "it names " + std::to_string(models->size()) +
               " models, and the runtime refuses a backend per operation (OP_BACKEND_MAP) for "
               "packages of several models",
           "a package of its own for each model");
  }
  const std::string& path = text_of(models->front(), "models", name);
  const auto normal = normal_path(path);
  if (!normal) refuse(name, "the model path '" + path + "' does not lie in the package");
  return *normal;
}

std::optional<ModelFormat> format_by_extension(std::string_view path) {
  if (path.ends_with(".tflite")) return ModelFormat::tflite;
  if (path.ends_with(".circle")) return ModelFormat::circle;
  return std::nullopt;
}

ModelFormat model_format(const Json& root, Manifest& manifest, std::string_view name) {
  const Json* types = find_list(root, "model-types", name);
  if (types != nullptr && !types->empty()) {
    const std::string& type = text_of(types->front(), "model-types", name);
    if (type == "tflite") return ModelFormat::tflite;
    if (type == "circle") return ModelFormat::circle;
    refuse(name, "models of type '" + type + "' have no operations that could be scheduled",
           "a tflite or circle model");
  }
  const auto format = format_by_extension(manifest.model);
  if (!format) {
    refuse(name,
           "it has no 'model-types', and '" + manifest.model + "' is neither .tflite nor .circle");
  }
  manifest.warnings.push_back(
      {"manifest_no_model_types", Severity::warning, std::string(name),
       "it has no 'model-types': runtimes before 2025 cannot load it",
       "adding \"model-types\": [\"" + std::string(to_string(*format)) + "\"]"});
  return *format;
}

std::optional<std::string> config_path(const Json& root, Manifest& manifest,
                                       std::string_view name) {
  const Json* configs = find_list(root, "configs", name);
  if (configs == nullptr || configs->empty() || configs->front().is_null()) return std::nullopt;
  const std::string& file = text_of(configs->front(), "configs", name);
  if (configs->size() > 1) {
    manifest.warnings.push_back({"manifest_many_configs", Severity::warning, std::string(name),
                                 "it names " + std::to_string(configs->size()) +
                                     " configurations; the runtime reads only the first",
                                 "moving all keys into '" + file + "'"});
  }
  if (file.empty()) return std::nullopt;
  const auto normal = normal_path("metadata/" + file);
  if (!normal) refuse(name, "the configuration '" + file + "' does not lie in the package");
  return normal;
}

}  // namespace

Manifest parse_manifest(std::string_view text, std::string_view name) {
  const Json root = parse_json(text, name);
  Manifest manifest;
  manifest.text = text;
  manifest.model = model_path(root, name);
  manifest.format = model_format(root, manifest, name);
  manifest.config = config_path(root, manifest, name);
  return manifest;
}

std::string scheduled_manifest(const Manifest& manifest) {
  Json root = parse_json(manifest.text, "MANIFEST");
  Json& configs = root["configs"];
  if (!configs.is_array() || configs.empty()) {
    configs = Json::array({k_config_name});
  } else {
    configs.front() = k_config_name;
  }
  return root.dump(2) + "\n";
}

std::string make_manifest(std::string_view model, ModelFormat format) {
  const Json root = {{"major-version", "1"},
                     {"minor-version", "2"},
                     {"patch-version", "0"},
                     {"configs", Json::array()},
                     {"models", Json::array({std::string(model)})},
                     {"model-types", Json::array({std::string(to_string(format))})}};
  return root.dump(2) + "\n";
}

}  // namespace stab
