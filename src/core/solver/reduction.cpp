// SPDX-License-Identifier: Apache-2.0
#include "core/solver/reduction.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "stab/core/error.h"

namespace stab::solver {
namespace {

/// The largest cost that is possible.
Ticks largest(const std::vector<Ticks>& costs) {
  Ticks found = 0;
  for (const Ticks cost : costs) {
    if (cost != k_impossible) found = std::max(found, std::min(cost, k_infinite));
  }
  return found;
}

/// More than any placement could cost; k_infinite when that does not fit.
Ticks largest_total(const PlacementProblem& problem) {
  Ticks total = 0;
  for (const PlacementOp& op : problem.ops) total = add(total, largest(op.cost));
  for (const PlacementTensor& tensor : problem.tensors) {
    const Ticks copy = largest(tensor.copy);
    for (int target = 0; target <= problem.builtin(); ++target) total = add(total, copy);
  }
  return total;
}

}  // namespace

Reduction::Reduction(const PlacementProblem& problem, Scaling scaling)
    : problem_(&problem),
      ops_(problem.ops.size()),
      tensors_(problem.tensors.size()),
      of_op_(problem),
      queued_(problem.ops.size(), false) {
  scale_costs(scaling);
  read_tensors();
  for (int op = 0; op < std::ssize(ops_); ++op) enqueue(op);
  while (feasible_ && !queue_.empty()) {
    const int op = queue_.front();
    queue_.pop_front();
    queued_[op] = false;
    if (ops_[op].open()) restrict_domain(op);
  }
}

void Reduction::scale_costs(Scaling scaling) {
  const Ticks tie = scaling == Scaling::ties ? 1 : 0;
  scale_ = scaling == Scaling::ties ? std::ssize(ops_) + 1 : 1;
  if (largest_total(*problem_) >= k_largest_sum / scale_) {
    throw Error(ErrorKind::input, "cannot add up the costs", "",
                "the measured times are too large");
  }
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const PlacementOp& op = problem_->ops[i];
    ops_[i].cost.fill(k_infinite);
    for (int b = 0; b < problem_->backends; ++b) {
      if (op.cost[b] == k_impossible) continue;
      ops_[i].cost[b] = op.cost[b] * scale_ + (b == op.preferred ? 0 : tie);
      ops_[i].domain |= 1U << b;
    }
  }
}

void Reduction::read_tensors() {
  for (int t = 0; t < std::ssize(tensors_); ++t) {
    const PlacementTensor& source = problem_->tensors[t];
    OpenTensor& tensor = tensors_[t];
    tensor.producer = source.producer;
    tensor.from = problem_->builtin();
    tensor.open_readers = static_cast<int>(source.readers.size());
    for (const int reader : source.readers) {
      for (int b = 0; b < problem_->backends; ++b)
        tensor.possible[b] += has(ops_[reader].domain, b);
    }
  }
  for (int t = 0; t < std::ssize(tensors_); ++t) {
    if (problem_->tensors[t].graph_output) pay(t, problem_->builtin());
    close_if_settled(t);
  }
}

Ticks Reduction::weight(int t, int from, int to) const {
  if (has(tensors_[t].paid, to)) return 0;
  const Ticks cost = problem_->copy_cost(t, from, to);
  return cost == k_impossible ? k_infinite : cost * scale_;
}

BackendSet Reduction::sources(int t) const {
  const OpenTensor& tensor = tensors_[t];
  return tensor.producer == k_builtin ? 1U << tensor.from : ops_[tensor.producer].domain;
}

std::vector<int> Reduction::open_readers(int t) const {
  std::vector<int> readers;
  for (const int reader : problem_->tensors[t].readers) {
    if (ops_[reader].open()) readers.push_back(reader);
  }
  return readers;
}

void Reduction::enqueue(int op) {
  if (queued_[op] || !ops_[op].open()) return;
  queued_[op] = true;
  queue_.push_back(op);
}

void Reduction::enqueue_around(int t) {
  if (tensors_[t].producer != k_builtin) enqueue(tensors_[t].producer);
  if (tensors_[t].open_readers == 0) return;
  for (const int reader : problem_->tensors[t].readers) enqueue(reader);
}

/// Removes what an operation need not choose, and decides it when one choice is left.
void Reduction::restrict_domain(int op) {
  for (int b = 0; b < problem_->backends; ++b) {
    if (has(ops_[op].domain, b) && ops_[op].cost[b] >= k_infinite) remove_choice(op, b);
  }
  for (int b = 0; b < problem_->backends; ++b) {
    for (int by = 0; by < problem_->backends && has(ops_[op].domain, b); ++by) {
      if (by != b && has(ops_[op].domain, by) && dominated(op, b, by)) remove_choice(op, b);
    }
  }
  if (ops_[op].domain == 0) feasible_ = false;
  if (std::has_single_bit(ops_[op].domain)) decide(op);
}

void Reduction::remove_choice(int op, int backend) {
  ops_[op].domain &= ~(1U << backend);
  for (const int t : of_op_.read_by(op)) {
    --tensors_[t].possible[backend];
    close_if_settled(t);
    enqueue_around(t);
  }
  for (const int t : of_op_.made_by(op)) {
    close_if_settled(t);
    enqueue_around(t);
  }
}

void Reduction::decide(int op) {
  OpenOp& decided = ops_[op];
  decided.chosen = std::countr_zero(decided.domain);
  decided_cost_ = add(decided_cost_, decided.cost[decided.chosen]);
  ++decided_;
  for (const int t : of_op_.made_by(op)) {
    tensors_[t].producer = k_builtin;
    tensors_[t].from = decided.chosen;
  }
  for (const int t : of_op_.read_by(op)) {
    if (tensors_[t].closed) continue;
    --tensors_[t].open_readers;
    --tensors_[t].possible[decided.chosen];
    pay(t, decided.chosen);
  }
  for (const std::span<const int> side : {of_op_.read_by(op), of_op_.made_by(op)}) {
    for (const int t : side) {
      close_if_settled(t);
      enqueue_around(t);
    }
  }
}

/// Charges a target that is needed whatever the open readers choose.
void Reduction::pay(int t, int backend) {
  OpenTensor& tensor = tensors_[t];
  if (has(tensor.paid, backend)) return;
  if (tensor.producer == k_builtin) {
    decided_cost_ = add(decided_cost_, weight(t, tensor.from, backend));
  } else {
    OpenOp& producer = ops_[tensor.producer];
    for (int b = 0; b < problem_->backends; ++b) {
      if (has(producer.domain, b)) producer.cost[b] = add(producer.cost[b], weight(t, b, backend));
    }
    enqueue(tensor.producer);
  }
  tensor.paid |= 1U << backend;
}

/// Closes a tensor that nobody open reads, whose copies are free, or that only one open operation
/// still pays for.
void Reduction::close_if_settled(int t) {
  OpenTensor& tensor = tensors_[t];
  if (tensor.closed) return;
  if (tensor.open_readers == 0 || !copies_matter(t)) {
    tensor.closed = true;
    return;
  }
  if (tensor.producer != k_builtin || tensor.open_readers != 1) return;
  const int reader = open_readers(t).front();
  for (int b = 0; b < problem_->backends; ++b) {
    if (!has(ops_[reader].domain, b)) continue;
    ops_[reader].cost[b] = add(ops_[reader].cost[b], weight(t, tensor.from, b));
  }
  tensor.closed = true;
  enqueue(reader);
}

bool Reduction::copies_matter(int t) const {
  const BackendSet from = sources(t);
  for (int f = 0; f <= problem_->builtin(); ++f) {
    for (int to = 0; has(from, f) && to < problem_->backends; ++to) {
      if (tensors_[t].possible[to] > 0 && weight(t, f, to) > 0) return true;
    }
  }
  return false;
}

PlacementProblem Reduction::extract(const Component& component) const {
  const int locations = problem_->builtin() + 1;
  PlacementProblem part{problem_->backends, {}, {}};
  std::vector<int> number(ops_.size(), k_builtin);
  for (const int op : component.ops) {
    number[op] = static_cast<int>(part.ops.size());
    PlacementOp& own = part.ops.emplace_back();
    own.cost.assign(problem_->backends, k_impossible);
    for (int b = 0; b < problem_->backends; ++b) {
      if (has(ops_[op].domain, b)) own.cost[b] = ops_[op].cost[b];
    }
  }
  for (const int t : component.tensors) {
    const int producer = tensors_[t].producer;
    PlacementTensor& own = part.tensors.emplace_back();
    own.producer = producer == k_builtin ? k_builtin : number[producer];
    for (const int reader : open_readers(t)) own.readers.push_back(number[reader]);
    own.copy.assign(locations * locations, 0);
    for (int from = 0; from < locations; ++from) {
      const int origin = from == problem_->builtin() ? tensors_[t].from : from;
      for (int to = 0; to < problem_->backends; ++to) {
        const Ticks cost = weight(t, origin, to);
        own.copy[from * locations + to] = cost >= k_infinite ? k_impossible : cost;
      }
    }
  }
  return part;
}

std::vector<Component> Reduction::components() const {
  std::vector<int> root(ops_.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&root](int op) {
    while (root[op] != op) op = root[op] = root[root[op]];
    return op;
  };
  std::vector<std::vector<int>> members(tensors_.size());
  for (int t = 0; t < std::ssize(tensors_); ++t) {
    if (tensors_[t].closed) continue;
    members[t] = open_readers(t);
    if (tensors_[t].producer != k_builtin) members[t].push_back(tensors_[t].producer);
    for (const int op : members[t]) {
      const int a = find(op), b = find(members[t].front());
      root[std::max(a, b)] = std::min(a, b);
    }
  }
  std::vector<Component> result;
  std::vector<int> index(ops_.size(), -1);
  for (int op = 0; op < std::ssize(ops_); ++op) {
    if (!ops_[op].open()) continue;
    int& place = index[find(op)];
    if (place < 0) {
      place = static_cast<int>(result.size());
      result.emplace_back();
    }
    result[place].ops.push_back(op);
  }
  for (int t = 0; t < std::ssize(tensors_); ++t) {
    if (!tensors_[t].closed) result[index[find(members[t].front())]].tensors.push_back(t);
  }
  return result;
}

}  // namespace stab::solver
