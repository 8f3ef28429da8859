// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end, or beside the test, with a chosen environment and keeps what it wrote.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/temp_dir.h"

namespace stab::test {

/// What a program left behind.
struct ProcessResult {
  int exit_code = -1;  ///< its exit status; -1 when a signal ended it
  int signal = 0;      ///< the signal that ended it, 0 when it ended by itself
  std::string out;     ///< all of its standard output
  std::string err;     ///< all of its standard error
};

/// Environment variables by name.
using Environment = std::map<std::string, std::string>;

/// How a program is started.
struct ProcessOptions {
  /// Exactly these variables, or the test's own environment when not given.
  std::optional<Environment> environment;
  std::filesystem::path working_dir;  ///< empty: the test's own
  int timeout_seconds = 100;          ///< then the program is killed (signal 9)
};

/// What a forked child needs to become another program, made before the fork: in a test with
/// threads, the child can neither allocate nor lock.
class ProgramStart {
 public:
  ProgramStart(std::vector<std::string> argv, const ProcessOptions& options);
  ProgramStart(const ProgramStart&) = delete;
  ProgramStart& operator=(const ProgramStart&) = delete;

  /// In the child: becomes the program (argv[0] is looked up on PATH), or ends with status 127.
  [[noreturn]] void become() const;

 private:
  std::vector<std::string> argv_;
  std::vector<std::string> variables_;
  std::string working_dir_;
  std::vector<char*> argument_pointers_;
  std::vector<char*> variable_pointers_;  ///< empty: the test's own environment
};

/// Runs `argv` (argv[0] is looked up on PATH) and waits for its end. Standard input is empty.
/// Throws std::runtime_error when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

/// A program that runs beside the test. One that still runs at the end of the object is killed.
class RunningProcess {
 public:
  /// Starts it as run_process does.
  explicit RunningProcess(std::vector<std::string> argv, const ProcessOptions& options = {});
  ~RunningProcess();
  RunningProcess(const RunningProcess&) = delete;
  RunningProcess& operator=(const RunningProcess&) = delete;

  int pid() const { return pid_; }
  /// What it wrote on standard error until now.
  std::string err_so_far() const;
  /// Waits for its end, at most `timeout_seconds` from now (then it is killed). Call once.
  ProcessResult wait();

 private:
  std::string program_;
  int timeout_seconds_;
  TempDir streams_;
  int pid_ = -1;
};

}  // namespace stab::test
