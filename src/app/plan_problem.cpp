// SPDX-License-Identifier: Apache-2.0
#include "app/plan_problem.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "stab/core/error.h"
#include "stab/core/placement_moves.h"
#include "stab/core/rows.h"

namespace stab {
namespace {

/// Copies of which nothing was measured: latency and bandwidth of real ones on boards are of this
/// order.
constexpr double k_prior_latency_us = 50;
constexpr double k_prior_bytes_per_us = 1000;
/// Without samples an operation has to be better by this much to leave its default.
constexpr double k_least_charge_us = 2;
constexpr double k_least_charge_part = 0.01;

/// Among these the runtime hands tensors over without a copy.
bool portable(const std::string& backend) {
  return backend == "cpu" || backend == "ruy" || backend == "xnnpack" || backend == "builtin";
}

std::string class_of(const std::string& backend) {
  return portable(backend) ? "portable" : backend;
}

}  // namespace

PlanProblem::PlanProblem(const Model& model, const Timings& timings, const OpList& list,
                         const std::vector<std::string>& backends, const Discovered& discovered)
    : model_(model), timings_(timings), backends_(backends) {
  problem_.backends = static_cast<int>(backends_.size());
  add_operations(list, discovered);
  add_tensors();
}

int PlanProblem::backend_index(const std::string& backend) const {
  const auto found = std::find(backends_.begin(), backends_.end(), backend);
  return found == backends_.end() ? -1 : static_cast<int>(found - backends_.begin());
}

void PlanProblem::add_operations(const OpList& list, const Discovered& discovered) {
  for (const Operation& operation : model_.subgraphs.at(0).operations) {
    const Candidates choice = candidates(model_, operation.id, list, backends_, discovered);
    PlacementOp op;
    op.cost.assign(backends_.size(), k_impossible);
    for (const std::string& backend : choice.backends) {
      const OpTiming* timing = timings_.find(operation.id, backend);
      if (timing != nullptr)
        op.cost[static_cast<std::size_t>(backend_index(backend))] = to_ticks(timing->us.median);
    }
    std::optional<std::string> reason;
    if (choice.fixed) reason = std::string(to_string(*choice.fixed));
    if (std::all_of(op.cost.begin(), op.cost.end(),
                    [](Ticks cost) { return cost == k_impossible; })) {
      op.cost[0] =
          0;  // stays where the runtime puts it, whatever that costs: a part of the overhead
      if (!reason) reason = "no_candidate";
    }
    fixed_[operation.id] = reason;
    ops_.push_back(operation.id);
    problem_.ops.push_back(std::move(op));
  }
}

std::vector<Ticks> PlanProblem::copy_table(const Tensor& tensor) const {
  if (std::all_of(backends_.begin(), backends_.end(), portable)) return {};
  const double bytes = static_cast<double>(tensor.bytes.value_or(0));
  const Ticks cost = to_ticks(k_prior_latency_us + bytes / k_prior_bytes_per_us);
  const std::size_t side = backends_.size() + 1;
  std::vector<Ticks> table(side * side, 0);
  const auto name = [&](std::size_t location) {
    return location == backends_.size() ? std::string("builtin") : backends_[location];
  };
  for (std::size_t from = 0; from < side; ++from) {
    for (std::size_t to = 0; to < side; ++to) {
      if (class_of(name(from)) != class_of(name(to))) table[from * side + to] = cost;
    }
  }
  return table;
}

void PlanProblem::add_tensors() {
  const Subgraph& graph = model_.subgraphs.at(0);
  std::map<int, int> producer;
  std::map<int, std::set<int>> readers;
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    for (const int tensor : graph.operations[i].outputs) {
      if (tensor >= 0) producer[tensor] = static_cast<int>(i);
    }
    for (const int tensor : graph.operations[i].inputs) {
      if (tensor >= 0) readers[tensor].insert(static_cast<int>(i));
    }
  }
  for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
    const Tensor& tensor = graph.tensors[t];
    const int id = static_cast<int>(t);
    if (tensor.constant || (!producer.contains(id) && !tensor.input)) continue;
    PlacementTensor entry;
    if (producer.contains(id)) entry.producer = producer[id];
    readers[id].erase(entry.producer);
    entry.readers.assign(readers[id].begin(), readers[id].end());
    entry.graph_output = tensor.output;
    if (entry.readers.empty() && !entry.graph_output) continue;
    entry.copy = copy_table(tensor);
    tensors_.push_back(tensor.id);
    problem_.tensors.push_back(std::move(entry));
  }
}

void PlanProblem::set_default(const Placement& placement) {
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const int backend = backend_index(backend_of(placement, ops_[i]));
    if (backend >= 0 && problem_.ops[i].cost[static_cast<std::size_t>(backend)] != k_impossible) {
      problem_.ops[i].preferred = backend;
      continue;
    }
    for (std::size_t b = 0; b < backends_.size(); ++b) {
      if (problem_.ops[i].cost[b] == k_impossible) continue;
      problem_.ops[i].preferred = static_cast<int>(b);
      break;
    }
  }
}

bool PlanProblem::can(OpId op, const std::string& backend) const {
  const int index = backend_index(backend);
  const auto found = std::find(ops_.begin(), ops_.end(), op);
  if (index < 0 || found == ops_.end()) return false;
  return problem_.ops[static_cast<std::size_t>(found - ops_.begin())]
             .cost[static_cast<std::size_t>(index)] != k_impossible;
}

void PlanProblem::pin(OpId op, const std::string& backend) {
  if (!can(op, backend)) {
    throw Error(ErrorKind::input, "cannot pin operation", to_string(op),
                "it has no measured time on " + backend);
  }
  const auto index = std::find(ops_.begin(), ops_.end(), op) - ops_.begin();
  stab::pin(problem_, static_cast<int>(index), backend_index(backend));
  problem_.ops[static_cast<std::size_t>(index)].preferred = backend_index(backend);
  fixed_[op] = "pin";
}

/// Half the width of the 95 % interval of the difference to the default backend, over the rounds
/// that both have.
Ticks PlanProblem::averse_charge(std::size_t op, int backend) const {
  const int preferred = problem_.ops[op].preferred;
  const OpTiming* here = timings_.find(ops_[op], backends_[static_cast<std::size_t>(preferred)]);
  const OpTiming* there = timings_.find(ops_[op], backends_[static_cast<std::size_t>(backend)]);
  double charge = k_least_charge_us;
  if (here == nullptr || there == nullptr) return to_ticks(charge);
  charge = std::max(charge, k_least_charge_part * here->us.median);
  const PairedRounds paired = pair_rounds(here->rounds, there->rounds);
  const auto difference = paired_difference_interval(paired.a, paired.b, k_clock_resolution_us);
  if (here->samples > 0 && there->samples > 0 && difference && difference->low &&
      difference->high) {
    charge = (*difference->high - *difference->low) / 2;
  }
  return to_ticks(charge);
}

Solution PlanProblem::solve_averse() const {
  PlacementProblem charged = problem_;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    for (int b = 0; b < charged.backends; ++b) {
      Ticks& cost = charged.ops[i].cost[static_cast<std::size_t>(b)];
      if (cost != k_impossible && b != charged.ops[i].preferred) cost += averse_charge(i, b);
    }
  }
  return stab::solve(charged);
}

Placement PlanProblem::placement_of(const std::vector<int>& indices) const {
  Placement placement;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const std::string& backend = backends_[static_cast<std::size_t>(indices[i])];
    if (backend != k_cpu) placement[ops_[i]] = backend;
  }
  return placement;
}

std::vector<int> PlanProblem::indices_of(const Placement& placement) const {
  std::vector<int> indices;
  for (const OpId op : ops_)
    indices.push_back(std::max(0, backend_index(backend_of(placement, op))));
  return indices;
}

void PlanProblem::price(Plan& plan) const {
  const std::vector<int> indices = indices_of(plan.placement);
  const Evaluation cost = evaluate(problem_, indices);
  plan.switches = cost.switches;
  plan.copies.clear();
  const auto name = [&](int location) {
    return location == problem_.builtin() ? std::string("builtin")
                                          : backends_[static_cast<std::size_t>(location)];
  };
  for (const CopyMade& copy : cost.copies_made) {
    plan.copies.push_back({tensors_[static_cast<std::size_t>(copy.tensor)], name(copy.from),
                           name(copy.to), to_us(copy.cost)});
  }
  plan.estimate.reset();
  if (!cost.feasible()) return;
  Estimate estimate;
  estimate.ops_us = to_us(cost.ops);
  estimate.copies_us = to_us(cost.copies);
  estimate.overhead_us = overhead_us_.value_or(0);
  estimate.total_us = estimate.ops_us + estimate.copies_us + estimate.overhead_us;
  double square = 0;
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    const OpTiming* timing =
        timings_.find(ops_[i], backends_[static_cast<std::size_t>(indices[i])]);
    if (timing == nullptr || !timing->us.low || !timing->us.high) continue;
    const double half = (*timing->us.high - *timing->us.low) / 2;
    square += half * half;
  }
  estimate.low_us = estimate.total_us - std::sqrt(square);
  estimate.high_us = estimate.total_us + std::sqrt(square);
  plan.estimate = estimate;
}

std::map<OpId, std::map<std::string, double>> PlanProblem::in_company(
    const Placement& placement) const {
  std::map<OpId, std::map<std::string, double>> costs;
  const std::vector<int> indices = indices_of(placement);
  const Evaluation now = evaluate(problem_, indices);
  if (!now.feasible()) return costs;
  const PlacementMoves moves(problem_, indices);
  for (std::size_t i = 0; i < ops_.size(); ++i) {
    for (int b = 0; b < problem_.backends; ++b) {
      const Ticks change = b == indices[i] ? 0 : moves.change(static_cast<int>(i), b);
      if (change == k_impossible) continue;
      costs[ops_[i]][backends_[static_cast<std::size_t>(b)]] =
          to_us(now.total + change) + overhead_us_.value_or(0);
    }
  }
  return costs;
}

std::vector<OpRow> PlanProblem::rows() const {
  std::vector<OpRow> rows = describe_operations(model_);
  for (OpRow& row : rows) {
    if (row.op.subgraph != 0) {
      row.fixed = "subgraph";
      continue;
    }
    row.fixed = fixed_.at(row.op);
    for (const std::string& backend : backends_) {
      const OpTiming* timing = timings_.find(row.op, backend);
      if (timing == nullptr || !can(row.op, backend)) continue;
      OpCandidate candidate;
      candidate.us = timing->us;
      candidate.samples = static_cast<int>(timing->samples);
      candidate.rounds = static_cast<int>(timing->rounds.size());
      for (const RoundMedian& round : timing->rounds)
        candidate.round_medians_us.push_back(round.us);
      candidate.runs = timing->runs;
      row.candidates[backend] = candidate;
    }
  }
  return rows;
}

std::vector<TransferRow> PlanProblem::transfers() const {
  std::set<std::string> classes;
  for (const std::string& backend : backends_) classes.insert(class_of(backend));
  std::vector<TransferRow> rows;
  for (const std::string& from : classes) {
    for (const std::string& to : classes) {
      if (from != to)
        rows.push_back(
            {from, to, k_prior_latency_us, k_prior_bytes_per_us, 0, std::nullopt, "prior"});
    }
  }
  return rows;
}

}  // namespace stab
