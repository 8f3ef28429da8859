// SPDX-License-Identifier: Apache-2.0
// Are two runs' output tensors equal? The numeric half of the second proof.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "stab/core/model.h"
#include "stab/core/plan.h"

namespace stab {

/// |a - b| <= relative x max|reference| + absolute.
struct OutputLimit {
  double absolute = 0;
  double relative = 0;
};

/// The limit by element type: 1e-6 + 1e-3 for f32 and f64, 1e-2 relative for f16, exact for
/// everything else.
OutputLimit default_limit(DataType type);

/// Compares one output with the reference. `repeat` is what the reference gave in a second process:
/// where it differs from `reference` by more than the limit, the output is not comparable. Sizes
/// that differ fail. NaN passes only where both have it. Infinite values must be equal.
EqualProof::Output compare_output(int index, DataType type, std::string_view reference,
                                  std::string_view repeat, std::string_view candidate,
                                  OutputLimit limit);

/// Positions of graph outputs that flip on rounding: they depend on an operation that picks
/// (ArgMax, TopK, detection).
std::set<int> flipping_outputs(const Model& model);

/// Keeps the worse of two comparisons of one output (over seeds).
EqualProof::Output worse(const EqualProof::Output& a, const EqualProof::Output& b);

}  // namespace stab
