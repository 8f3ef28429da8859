// SPDX-License-Identifier: Apache-2.0
#include "stab/core/op_tensors.h"

#include <cstddef>
#include <numeric>

namespace stab {

OpTensors::OpTensors(const PlacementProblem& problem)
    : first_read_(problem.ops.size() + 1, 0), first_made_(problem.ops.size() + 1, 0) {
  for (const PlacementTensor& tensor : problem.tensors) {
    if (tensor.producer != k_builtin) ++first_made_[tensor.producer + 1];
    for (const int reader : tensor.readers) ++first_read_[reader + 1];
  }
  std::partial_sum(first_read_.begin(), first_read_.end(), first_read_.begin());
  std::partial_sum(first_made_.begin(), first_made_.end(), first_made_.begin());
  reads_.resize(static_cast<std::size_t>(first_read_.back()));
  made_.resize(static_cast<std::size_t>(first_made_.back()));
  std::vector<int> next_read = first_read_, next_made = first_made_;
  for (int t = 0; t < std::ssize(problem.tensors); ++t) {
    const PlacementTensor& tensor = problem.tensors[t];
    if (tensor.producer != k_builtin) made_[next_made[tensor.producer]++] = t;
    for (const int reader : tensor.readers) reads_[next_read[reader]++] = t;
  }
}

}  // namespace stab
