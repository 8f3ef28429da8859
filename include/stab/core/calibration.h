// SPDX-License-Identifier: Apache-2.0
// Which mixed runs to make so that copies between all classes of backends, and of many sizes, are
// measured.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stab/core/cost_model.h"
#include "stab/core/model.h"
#include "stab/core/placement.h"
#include "stab/core/transfer_model.h"

namespace stab {

/// A mixed run, and how many copies it will make.
struct CalibrationRun {
  Placement placement;
  int copies = 0;
};

/// Few placements that together copy tensors between every ordered pair of classes that this model
/// can have, in sizes a factor of four apart. What `known` points cover already is not asked for
/// again. At most `most_runs`, those that add most first; none where all backends are portable.
/// Deterministic.
std::vector<CalibrationRun> plan_calibration(const Model& model, const ModelProblem& problem,
                                             std::span<const TransferPoint> known = {},
                                             std::size_t most_runs = 6);

}  // namespace stab
