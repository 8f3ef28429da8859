// SPDX-License-Identifier: Apache-2.0
// Which tensors each operation of a placement problem reads and makes.
#pragma once

#include <span>
#include <vector>

#include "stab/core/placement_problem.h"

namespace stab {

/// Tensors per operation, ascending; all side by side, since solvers ask for them all the time.
class OpTensors {
 public:
  explicit OpTensors(const PlacementProblem& problem);

  std::span<const int> read_by(int op) const { return part(reads_, first_read_, op); }
  std::span<const int> made_by(int op) const { return part(made_, first_made_, op); }

 private:
  static std::span<const int> part(const std::vector<int>& all, const std::vector<int>& first,
                                   int op) {
    return {all.data() + first[op], all.data() + first[op + 1]};
  }

  std::vector<int> reads_;
  std::vector<int> first_read_;  ///< per operation, and the end
  std::vector<int> made_;
  std::vector<int> first_made_;
};

}  // namespace stab
