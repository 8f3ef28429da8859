// SPDX-License-Identifier: Apache-2.0
// The rows that describe a model in the documents: operations with their edges, tensors.
#pragma once

#include <vector>

#include "stab/core/model.h"
#include "stab/core/result.h"

namespace stab {

/// One row per operation, by subgraph and index: names, edges, dependencies; nothing measured yet.
std::vector<OpRow> describe_operations(const Model& model);

/// One row per tensor that some operation or the graph itself uses, by subgraph and index.
std::vector<TensorRow> describe_tensors(const Model& model);

}  // namespace stab
