// SPDX-License-Identifier: Apache-2.0
// What moving single operations changes about the cost of a placement, without adding it all up
// again.
#pragma once

#include <array>
#include <vector>

#include "stab/core/op_tensors.h"
#include "stab/core/placement_problem.h"

namespace stab {

/// A backend to move an operation to.
struct Move {
  int backend = 0;
  Ticks change = 0;  ///< of the total
};

/// A placement whose cost follows each move. The problem must outlive it.
class PlacementMoves {
 public:
  /// Starts from a feasible placement of a checked problem.
  PlacementMoves(const PlacementProblem& problem, std::vector<int> placement);

  const std::vector<int>& placement() const { return placement_; }

  /// Per backend what the total would grow by if operation `op` alone were moved there;
  /// k_impossible where that cannot be, 0 where it is. Of as many entries as there are backends.
  using Changes = std::array<Ticks, k_max_backends>;
  Changes changes(int op) const;
  Ticks change(int op, int backend) const { return changes(op)[backend]; }

  /// Where operation `op` alone makes the total least: where it is, unless moving it gains; of
  /// equals the lowest backend.
  Move best_move(int op) const;

  /// How many neighbours of `op` (the producers of what it reads, the readers of what it makes, one
  /// each per tensor) are on `backend`.
  int neighbours_on(int op, int backend) const;

  /// Moves an operation.
  void move(int op, int backend);

 private:
  int location_of_producer(int t) const;
  int place(int t, int location) const { return t * (problem_->backends + 1) + location; }

  const PlacementProblem* problem_;
  std::vector<int> placement_;
  OpTensors tensors_;
  std::vector<int> readers_on_;  ///< per tensor and location
};

}  // namespace stab
