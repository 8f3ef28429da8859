// SPDX-License-Identifier: Apache-2.0
// Profiling: each backend's own runs, traced, in interleaved rounds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stab/app/trial.h"
#include "stab/core/model.h"
#include "stab/core/profile.h"

namespace stab {

/// A single run of one backend: everything that is asked of it on it, the rest on cpu.
struct Single {
  std::string label;  ///< "ruy", or "acl_neon-all" for all that it can run
  std::string backend;
  Placement placement;  ///< what is asked; shrinks to what it can run
};

struct MeasuredRun {
  std::string id;  ///< "r0007"
  RunKind kind = RunKind::single;
  std::string label;
  int threads = 1;
  int round = 0;
  int order = 0;
  Trial trial;
  Placement placement;
  TrialOutcome outcome;
};

struct MeasureRequest {
  const Model* model = nullptr;
  std::vector<OpId> operations;  ///< of subgraph 0, which a trace must show
  std::vector<Single> singles;   ///< cpu first; for calibrations the mixes
  RunKind kind = RunKind::single;
  int threads = 1;
  int warmup = 5;
  int runs = 50;  ///< per backend, split over `rounds`
  int rounds = 10;
  int max_rounds = 20;
  int first_id = 0;     ///< number of the first run
  bool by_api = false;  ///< an earlier measurement found that only the API reaches this runtime
  const std::vector<std::string>* inputs = nullptr;  ///< of each graph input; null: the runner's
  std::function<RuntimeKeys(const Placement&)> make_keys;
  std::function<void(const MeasuredRun&)> on_run;  ///< called as each run ends
  std::function<void(const std::string&, double, double)> progress;
  std::function<bool()> out_of_time;
};

struct SingleOutcome {
  Single single;  ///< with the placement that was run in the end
  bool failed = false;
  std::string reason;                    ///< of the failure
  std::vector<double> round_medians_us;  ///< whole graph, traced
};

struct MeasureOutcome {
  std::vector<MeasuredRun> runs;
  std::vector<SingleOutcome> singles;
  bool by_api =
      false;  ///< this runtime takes backends neither from the package nor from the environment
  std::vector<Warning> warnings;
};

/// Runs all rounds. A backend that fails costs only itself; what it cannot run is found out and
/// left to cpu. Throws Error(device) when cpu itself does not run, and what TrialRunner throws.
MeasureOutcome measure(TrialRunner& runner, const MeasureRequest& request);

}  // namespace stab
