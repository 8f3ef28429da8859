// SPDX-License-Identifier: Apache-2.0
// The device under test: connected, looked at, with runtime, runner and package in place.
#pragma once

#include <chrono>
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

class Target {
 public:
  /// Connects, checks the device and the runtime against each other, and sends what is missing.
  /// Throws Error(device) or Error(input).
  Target(const Options& options, Progress& progress, StopRequested stop);

  /// One run of the runner there.
  RunResult run(const RunRequest& request) { return session_->run(request); }
  const DeviceInfo& device() const { return device_; }
  const RuntimeInfo& runtime() const { return runtime_; }
  const RunnerOnDevice& runner() const { return runner_; }
  std::vector<Warning> warnings() const;
  std::uint64_t bytes_sent() const { return session_->uploaded().stream_bytes; }
  /// Puts a package there; the same files are sent once.
  std::string stage(const FileList& files);

 private:
  Preflight look_at_device(const Options& options, const std::string& folder);
  void show_upload(std::uint64_t done, std::uint64_t total);
  void place_runtime(const Options& options, const Preflight& found);
  void choose_runner(const Options& options, const Runtime& runtime, std::string& local_runner);
  void ask_runner();

  Progress& progress_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Session> session_;
  DeviceInfo device_;
  RuntimeInfo runtime_;
  RunnerOnDevice runner_;
  std::chrono::steady_clock::time_point upload_begin_{};
  std::map<std::string, std::string> staged_;  ///< hash of the files -> path there
  std::vector<Warning> warnings_;
};

/// What is known of the device for checking a runtime against it: over SSH the libraries it has are
/// looked for there.
RuntimeTarget runtime_target(Transport& transport, const Runtime& runtime, const Preflight& found);

}  // namespace stab
