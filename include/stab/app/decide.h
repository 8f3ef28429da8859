// SPDX-License-Identifier: Apache-2.0
// From timings to candidate plans: the optimum, the noise-averse optimum, each single backend, the
// plan of yesterday.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stab/app/options.h"
#include "stab/core/calibration.h"
#include "stab/core/candidates.h"
#include "stab/core/model.h"
#include "stab/core/op_list.h"
#include "stab/core/pins.h"
#include "stab/core/result.h"
#include "stab/core/schedule_keys.h"
#include "stab/core/timings.h"
#include "stab/core/transfer_model.h"

namespace stab {

/// A single backend as it was measured.
struct MeasuredSingle {
  std::string label;
  std::string backend;
  Placement placement;
  double graph_us = 0;
};

struct DecideRequest {
  const Model* model = nullptr;
  const Timings* timings = nullptr;
  const AveragedRuns* averages = nullptr;  ///< for the greedy rule
  OpList op_list;
  std::vector<Pin> pins;
  std::vector<std::string> backends;  ///< those that were measured, in the user's order, cpu first
  Discovered discovered;              ///< what backends that no list knows were seen to run
  std::vector<MeasuredSingle> singles;
  std::span<const RunTrace> runs;    ///< all runs: their Permutes tell what copies cost
  std::vector<std::string> reenter;  ///< labels of mixed runs whose own times count instead
  Algorithm algorithm = Algorithm::exact;
  std::optional<Schedule> previous;
  std::optional<Plan> baseline;  ///< placement and complete keys of the plan to compare with
  /// The complete keys of a placement; with the form of the first stab where one is given.
  std::function<RuntimeKeys(const Placement&, const std::optional<std::string>& planner,
                            const std::optional<GreedyForm>&)>
      make_keys;
};

struct Decision {
  std::vector<Plan> plans;
  std::string preferred;  ///< id of the plan to write where nothing can be proven
  std::vector<OpRow> ops;
  std::vector<TransferRow> transfers;
  std::vector<LeftOutRow> left_out;
  CertificateRow certificate;
  std::optional<double> overhead_us;
  bool baseline_may_win = false;  ///< the baseline's plan could be written tonight as it is
  std::string best_single;        ///< plan id of the fastest single backend by its traced runs
  std::vector<Warning> warnings;
  std::vector<TransferPoint> points;  ///< copies that were measured
  /// The complete keys of a plan, with this memory planner as a remedy where given.
  std::function<RuntimeKeys(const Plan&, const std::optional<std::string>& planner)> make_keys;
  /// Fills switches, copies and estimate of a plan whose placement changed.
  std::function<void(Plan&)> price;
  /// Mixed runs worth making to measure copies, beside those that `points` cover; none among
  /// portable backends.
  std::function<std::vector<CalibrationRun>()> calibration;
  /// The operations that cause most switches of a placement.
  std::function<std::vector<SwitchCause>(const Placement&)> causes;
  /// What the whole plan would cost if one operation alone moved, per operation and backend.
  std::function<std::map<OpId, std::map<std::string, double>>(const Placement&)> in_company;
};

/// Decides. Every plan keeps the pins, the single ones included. Throws Error(input) when pins
/// cannot be met or nothing was measured.
Decision decide(const DecideRequest& request);

}  // namespace stab
