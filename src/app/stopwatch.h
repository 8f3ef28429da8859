// SPDX-License-Identifier: Apache-2.0
// How long the stages of a job take on this machine, and how much of it passes in commands on the
// device.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "stab/app/target.h"
#include "stab/core/result.h"

namespace stab {

class Stopwatch {
 public:
  explicit Stopwatch(std::vector<Stage>& stages) : stages_(stages), begin_(Clock::now()) {}

  /// Ends the stage before and starts this one.
  void start(const std::string& name) {
    stop();
    stages_.push_back({name, 0, 0, 0});
    stage_begin_ = Clock::now();
    use_before_ = use_ ? use_() : DeviceUse();
    running_ = true;
  }

  void stop() {
    if (!running_) return;
    Stage& stage = stages_.back();
    stage.host_s = seconds_since(stage_begin_);
    const DeviceUse use = use_ ? use_() : DeviceUse();
    stage.device_s = use.command_seconds - use_before_.command_seconds;
    stage.bytes = use.bytes - use_before_.bytes;
    running_ = false;
  }

  /// Where to look for what the device did, from now on.
  void watch(std::function<DeviceUse()> use) { use_ = std::move(use); }

  /// Seconds since the beginning.
  double total() const { return seconds_since(begin_); }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::vector<Stage>& stages_;
  Clock::time_point begin_;
  Clock::time_point stage_begin_;
  std::function<DeviceUse()> use_;
  DeviceUse use_before_;
  bool running_ = false;
};

}  // namespace stab
