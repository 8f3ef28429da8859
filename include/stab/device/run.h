// SPDX-License-Identifier: Apache-2.0
// One run of the runner on the device: clean environment, own folder, time limit; its words, its
// exit, the files it left.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/context.h"
#include "stab/core/run_status.h"
#include "stab/device/transport.h"

namespace stab {

/// In `RunRequest::args`, `package` and the values of `environment` this stands for the run's own
/// folder on the device.
inline constexpr const char* k_run_folder = "@RUN@";

/// A file to bring back. A `pattern` with `*` or `?` brings every file of the run's folder that
/// fits, into the folder `to` under its own name; one without brings that file as `to`. Patterns
/// and names are of `[A-Za-z0-9._-]`.
struct Fetch {
  std::string pattern;
  std::filesystem::path to;
};

struct RunRequest {
  std::string
      id;  ///< names the run's folder: `[A-Za-z0-9._-]`, at most 100 characters, no leading dot
  std::string runner;                        ///< absolute path on the device
  std::vector<std::string> args;             ///< before the package
  std::optional<std::string> package;        ///< absolute path on the device, the last argument
  std::vector<std::string> library_folders;  ///< become LD_LIBRARY_PATH, in this order
  std::map<std::string, std::string>
      environment;  ///< the process gets these, PATH and LC_ALL, and nothing else
  std::optional<std::string>
      environment_file;                 ///< absolute path on the device; read by the shell first
  std::optional<std::string> affinity;  ///< taskset mask, hexadecimal
  bool traced = false;  ///< adds both families of tracing keys; trace.json must then be there, else
                        ///< `no_trace`
  std::map<std::string, std::filesystem::path>
      inputs;  ///< local files to put into the run's folder, by name there
  std::vector<Fetch> fetch;
  std::chrono::milliseconds timeout{600'000};  ///< for the process, not for bringing files back
  std::uint64_t most_fetched_bytes = 2ULL << 30;
  std::string
      system_root;  ///< prefix of /sys and /proc for the device's state; empty on a real device
  ByteSink live_output;  ///< standard output as it comes; may be empty
  ByteSink live_error;   ///< standard error as it comes; may be empty
};

struct FetchedFile {
  std::string name;            ///< in the run's folder
  std::filesystem::path path;  ///< here
  std::uint64_t bytes = 0;
  std::string sha256;  ///< of what arrived
  bool verified =
      false;  ///< the device hashed it, too, and got the same; else only sizes were compared
};

struct RunResult {
  RunStatus status = RunStatus::failed;
  std::optional<int> exit;
  std::optional<int> signal;
  std::string reason;  ///< the last words of a process that failed; empty when there are none
  std::string output;  ///< the end of standard output, at most 1 MB
  std::string errors;  ///< the end of standard error, at most 64 KB
  std::uint64_t output_bytes = 0;  ///< all that it printed
  std::vector<FetchedFile> files;
  DeviceState before;
  DeviceState after;
};

/// Runs it below `work_folder` (which is ours and there) in one command whose life hangs on this
/// connection, and removes the run's folder in the end, whatever happens. A process that fails,
/// crashes, hangs or leaves no trace is a result. Throws Error(device) when the device or the
/// connection fails, Error(input) for a request of wrong form, Error(output) when a file cannot be
/// written here, Error(interrupted) when the user asked to stop.
RunResult run_once(Transport& transport, const std::string& work_folder, const RunRequest& request);

}  // namespace stab
