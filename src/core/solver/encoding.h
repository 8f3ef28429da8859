// SPDX-License-Identifier: Apache-2.0
// Writes what is left of a placement problem as a factor graph, in one of several ways.
#pragma once

#include "core/solver/factor_graph.h"
#include "core/solver/reduction.h"

namespace stab::solver {

/// How "one copy per distinct target" is said for a tensor that several open operations read. All
/// give the same cost; which one keeps elimination narrow depends on the graph.
enum class SharedTensor {
  offer,  ///< one variable: the set of backends where the tensor is to be had; its readers choose
          ///< among them
  unite,  ///< one variable per reader: the set of backends that it and the readers after it are on.
          ///< Tensors whose last readers are the same share these, which is what flat dense blocks
          ///< need
  split   ///< one variable per target backend: is it brought there or not
};

/// Up to `direct_readers` open readers (1 or 2), a tensor's cost is one function of its producer
/// and them.
struct Encoding {
  SharedTensor shared = SharedTensor::offer;
  int direct_readers = 2;
};

/// The one under which DualBound is tightest, of those tried on graphs without order.
inline constexpr Encoding k_bound_encoding{SharedTensor::unite, 2};

/// The factor graph of a component. Variables of operations come first, in the order of
/// `component.ops`. The graph refers to `reduction`, which must outlive it.
FactorGraph encode(const Reduction& reduction, const Component& component, Encoding encoding);

}  // namespace stab::solver
