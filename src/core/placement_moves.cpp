// SPDX-License-Identifier: Apache-2.0
#include "stab/core/placement_moves.h"

#include <cstddef>
#include <utility>

namespace stab {
namespace {

/// a - b, or k_impossible when `a` is.
Ticks minus(Ticks a, Ticks b) {
  return a == k_impossible ? k_impossible : a - b;
}

Ticks plus(Ticks a, Ticks b) {
  return a == k_impossible || b == k_impossible ? k_impossible : a + b;
}

}  // namespace

PlacementMoves::PlacementMoves(const PlacementProblem& problem, std::vector<int> placement)
    : problem_(&problem),
      placement_(std::move(placement)),
      tensors_(problem),
      readers_on_(problem.tensors.size() * static_cast<std::size_t>(problem.backends + 1), 0) {
  for (int t = 0; t < std::ssize(problem.tensors); ++t) {
    const PlacementTensor& tensor = problem.tensors[t];
    if (tensor.graph_output) ++readers_on_[place(t, problem.builtin())];
    for (const int reader : tensor.readers) ++readers_on_[place(t, placement_[reader])];
  }
}

PlacementMoves::Changes PlacementMoves::changes(int op) const {
  const std::vector<Ticks>& cost = problem_->ops[op].cost;
  const int backends = problem_->backends;
  const int before = placement_[op];
  Changes change;
  for (int b = 0; b < backends; ++b) change[b] = minus(cost[b], cost[before]);
  for (const int t : tensors_.read_by(op)) {
    if (problem_->tensors[t].copy.empty()) continue;
    const int from = location_of_producer(t);
    const int* readers = &readers_on_[place(t, 0)];
    const Ticks spared = readers[before] == 1 ? problem_->copy_cost(t, from, before) : 0;
    for (int b = 0; b < backends; ++b) {
      const Ticks added = readers[b] == 0 ? problem_->copy_cost(t, from, b) : 0;
      change[b] = plus(change[b], minus(added, spared));
    }
  }
  for (const int t : tensors_.made_by(op)) {
    if (problem_->tensors[t].copy.empty()) continue;
    for (int to = 0; to <= backends; ++to) {
      if (readers_on_[place(t, to)] == 0) continue;
      const Ticks spared = problem_->copy_cost(t, before, to);
      for (int b = 0; b < backends; ++b)
        change[b] = plus(change[b], minus(problem_->copy_cost(t, b, to), spared));
    }
  }
  change[before] = 0;
  return change;
}

Move PlacementMoves::best_move(int op) const {
  const Changes all = changes(op);
  Move best{placement_[op], 0};
  for (int b = 0; b < problem_->backends; ++b) {
    if (all[b] < best.change) best = {b, all[b]};
  }
  return best;
}

int PlacementMoves::location_of_producer(int t) const {
  const int producer = problem_->tensors[t].producer;
  return producer == k_builtin ? problem_->builtin() : placement_[producer];
}

int PlacementMoves::neighbours_on(int op, int backend) const {
  int count = 0;
  for (const int t : tensors_.read_by(op)) {
    const int producer = problem_->tensors[t].producer;
    count += producer != k_builtin && placement_[producer] == backend;
  }
  for (const int t : tensors_.made_by(op)) count += readers_on_[place(t, backend)];
  return count;
}

void PlacementMoves::move(int op, int backend) {
  for (const int t : tensors_.read_by(op)) {
    --readers_on_[place(t, placement_[op])];
    ++readers_on_[place(t, backend)];
  }
  placement_[op] = backend;
}

}  // namespace stab
