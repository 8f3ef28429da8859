// SPDX-License-Identifier: Apache-2.0
// Starting a child process on this machine, and ending it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "descriptor.h"
#include "stab/device/transport.h"

namespace stab {

class ChildProcess {
 public:
  /// Starts argv[0] (looked up in PATH) in a session of its own, with these descriptors as its
  /// standard input, output and error and our environment; signals are as a fresh program expects
  /// them. Throws Error(device) when it cannot start.
  ChildProcess(const std::vector<std::string>& argv, const Descriptor& input,
               const Descriptor& output, const Descriptor& error);
  /// Ends it (KILL to its whole group) when it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  /// How it ended, when it has; never waits.
  std::optional<Exit> poll_exit();
  /// Sends a signal to the process alone.
  void signal(int number) const;

 private:
  pid_t pid_ = -1;
  std::optional<Exit> exit_;
};

/// What a short program of this machine printed, and how it ended.
struct Captured {
  Exit exit;
  std::string output;
  std::string error;
};

/// Runs a short program with nothing on its standard input; at most 1 MB of each stream is kept.
/// After `timeout`, or when `stop` says so, it is killed: How::timed_out. Throws Error(device) when
/// it cannot start.
Captured run_captured(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                      const StopRequested& stop);

}  // namespace stab
