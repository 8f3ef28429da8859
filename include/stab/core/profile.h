// SPDX-License-Identifier: Apache-2.0
// profile.json: what was measured, run by run, and where each run's files are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/context.h"
#include "stab/core/placement.h"
#include "stab/core/run_status.h"

namespace stab {

/// Why a run was made: to time one backend, to find out what a backend can run, to time a mix.
enum class RunKind { single, discover, calibrate };

std::string_view to_string(RunKind kind);

/// A file beside profile.json; `name` has no folder.
struct RunFile {
  std::string name;
  std::int64_t bytes = 0;
  std::string sha256;

  bool operator==(const RunFile&) const = default;
};

/// Times of the timed runs as the runner measured them.
struct ExecuteTimes {
  std::optional<double> mean_us;
  std::optional<double> min_us;
  std::optional<double> max_us;
  std::optional<double> geomean_us;
  std::vector<double>
      samples_us;  ///< one for each run, in order; empty where the runner does not tell

  bool operator==(const ExecuteTimes&) const = default;
};

/// One runner process.
struct ProfileRun {
  std::string id;  ///< "r0007"
  RunKind kind = RunKind::single;
  std::string label;  ///< the backend, or "<backend>-all" (see RunLabel)
  int threads = 1;
  int round = 0;  ///< from 0
  int order = 0;  ///< within the round, from 0
  bool traced = true;
  int warmup = 0;                           ///< asked for
  int runs = 0;                             ///< asked for; 0: not known
  std::map<std::string, std::string> keys;  ///< environment as sent, without tracing
  std::optional<Placement> placement;       ///< as asked; absent: none was asked for
  RunStatus status = RunStatus::ok;
  std::optional<int> exit;
  std::optional<int> signal;
  std::optional<std::string> reason;  ///< the runtime's own last words
  std::optional<RunFile> averaged;
  std::optional<RunFile> chrome;
  std::optional<RunFile> log;
  std::optional<double> load_us;
  std::optional<double> prepare_us;
  std::optional<ExecuteTimes> execute;
  std::optional<double> cpu_time_us;
  std::optional<std::int64_t> peak_rss_kb;
  std::optional<DeviceState> before;
  std::optional<DeviceState> after;
};

struct Profile {
  StabInfo stab;
  std::string measured_at;  ///< ISO 8601 UTC, host clock
  bool complete = false;    ///< false while running and after an interruption
  Context context;
  std::vector<ProfileRun> runs;
};

/// The document as text, ending in a line break. Same value, same bytes.
std::string render_profile(const Profile& profile);

/// Reads it back. `name` stands in messages. Fields that are not known are ignored, absent ones are
/// unknown. Throws Error(input) that names the file and the place (`runs[3].round`) for anything
/// else: no JSON, more than 64 MiB, another kind, a later schema, a value of the wrong type.
Profile parse_profile(std::string_view text, std::string_view name);

}  // namespace stab
