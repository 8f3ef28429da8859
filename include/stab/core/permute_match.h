// SPDX-License-Identifier: Apache-2.0
// Which tensor each Permute of a trace copies, and between which backends: the trace itself does
// not say.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stab/core/ids.h"
#include "stab/core/model.h"
#include "stab/core/trace.h"
#include "stab/core/transfer_model.h"

namespace stab {

/// A Permute of a trace and what it must have copied.
struct MatchedCopy {
  OpId permute;  ///< its number in the trace, above the model's own operations
  std::optional<TensorId>
      tensor;        ///< absent where several of the same size fit, all between the same classes
  std::string from;  ///< class of the producer
  std::string to;    ///< class of the readers
  std::uint64_t bytes = 0;
  double us = 0;  ///< median over the samples, or the average where there are none
};

struct PermuteMatch {
  std::vector<MatchedCopy> copies;  ///< by number of the Permute
  std::vector<OpId>
      unmatched;     ///< Permutes that no copy fits, or copies between different classes fit
  int expected = 0;  ///< copies that the placement of the run should have
};

/// Matches by the runtime's rule (one copy per tensor and target backend, none between portable
/// ones): a Permute has as many elements as the tensor, runs after its producer, and before its
/// first reader on the target. Only what is the same in every way to match all Permutes of a size
/// is taken for proven. `trace` is of one run of `model`; it says itself where each operation ran.
/// Subgraph 0 only.
PermuteMatch match_permutes(const Model& model, const Trace& trace);

/// The matched copies as points to fit.
std::vector<TransferPoint> transfer_points(std::span<const MatchedCopy> copies);

}  // namespace stab
