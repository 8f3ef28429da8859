// SPDX-License-Identifier: Apache-2.0
// The device under test: connected, looked at, with runtime, runner and package in place.
#pragma once

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "stab/app/device_trials.h"
#include "stab/app/job.h"
#include "stab/core/context.h"
#include "stab/device/preflight.h"
#include "stab/device/runtime.h"
#include "stab/device/runtime_check.h"
#include "stab/device/session.h"
#include "stab/device/transport.h"
#include "stab/host/progress.h"

namespace stab {

/// What a job has cost so far.
struct DeviceUse {
  double command_seconds = 0;  ///< that commands took there
  std::uint64_t bytes = 0;     ///< sent there and brought back
};

class TimedTransport;

class Target {
 public:
  /// Connects and checks the device and the runtime against each other. Throws Error(device) or
  /// Error(input).
  Target(const Options& options, Progress& progress, StopRequested stop);
  ~Target();

  /// Sends what is missing of the runtime and the runner. Comes before everything that follows.
  void upload_runtime();
  /// One run of the runner there.
  RunResult run(const RunRequest& request);
  DeviceUse use() const;
  const DeviceInfo& device() const { return device_; }
  const RuntimeInfo& runtime() const { return runtime_; }
  const RunnerOnDevice& runner() const { return runner_; }
  std::vector<Warning> warnings() const;
  /// Puts a package there; the same files are sent once.
  std::string stage(const FileList& files);

 private:
  Preflight look_at_device(const Options& options, const std::string& folder);
  void show_upload(std::uint64_t done, std::uint64_t total);
  void check_runtime_against(const Options& options, const Preflight& found,
                             std::future<Runtime> reading);
  void choose_runner(const Options& options);
  void ask_runner();

  Progress& progress_;
  std::unique_ptr<TimedTransport> transport_;
  std::unique_ptr<Session> session_;
  DeviceInfo device_;
  Runtime runtime_files_;
  RuntimeInfo runtime_;
  std::string local_runner_;
  RunnerOnDevice runner_;
  std::uint64_t fetched_bytes_ = 0;
  std::chrono::steady_clock::time_point upload_begin_{};
  std::map<std::string, std::string> staged_;  ///< hash of the files -> path there
  std::vector<Warning> warnings_;
};

/// What is known of the device for checking a runtime against it: over SSH the libraries it has are
/// looked for there.
RuntimeTarget runtime_target(Transport& transport, const Runtime& runtime, const Preflight& found);

}  // namespace stab
