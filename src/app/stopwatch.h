// SPDX-License-Identifier: Apache-2.0
// How long the stages of a job take on this machine.
#pragma once

#include <chrono>
#include <string>
#include <vector>

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
    running_ = true;
  }

  void stop() {
    if (running_) stages_.back().host_s = seconds_since(stage_begin_);
    running_ = false;
  }

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
  bool running_ = false;
};

}  // namespace stab
