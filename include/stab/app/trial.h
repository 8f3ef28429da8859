// SPDX-License-Identifier: Apache-2.0
// One run of the model in one process of its own: what is asked of it, what came of it, and the
// port that does it. Measuring and proving are written over this port alone, so that simulated
// devices with known truth can test them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stab/core/config.h"
#include "stab/core/context.h"
#include "stab/core/placement.h"
#include "stab/core/profile.h"
#include "stab/core/trace.h"

namespace stab {

/// Which way a run's keys go to the runtime.
enum class Way {
  config,  ///< by the package alone
  env,     ///< by the environment
  api,     ///< by the C functions, through the runner
  all  ///< by package and environment together: for profiling, where only the measurement counts
};

std::string_view to_string(Way way);

struct Trial {
  std::string label;  ///< for messages and file names: "ruy", "p2"
  RuntimeKeys keys;   ///< complete, tracing aside; those of the written package for proofs
  Way way = Way::all;
  bool config_is_read = true;  ///< false: backends' keys are left out of the staged config (they
                               ///< would reach other models)
  bool source_as_is = false;   ///< the source package untouched and no key at all
  bool traced = false;
  int warmup = 0;
  int runs = 1;
  const std::vector<std::string>* inputs =
      nullptr;  ///< values of each graph input; null: the runner's own
  bool wants_outputs = false;
  std::string keep_as;  ///< name of the kept trace files without suffix; empty: not kept
};

/// How a run went. A failed run is a result like any other.
struct TrialOutcome {
  RunStatus status = RunStatus::ok;
  std::optional<int> exit;
  std::optional<int> signal;
  std::string reason;  ///< the runtime's own last words; empty when all went well
  std::vector<double>
      samples_us;  ///< each timed run by the runner's clock; empty where the runner does not say
  std::optional<double> mean_us;  ///< of the timed runs
  std::optional<double> min_us, max_us, geomean_us;
  std::optional<double> load_us, prepare_us;
  std::optional<double> cpu_time_us;  ///< of the process over all timed runs
  std::optional<std::int64_t> peak_rss_kb;
  std::optional<std::string> runtime_version;
  std::optional<Trace> trace;
  std::optional<RunFile> averaged_file, chrome_file, log_file;
  std::vector<std::string> outputs;  ///< values of each graph output
  std::optional<DeviceState> before, after;

  bool ok() const { return status == RunStatus::ok; }
};

/// Runs trials on a device.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  /// Throws Error(device) when the connection breaks and Error(interrupted) when the user wants to
  /// stop; everything else that goes wrong is in the outcome.
  virtual TrialOutcome run(const Trial& trial) = 0;
};

/// Operations that ran elsewhere than `placement` says, out of those in `operations`; an operation
/// that the trace lacks counts with the backend "".
struct Misplaced {
  OpId op;
  std::string wanted;
  std::string ran;
};
std::vector<Misplaced> misplaced(const Trace& trace, const Placement& placement,
                                 const std::vector<OpId>& operations);

}  // namespace stab
