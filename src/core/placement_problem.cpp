// SPDX-License-Identifier: Apache-2.0
#include "stab/core/placement_problem.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "stab/core/error.h"

namespace stab {
namespace {

[[noreturn]] void malformed(const std::string& subject, const std::string& why) {
  throw Error(ErrorKind::internal, "malformed placement problem", subject, why);
}

Ticks plus(Ticks a, Ticks b) {
  Ticks sum = 0;
  return a == k_impossible || b == k_impossible || __builtin_add_overflow(a, b, &sum) ? k_impossible
                                                                                      : sum;
}

void check_op(const PlacementProblem& problem, int i) {
  const PlacementOp& op = problem.ops[i];
  const std::string name = "op " + std::to_string(i);
  if (std::ssize(op.cost) != problem.backends) malformed(name, "needs one cost per backend");
  if (op.preferred < 0 || op.preferred >= problem.backends) malformed(name, "unknown preferred");
  for (const Ticks cost : op.cost) {
    if (cost < 0) malformed(name, "negative cost");
  }
}

void check_tensor(const PlacementProblem& problem, int t) {
  const PlacementTensor& tensor = problem.tensors[t];
  const std::string name = "tensor " + std::to_string(t);
  const int locations = problem.backends + 1;
  const auto ops = std::ssize(problem.ops);
  if (!tensor.copy.empty() && std::ssize(tensor.copy) != locations * locations) {
    malformed(name, "needs one copy cost per pair of locations");
  }
  for (const Ticks cost : tensor.copy) {
    if (cost < 0) malformed(name, "negative copy cost");
  }
  if (tensor.producer < k_builtin || tensor.producer >= ops) malformed(name, "unknown producer");
  int before = -1;
  for (const int reader : tensor.readers) {
    if (reader <= before || reader >= ops) malformed(name, "readers must be known and ascending");
    if (reader == tensor.producer) malformed(name, "its producer reads it");
    before = reader;
  }
}

std::string on(int op, int backend) {
  return "op " + std::to_string(op) + " on backend " + std::to_string(backend);
}

void add_copies(const PlacementProblem& problem, std::span<const int> placement, int t,
                Evaluation& result) {
  const PlacementTensor& tensor = problem.tensors[t];
  const int from = tensor.producer == k_builtin ? problem.builtin() : placement[tensor.producer];
  std::uint32_t targets = tensor.graph_output ? 1U << problem.builtin() : 0U;
  for (const int reader : tensor.readers) targets |= 1U << placement[reader];
  for (int to = 0; to <= problem.builtin(); ++to) {
    if ((targets >> to & 1U) == 0 || to == from) continue;
    if (tensor.producer != k_builtin && to != problem.builtin()) ++result.switches;
    const Ticks cost = problem.copy_cost(t, from, to);
    if (cost == 0) continue;
    result.copies_made.push_back({t, from, to, cost});
    result.copies = plus(result.copies, cost);
  }
}

}  // namespace

Ticks to_ticks(double microseconds) {
  constexpr double k_limit = 1e14;  // three years; sums of thousands still fit
  if (!(microseconds >= 0.0 && microseconds <= k_limit)) {
    throw Error(ErrorKind::internal, "cannot use a time", std::to_string(microseconds),
                "not a number of microseconds from 0 to 1e14");
  }
  return std::llround(microseconds * 1000.0);
}

double to_us(Ticks ticks) {
  return static_cast<double>(ticks) / 1000.0;
}

void check(const PlacementProblem& problem) {
  if (problem.backends < 1 || problem.backends > k_max_backends) {
    malformed(std::to_string(problem.backends) + " backends", "from 1 to 30 are possible");
  }
  for (int i = 0; i < std::ssize(problem.ops); ++i) check_op(problem, i);
  for (int t = 0; t < std::ssize(problem.tensors); ++t) check_tensor(problem, t);
}

Evaluation evaluate(const PlacementProblem& problem, std::span<const int> placement) {
  Evaluation result;
  result.op_cost.reserve(problem.ops.size());
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    result.op_cost.push_back(problem.ops[i].cost[placement[i]]);
    result.ops = plus(result.ops, result.op_cost.back());
  }
  for (int t = 0; t < std::ssize(problem.tensors); ++t) add_copies(problem, placement, t, result);
  result.total = plus(result.ops, result.copies);
  return result;
}

void pin(PlacementProblem& problem, int op, int backend) {
  std::vector<Ticks>& cost = problem.ops.at(op).cost;
  if (cost.at(backend) == k_impossible) {
    throw Error(ErrorKind::input, "cannot pin", on(op, backend), "it did not run there");
  }
  for (int b = 0; b < problem.backends; ++b) {
    if (b != backend) cost[b] = k_impossible;
  }
}

void forbid(PlacementProblem& problem, int op, int backend) {
  std::vector<Ticks>& cost = problem.ops.at(op).cost;
  const auto possible =
      std::count_if(cost.begin(), cost.end(), [](Ticks c) { return c != k_impossible; });
  if (possible == 1 && cost.at(backend) != k_impossible) {
    throw Error(ErrorKind::input, "cannot forbid", on(op, backend), "nothing else runs it");
  }
  cost.at(backend) = k_impossible;
}

}  // namespace stab
