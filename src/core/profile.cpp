// SPDX-License-Identifier: Apache-2.0
#include "stab/core/profile.h"

#include <array>
#include <limits>
#include <utility>

#include "document.h"

namespace stab {
namespace {

constexpr int k_schema_version = 1;
constexpr const char* k_kind = "profile";

constexpr std::array k_run_kinds = {RunKind::single, RunKind::discover, RunKind::calibrate};
constexpr std::array k_statuses = {RunStatus::ok, RunStatus::failed, RunStatus::timeout,
                                   RunStatus::signal, RunStatus::no_trace};

// The one of `values` that the documents write as this text.
template <typename Values>
auto value_of(const Values& values, const JsonPlace& place) {
  const std::string text = place.text();
  for (const auto value : values) {
    if (to_string(value) == text) return value;
  }
  place.fail("'" + text + "' is not known");
}

Json json_of_file(const std::optional<RunFile>& file) {
  if (!file) return nullptr;
  return {{"name", file->name}, {"bytes", file->bytes}, {"sha256", file->sha256}};
}

Json json_of_execute(const std::optional<ExecuteTimes>& times) {
  if (!times) return nullptr;
  return {{"mean", json_or_null(times->mean_us)},
          {"min", json_or_null(times->min_us)},
          {"max", json_or_null(times->max_us)},
          {"geomean", json_or_null(times->geomean_us)},
          {"samples", json_unless_empty(times->samples_us)}};
}

Json json_of_run(const ProfileRun& run) {
  Json keys = Json::object();
  for (const auto& [key, value] : run.keys) keys[key] = value;
  Json files = {{"averaged", json_of_file(run.averaged)},
                {"chrome", json_of_file(run.chrome)},
                {"log", json_of_file(run.log)}};
  Json state = {{"before", run.before ? json_of(*run.before) : Json(nullptr)},
                {"after", run.after ? json_of(*run.after) : Json(nullptr)}};
  return {{"id", run.id},
          {"kind", to_string(run.kind)},
          {"label", run.label},
          {"threads", run.threads},
          {"round", run.round},
          {"order", run.order},
          {"traced", run.traced},
          {"warmup", run.warmup},
          {"runs", run.runs},
          {"keys", std::move(keys)},
          {"placement", run.placement ? json_of(*run.placement) : Json(nullptr)},
          {"status", to_string(run.status)},
          {"exit", json_or_null(run.exit)},
          {"signal", json_or_null(run.signal)},
          {"reason", json_or_null(run.reason)},
          {"files", std::move(files)},
          {"load_us", json_or_null(run.load_us)},
          {"prepare_us", json_or_null(run.prepare_us)},
          {"execute_us", json_of_execute(run.execute)},
          {"cpu_time_us", json_or_null(run.cpu_time_us)},
          {"peak_rss_kb", json_or_null(run.peak_rss_kb)},
          {"state", std::move(state)}};
}

// A name that leads out of the folder of the profile is nobody's trace.
RunFile read_file(const JsonPlace& place) {
  RunFile file;
  file.name = place.at("name").text();
  if (file.name.empty() || file.name == "." || file.name == ".." ||
      file.name.find('/') != std::string::npos || file.name.find('\0') != std::string::npos) {
    place.at("name").fail("a file name without a folder expected");
  }
  file.bytes = place.at("bytes").integer(0, std::numeric_limits<std::int64_t>::max());
  file.sha256 = place.text_or("sha256", "");
  return file;
}

ExecuteTimes read_execute(const JsonPlace& place) {
  ExecuteTimes times;
  times.mean_us = place.find_number("mean");
  times.min_us = place.find_number("min");
  times.max_us = place.find_number("max");
  times.geomean_us = place.find_number("geomean");
  if (const auto samples = place.find("samples")) times.samples_us = samples->numbers();
  return times;
}

std::optional<int> find_int(const JsonPlace& place, std::string_view member) {
  const auto found = place.find(member);
  if (!found) return std::nullopt;
  return static_cast<int>(
      found->integer(std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

void read_outcome(const JsonPlace& place, ProfileRun& run) {
  run.status = value_of(k_statuses, place.at("status"));
  run.exit = find_int(place, "exit");
  run.signal = find_int(place, "signal");
  run.reason = place.find_text("reason");
  if (const auto files = place.find("files")) {
    if (const auto file = files->find("averaged")) run.averaged = read_file(*file);
    if (const auto file = files->find("chrome")) run.chrome = read_file(*file);
    if (const auto file = files->find("log")) run.log = read_file(*file);
  }
  run.load_us = place.find_number("load_us");
  run.prepare_us = place.find_number("prepare_us");
  if (const auto times = place.find("execute_us")) run.execute = read_execute(*times);
  run.cpu_time_us = place.find_number("cpu_time_us");
  run.peak_rss_kb = place.find_integer("peak_rss_kb");
  if (const auto state = place.find("state")) {
    if (const auto before = state->find("before")) run.before = read_state(*before);
    if (const auto after = state->find("after")) run.after = read_state(*after);
  }
}

ProfileRun read_run(const JsonPlace& place) {
  ProfileRun run;
  run.id = place.at("id").text();
  run.kind = value_of(k_run_kinds, place.at("kind"));
  run.label = place.at("label").text();
  run.threads = place.count("threads");
  run.round = place.count("round");
  run.order = place.count_or("order", 0);
  run.traced = place.boolean_or("traced", true);
  run.warmup = place.count_or("warmup", 0);
  run.runs = place.count_or("runs", 0);
  if (const auto keys = place.find("keys")) run.keys = keys->texts_by_name();
  if (const auto placement = place.find("placement")) run.placement = placement->placement();
  read_outcome(place, run);
  return run;
}

}  // namespace

std::string_view to_string(RunKind kind) {
  switch (kind) {
    case RunKind::single:
      return "single";
    case RunKind::discover:
      return "discover";
    case RunKind::calibrate:
      return "calibrate";
  }
  return "single";
}

std::string render_profile(const Profile& profile) {
  Json runs = Json::array();
  for (const ProfileRun& run : profile.runs) runs.push_back(json_of_run(run));
  return render_document({{"schema_version", k_schema_version},
                          {"kind", k_kind},
                          {"stab", json_of(profile.stab)},
                          {"measured_at", profile.measured_at},
                          {"complete", profile.complete},
                          {"context", json_of(profile.context)},
                          {"runs", std::move(runs)}});
}

Profile parse_profile(std::string_view text, std::string_view name) {
  constexpr const char* k_what = "cannot read profile";
  const nlohmann::json document = parse_document(text, k_what, name, k_kind, k_schema_version);
  const JsonPlace root(document, k_what, std::string(name));
  Profile profile;
  if (const auto stab = root.find("stab")) profile.stab = read_stab(*stab);
  profile.measured_at = root.text_or("measured_at", "");
  profile.complete = root.at("complete").boolean();
  profile.context = read_context(root.at("context"));
  for (const JsonPlace& run : root.at("runs").elements()) profile.runs.push_back(read_run(run));
  return profile;
}

}  // namespace stab
