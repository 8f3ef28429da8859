// SPDX-License-Identifier: Apache-2.0
// Trials on a real device: stages the package with the trial's keys, runs the runner once, reads
// what it left.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stab/app/trial.h"
#include "stab/core/package.h"
#include "stab/device/run.h"

namespace stab {

/// The runner on the device and what it needs.
struct RunnerOnDevice {
  std::string path;  ///< absolute, there
  bool is_stab_runner = true;
  std::vector<std::string> library_folders;  ///< of the runtime, there
  bool raw_files = true;                     ///< takes --load:raw and --dump:raw
};

struct DeviceTrialsConfig {
  std::function<RunResult(const RunRequest&)> run;
  const Package* package = nullptr;
  std::size_t outputs = 0;  ///< of the graph
  RunnerOnDevice runner;
  /// Puts a package there and returns its absolute path; the same files are sent once.
  std::function<std::string(const FileList&)> stage;
  std::string shape_argument;  ///< for --shape_prepare; empty: none
  std::optional<std::string> affinity;
  std::map<std::string, std::string> env;  ///< the user's, for the process only
  std::chrono::seconds timeout{600};
  std::filesystem::path keep_folder;     ///< where kept trace files go
  std::filesystem::path scratch_folder;  ///< for what is read and thrown away
  ByteSink live_output;                  ///< the runner's output as it comes; may be empty
};

/// `config` must outlive it.
std::unique_ptr<TrialRunner> make_device_trials(const DeviceTrialsConfig& config);

}  // namespace stab
