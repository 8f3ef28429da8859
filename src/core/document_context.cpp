// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "document.h"

namespace stab {
namespace {

PackageInfo read_package_info(const JsonPlace& place) {
  PackageInfo package;
  package.name = place.at("name").text();
  package.sha256 = place.text_or("sha256", "");
  if (const auto keys = place.find("config_keys")) package.config_keys = keys->texts_by_name();
  return package;
}

ModelInfo read_model_info(const JsonPlace& place) {
  ModelInfo model;
  model.file = place.text_or("file", "");
  model.sha256 = place.at("sha256").text();
  const std::string format = place.text_or("format", "tflite");
  if (format != "tflite" && format != "circle") place.at("format").fail("unknown format");
  model.format = format == "circle" ? ModelFormat::circle : ModelFormat::tflite;
  if (const auto counts = place.find("op_counts")) {
    for (const JsonPlace& count : counts->elements()) {
      model.op_counts.push_back(
          static_cast<int>(count.integer(0, std::numeric_limits<int>::max())));
    }
  }
  return model;
}

RuntimeInfo read_runtime_info(const JsonPlace& place) {
  RuntimeInfo runtime;
  runtime.sha256 = place.text_or("sha256", "");
  runtime.version = place.find_text("version");
  runtime.own_runner = place.text_or("runner", "stab") == "stab";
  if (const auto keys = place.find("keys")) {
    for (const JsonPlace& key : keys->elements()) runtime.keys.push_back(key.text());
  }
  if (const auto backends = place.find("backends")) {
    for (const JsonPlace& backend : backends->elements()) {
      runtime.backends.push_back({backend.at("name").text(), backend.text_or("sha256", ""),
                                  backend.boolean_or("usable", false),
                                  backend.text_or("reason", "")});
    }
  }
  return runtime;
}

DeviceInfo read_device_info(const JsonPlace& place) {
  DeviceInfo device;
  device.id = place.at("id").text();
  device.name = place.find_text("name");
  device.transport = place.text_or("transport", "");
  device.host = place.text_or("host", "");
  device.kernel = place.text_or("kernel", "");
  device.boot_id = place.text_or("boot_id", "");
  device.emulated = place.boolean_or("emulated", false);
  device.arch = place.text_or("arch", "");
  device.float_abi = place.find_text("float_abi");
  device.libc = place.text_or("libc", "");
  device.soc = place.find_text("soc");
  if (const auto cores = place.find("cores")) {
    for (const JsonPlace& group : cores->elements()) {
      device.cores.push_back(
          {group.find_integer("max_khz"), group.count("count"), group.text_or("mask", "")});
    }
  }
  device.memory_bytes = place.find_integer("memory_bytes").value_or(0);
  return device;
}

Settings read_settings(const JsonPlace& place) {
  Settings settings;
  settings.warmup = place.count_or("warmup", settings.warmup);
  settings.runs = place.count_or("runs", settings.runs);
  settings.rounds = place.count_or("rounds", settings.rounds);
  settings.affinity = place.find_text("affinity");
  settings.executor = place.text_or("executor", settings.executor);
  const auto int_list = [](const JsonPlace& list) {
    std::vector<int> values;
    for (const JsonPlace& value : list.elements()) {
      values.push_back(static_cast<int>(
          value.integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max())));
    }
    return values;
  };
  if (const auto seeds = place.find("seeds")) settings.seeds = int_list(*seeds);
  if (const auto inputs = place.find("inputs")) {
    for (const JsonPlace& input : inputs->elements()) settings.inputs.push_back(input.text());
  }
  if (const auto shapes = place.find("shapes")) {
    for (const auto& [input, shape] : shapes->members()) settings.shapes[input] = int_list(shape);
  }
  if (const auto keys = place.find("set")) settings.set = keys->texts_by_name();
  if (const auto keys = place.find("env")) settings.env = keys->texts_by_name();
  return settings;
}

}  // namespace

StabInfo read_stab(const JsonPlace& place) {
  return {place.text_or("version", ""), place.text_or("commit", "")};
}

Context read_context(const JsonPlace& place) {
  Context context;
  context.package = read_package_info(place.at("package"));
  context.model = read_model_info(place.at("model"));
  if (const auto runtime = place.find("runtime")) context.runtime = read_runtime_info(*runtime);
  if (const auto device = place.find("device")) context.device = read_device_info(*device);
  if (const auto settings = place.find("settings")) context.settings = read_settings(*settings);
  return context;
}

DeviceState read_state(const JsonPlace& place) {
  DeviceState state;
  state.governor = place.find_text("governor");
  if (const auto list = place.find("khz")) {
    for (const JsonPlace& khz : list->elements()) {
      state.khz.push_back(khz.integer(0, std::numeric_limits<std::int64_t>::max()));
    }
  }
  state.temperature_mc = place.find_integer("temperature_mc");
  if (const auto throttled = place.find("throttled")) state.throttled = throttled->boolean();
  state.load1 = place.find_number("load1");
  return state;
}

Warning read_warning(const JsonPlace& place) {
  Warning warning;
  warning.id = place.at("id").text();
  warning.severity =
      place.text_or("severity", "warning") == "info" ? Severity::info : Severity::warning;
  warning.subject = place.text_or("subject", "");
  warning.text = place.text_or("text", "");
  warning.remedy = place.text_or("remedy", "");
  return warning;
}

}  // namespace stab
