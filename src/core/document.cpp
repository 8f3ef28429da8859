// SPDX-License-Identifier: Apache-2.0
#include "document.h"

#include <algorithm>

namespace stab {
namespace {

bool is_plain(const Json& value) {
  return !value.is_object() && !value.is_array();
}

std::string scalar(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void new_line(std::size_t level, std::string& text) {
  text += '\n';
  text.append(2 * level, ' ');
}

void render(const Json& value, std::size_t level, std::string& text) {
  if (is_plain(value) || value.empty()) {
    text += scalar(value);
    return;
  }
  const bool one_line = value.is_array() && std::all_of(value.begin(), value.end(), is_plain);
  const bool object = value.is_object();
  text += object ? '{' : '[';
  bool first = true;
  for (auto item = value.begin(); item != value.end(); ++item) {
    if (!first) text += one_line ? ", " : ",";
    first = false;
    if (!one_line) new_line(level + 1, text);
    if (object) text += scalar(Json(item.key())) + ": ";
    render(*item, level + 1, text);
  }
  if (!one_line) new_line(level, text);
  text += object ? '}' : ']';
}

Json texts_or_empty(const std::map<std::string, std::string>& texts) {
  Json json = Json::object();
  for (const auto& [name, text] : texts) json[name] = text;
  return json;
}

Json json_of_package(const PackageInfo& package) {
  return {{"name", package.name},
          {"sha256", json_unless_empty(package.sha256)},
          {"config_keys", texts_or_empty(package.config_keys)}};
}

Json json_of_model(const ModelInfo& model) {
  if (model.sha256.empty()) return nullptr;
  return {{"file", model.file},
          {"sha256", model.sha256},
          {"format", to_string(model.format)},
          {"op_counts", model.op_counts}};
}

Json json_of_runtime(const RuntimeInfo& runtime) {
  if (runtime.sha256.empty() && runtime.backends.empty()) return nullptr;
  Json backends = Json::array();
  for (const BackendInfo& backend : runtime.backends) {
    backends.push_back({{"name", backend.name},
                        {"sha256", json_unless_empty(backend.sha256)},
                        {"usable", backend.usable},
                        {"reason", json_unless_empty(backend.reason)}});
  }
  return {{"sha256", json_unless_empty(runtime.sha256)},
          {"version", json_or_null(runtime.version)},
          {"runner", runtime.own_runner ? "stab" : "own"},
          {"keys", runtime.keys},
          {"backends", std::move(backends)}};
}

Json json_of_device(const DeviceInfo& device, bool with_host) {
  Json cores = Json::array();
  for (const CoreGroup& group : device.cores) {
    cores.push_back({{"max_khz", json_or_null(group.max_khz)},
                     {"count", group.count},
                     {"mask", json_unless_empty(group.mask)}});
  }
  Json json = {
      {"id", device.id}, {"name", json_or_null(device.name)}, {"transport", device.transport}};
  if (with_host) json["host"] = json_unless_empty(device.host);
  json["kernel"] = json_unless_empty(device.kernel);
  if (with_host) json["boot_id"] = json_unless_empty(device.boot_id);
  json["emulated"] = device.emulated;
  json["arch"] = json_unless_empty(device.arch);
  json["float_abi"] = json_or_null(device.float_abi);
  json["libc"] = json_unless_empty(device.libc);
  json["soc"] = json_or_null(device.soc);
  json["cores"] = std::move(cores);
  json["memory_bytes"] = device.memory_bytes > 0 ? Json(device.memory_bytes) : Json(nullptr);
  return json;
}

Json json_of_settings(const Settings& settings) {
  Json shapes = Json::object();
  for (const auto& [input, dimensions] : settings.shapes) shapes[input] = dimensions;
  return {{"warmup", settings.warmup},
          {"runs", settings.runs},
          {"rounds", settings.rounds},
          {"affinity", json_or_null(settings.affinity)},
          {"executor", settings.executor},
          {"seeds", json_unless_empty(settings.seeds)},
          {"inputs", json_unless_empty(settings.inputs)},
          {"shapes", json_unless_empty(shapes)},
          {"set", texts_or_empty(settings.set)},
          {"env", texts_or_empty(settings.env)}};
}

}  // namespace

std::string render_document(const Json& document) {
  std::string text;
  render(document, 0, text);
  return text + "\n";
}

Json json_of(const StabInfo& stab) {
  return {{"version", stab.version}, {"commit", json_unless_empty(stab.commit)}};
}

Json json_of(const Context& context, bool with_host) {
  return {{"package", json_of_package(context.package)},
          {"model", json_of_model(context.model)},
          {"runtime", json_of_runtime(context.runtime)},
          {"device", context.device ? json_of_device(*context.device, with_host) : Json(nullptr)},
          {"settings", json_of_settings(context.settings)}};
}

Json json_of(const DeviceState& state) {
  return {{"governor", json_or_null(state.governor)},
          {"khz", state.khz},
          {"temperature_mc", json_or_null(state.temperature_mc)},
          {"throttled", json_or_null(state.throttled)},
          {"load1", json_or_null(state.load1)}};
}

Json json_of(const Warning& warning) {
  return {{"id", warning.id},
          {"severity", to_string(warning.severity)},
          {"subject", warning.subject},
          {"text", warning.text},
          {"remedy", json_unless_empty(warning.remedy)}};
}

Json json_of(const std::vector<Warning>& warnings) {
  Json list = Json::array();
  for (const Warning& warning : warnings) list.push_back(json_of(warning));
  return list;
}

Json json_of(const Interval& interval) {
  return {{"median", interval.median},
          {"low", json_or_null(interval.low)},
          {"high", json_or_null(interval.high)}};
}

Json json_of(const Placement& placement) {
  Json json = Json::object();
  for (const auto& [op, backend] : placement) json[to_string(op)] = backend;
  return json;
}

}  // namespace stab
