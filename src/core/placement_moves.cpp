// SPDX-License-Identifier: Apache-2.0
#include "stab/core/placement_moves.h"

#include <array>
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

Ticks PlacementMoves::change(int op, int backend) const {
  if (backend == placement_[op]) return 0;
  const std::vector<Ticks>& cost = problem_->ops[op].cost;
  if (cost[backend] == k_impossible) return k_impossible;
  Ticks change = minus(cost[backend], cost[placement_[op]]);
  for (const int t : tensors_.read_by(op)) change = plus(change, change_as_reader(t, op, backend));
  for (const int t : tensors_.made_by(op)) change = plus(change, change_as_producer(t, backend));
  return change;
}

Move PlacementMoves::best_move(int op) const {
  const std::vector<Ticks>& cost = problem_->ops[op].cost;
  const int backends = problem_->backends;
  const int before = placement_[op];
  std::array<Ticks, k_max_backends> change;
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
  Move best{before, 0};
  for (int b = 0; b < backends; ++b) {
    if (change[b] < best.change) best = {b, change[b]};
  }
  return best;
}

int PlacementMoves::location_of_producer(int t) const {
  const int producer = problem_->tensors[t].producer;
  return producer == k_builtin ? problem_->builtin() : placement_[producer];
}

Ticks PlacementMoves::change_as_reader(int t, int op, int backend) const {
  const int from = location_of_producer(t);
  const int before = placement_[op];
  const Ticks spared =
      readers_on_[place(t, before)] == 1 ? problem_->copy_cost(t, from, before) : 0;
  const Ticks added =
      readers_on_[place(t, backend)] == 0 ? problem_->copy_cost(t, from, backend) : 0;
  return minus(added, spared);
}

Ticks PlacementMoves::change_as_producer(int t, int backend) const {
  const int before = location_of_producer(t);
  Ticks change = 0;
  for (int to = 0; to <= problem_->builtin(); ++to) {
    if (readers_on_[place(t, to)] == 0) continue;
    change = plus(change,
                  minus(problem_->copy_cost(t, backend, to), problem_->copy_cost(t, before, to)));
  }
  return change;
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
