// SPDX-License-Identifier: Apache-2.0
#include "stab/app/device_trials.h"

#include <array>

#include "app/trace_file.h"
#include "stab/core/error.h"
#include "stab/core/runner_output.h"
#include "stab/core/schedule_keys.h"
#include "stab/core/sha256.h"
#include "stab/host/files.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_trace = "trace.json";
constexpr std::array k_chrome_traces = {"trace.chrome.json", "trace.json.chrome.json"};
constexpr std::uint64_t k_most_output_bytes = std::uint64_t{1} << 31;
/// Above this a map goes to the runner in a file: one word of a command line holds 128 KB.
constexpr std::size_t k_longest_word = 60'000;

const std::string& value_of(const RuntimeKeys& keys, const char* name) {
  static const std::string empty;
  const std::string* found = find_key(keys, name);
  return found == nullptr ? empty : *found;
}

class DeviceTrials : public TrialRunner {
 public:
  explicit DeviceTrials(const DeviceTrialsConfig& config) : config_(config) {}

  TrialOutcome run(const Trial& trial) override {
    const std::string number = std::to_string(++count_);
    RunRequest request;
    request.id = "t" + number;
    request.runner = config_.runner.path;
    request.library_folders = config_.runner.library_folders;
    request.affinity = config_.affinity;
    request.timeout = config_.timeout;
    request.traced = trial.traced;
    request.live_output = config_.live_output;
    request.live_error = config_.live_output;
    const fs::path scratch = config_.scratch_folder / request.id;
    fs::create_directories(scratch);
    stage(trial, request);
    add_arguments(trial, request);
    add_inputs(trial, request, scratch);
    add_fetches(trial, request, scratch);
    const RunResult result = config_.run(request);
    TrialOutcome outcome = read_outcome(trial, result, scratch);
    std::error_code ignored;
    fs::remove_all(scratch, ignored);
    return outcome;
  }

 private:
  /// Puts the package there as this trial's way wants it, and sets the environment.
  void stage(const Trial& trial, RunRequest& request) {
    request.environment = config_.env;
    if (trial.source_as_is) {
      request.package = config_.stage(config_.package->files);
      if (trial.way == Way::env)
        request.environment_file = *request.package + "/" + k_environment_path;
      return;
    }
    ScheduleTexts texts;
    const bool everything_in_config = trial.config_is_read && trial.way != Way::api;
    texts.config = everything_in_config ? trial.keys : late_keys(trial.keys);
    texts.environment = trial.keys;
    request.package = config_.stage(scheduled_files(*config_.package, texts));
    if (trial.way == Way::env || trial.way == Way::all)
      request.environment_file = *request.package + "/" + k_environment_path;
  }

  void add_arguments(const Trial& trial, RunRequest& request) const {
    std::vector<std::string>& args = request.args;
    args = {"-w", std::to_string(trial.warmup), "-r", std::to_string(trial.runs)};
    if (!config_.shape_argument.empty())
      args.insert(args.end(), {"--shape_prepare", config_.shape_argument});
    if (!config_.runner.is_stab_runner) return;
    if (trial.traced) args.insert(args.end(), {"--trace", k_run_folder});
    if (trial.way != Way::api) return;
    args.insert(args.end(), {"--backends", value_of(trial.keys, "BACKENDS")});
    const std::string& map = value_of(trial.keys, "OP_BACKEND_MAP");
    if (map.empty()) return;
    args.insert(
        args.end(),
        {"--per-op", map.size() > k_longest_word ? std::string("@") + k_run_folder + "/map" : map});
  }

  void add_inputs(const Trial& trial, RunRequest& request, const fs::path& scratch) const {
    const std::string& map = value_of(trial.keys, "OP_BACKEND_MAP");
    if (trial.way == Way::api && map.size() > k_longest_word) {
      write_file_atomically(scratch / "map", map);
      request.inputs["map"] = scratch / "map";
    }
    if (!config_.runner.raw_files) return;
    if (trial.inputs != nullptr) {
      request.args.insert(request.args.end(), {"--load:raw", std::string(k_run_folder) + "/in"});
      for (std::size_t i = 0; i < trial.inputs->size(); ++i) {
        const std::string name = "in." + std::to_string(i);
        write_file_atomically(scratch / name, (*trial.inputs)[i]);
        request.inputs[name] = scratch / name;
      }
    }
    if (trial.wants_outputs)
      request.args.insert(request.args.end(), {"--dump:raw", std::string(k_run_folder) + "/out"});
  }

  fs::path kept(const Trial& trial, const fs::path& scratch, const char* suffix) const {
    return trial.keep_as.empty() ? scratch / ("trace" + std::string(suffix))
                                 : config_.keep_folder / (trial.keep_as + suffix);
  }

  void add_fetches(const Trial& trial, RunRequest& request, const fs::path& scratch) const {
    if (trial.traced) {
      request.fetch.push_back({k_trace, kept(trial, scratch, ".json")});
      for (const char* name : k_chrome_traces)
        request.fetch.push_back({name, kept(trial, scratch, ".chrome.json")});
    }
    if (trial.wants_outputs) request.fetch.push_back({"out.*", scratch});
  }

  static std::optional<RunFile> as_run_file(const std::string& name, const RunResult& result,
                                            const fs::path& file) {
    for (const FetchedFile& fetched : result.files) {
      if (fetched.path == file)
        return RunFile{name, static_cast<std::int64_t>(fetched.bytes), fetched.sha256};
    }
    return std::nullopt;
  }

  TrialOutcome read_outcome(const Trial& trial, const RunResult& result, const fs::path& scratch) {
    TrialOutcome outcome;
    outcome.status = result.status;
    outcome.exit = result.exit;
    outcome.signal = result.signal;
    outcome.reason = result.reason;
    outcome.before = result.before;
    outcome.after = result.after;
    take_times(parse_runner_output(result.output), outcome);
    if (!trial.keep_as.empty()) keep_log(trial, result, outcome);
    if (trial.traced) take_trace(trial, result, scratch, outcome);
    if (trial.wants_outputs && outcome.ok()) take_outputs(scratch, outcome);
    return outcome;
  }

  static void take_times(const RunnerOutput& printed, TrialOutcome& outcome) {
    if (printed.samples_us) outcome.samples_us = *printed.samples_us;
    outcome.mean_us = printed.mean_us;
    outcome.min_us = printed.min_us;
    outcome.max_us = printed.max_us;
    outcome.geomean_us = printed.geomean_us;
    outcome.load_us = printed.load_us;
    outcome.prepare_us = printed.prepare_us;
    outcome.cpu_time_us = printed.cpu_time_us;
    outcome.peak_rss_kb = printed.peak_rss_kb;
    outcome.runtime_version = printed.version;
  }

  void keep_log(const Trial& trial, const RunResult& result, TrialOutcome& outcome) const {
    const std::string name = trial.keep_as + ".log";
    const std::string text = result.output + result.errors;
    write_file_atomically(config_.keep_folder / name, text);
    outcome.log_file = RunFile{name, static_cast<std::int64_t>(text.size()), sha256_hex(text)};
  }

  void take_trace(const Trial& trial, const RunResult& result, const fs::path& scratch,
                  TrialOutcome& outcome) const {
    const fs::path averaged = kept(trial, scratch, ".json");
    const fs::path chrome = kept(trial, scratch, ".chrome.json");
    outcome.averaged_file = as_run_file(averaged.filename(), result, averaged);
    outcome.chrome_file = as_run_file(chrome.filename(), result, chrome);
    if (!outcome.ok() || (!outcome.averaged_file && !outcome.chrome_file)) return;
    try {
      outcome.trace = read_trace_files(
          outcome.chrome_file ? std::optional(chrome) : std::nullopt,
          outcome.averaged_file ? std::optional(averaged) : std::nullopt, trial.runs);
    } catch (const Error& error) {
      outcome.status = RunStatus::no_trace;
      outcome.reason = error.what();
    }
  }

  void take_outputs(const fs::path& scratch, TrialOutcome& outcome) const {
    for (std::size_t i = 0; i < config_.outputs; ++i) {
      const fs::path file = scratch / ("out." + std::to_string(i));
      if (!fs::exists(file)) {
        outcome.outputs.clear();
        return;
      }
      outcome.outputs.push_back(read_file(file, k_most_output_bytes));
    }
  }

  const DeviceTrialsConfig& config_;
  int count_ = 0;
};

}  // namespace

std::unique_ptr<TrialRunner> make_device_trials(const DeviceTrialsConfig& config) {
  return std::make_unique<DeviceTrials>(config);
}

}  // namespace stab
