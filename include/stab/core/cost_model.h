// SPDX-License-Identifier: Apache-2.0
// From a model and measured times to the placement problem that the solver sees, and back.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stab/core/ids.h"
#include "stab/core/model.h"
#include "stab/core/op_list.h"
#include "stab/core/placement.h"
#include "stab/core/placement_problem.h"
#include "stab/core/plan.h"
#include "stab/core/timings.h"
#include "stab/core/transfer_model.h"

namespace stab {

/// What each operation takes on each backend that it may be given to. An operation without an entry
/// was not measured, or is no choice.
using OpTimes = std::map<OpId, std::map<std::string, OpTiming>>;

/// The times of `timings` for the backends that each operation may be given to.
OpTimes op_times(const Timings& timings, const Model& model, const OpList& list,
                 std::span<const std::string> backends, const Discovered& discovered = {});

/// Replaces the times of operations by those measured in the runs of one label (a mixed run), where
/// there are any.
void reenter_times(OpTimes& times, const Timings& timings, std::string_view label);

/// What operations of subgraph 0 that are no choice took in the runs of a label: control flow,
/// custom and the runtime's own, but not Permutes, which the placement decides.
double fixed_us(const Timings& timings, std::string_view label);

/// A placement problem and what its numbers stand for.
struct ModelProblem {
  PlacementProblem problem;
  std::vector<std::string> backends;  ///< cpu first
  std::vector<OpId> ops;              ///< by number in the problem
  std::vector<TensorId> tensors;
  std::vector<OpId>
      without_time;  ///< on cpu for want of any time; they count as nothing in the problem

  /// The number of an operation; absent for control flow and other subgraphs.
  std::optional<int> number_of(OpId op) const;

  /// Only what is not on cpu.
  Placement to_placement(std::span<const int> numbers) const;

  /// A backend per operation; absent when the problem does not allow one of them, or names an
  /// operation or backend that it does not have.
  std::optional<std::vector<int>> to_numbers(const Placement& placement) const;
};

/// The problem of subgraph 0. Control flow runs on builtin. Operations without times run on cpu. A
/// pinned operation has one choice; Error(input) when it has no time there. `default_placement` is
/// where operations stay without a gain; where it names a backend that an operation cannot run on,
/// that is cpu, else its first backend. Constants cost nothing; a tensor whose size is not known
/// cannot leave its class of backends.
ModelProblem make_problem(const Model& model, const OpTimes& times, const TransferModel& transfers,
                          std::span<const std::string> backends,
                          const std::map<OpId, std::string>& pins = {},
                          const Placement& default_placement = {});

/// By operation and backend: half the width of the 95 % interval of the difference to the default
/// placement's backend, from paired rounds; without at least two rounds of both max(2 us, 1 % of
/// the default's time). 0 on the default's backend.
using HalfWidths = std::vector<std::vector<Ticks>>;

HalfWidths half_widths(const ModelProblem& problem, const OpTimes& times);

/// The same problem for those who move only for what is more than noise: each operation away from
/// its preferred backend costs its half-width more.
PlacementProblem averse(const PlacementProblem& problem, const HalfWidths& half_widths);

/// What a placement should cost: operations, with those that are no choice (`fixed_us`), copies,
/// and what the graph takes outside operations. The bounds come from the sums of the chosen
/// operations' times in each round that all have, else from the sum of their single spreads (max(2
/// us, 1 %) where none is known). Absent when the placement cannot be.
std::optional<Estimate> estimate(const ModelProblem& problem, const OpTimes& times,
                                 std::span<const int> placement, double fixed_us,
                                 double overhead_us);

}  // namespace stab
