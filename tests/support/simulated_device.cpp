// SPDX-License-Identifier: Apache-2.0
#include "support/simulated_device.h"

#include <cmath>
#include <cstring>

namespace stab::test {
namespace {

std::string value_of(const RuntimeKeys& keys, const std::string& name) {
  const std::string* found = find_key(keys, name);
  return found == nullptr ? "" : *found;
}

Placement parse_map(const std::string& text) {
  Placement placement;
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = text.find(';', start);
    if (end == std::string::npos) end = text.size();
    const std::string entry = text.substr(start, end - start);
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos)
      placement[{0, std::stoi(entry.substr(0, equals))}] = entry.substr(equals + 1);
    start = end + 1;
  }
  std::erase_if(placement, [](const auto& entry) { return entry.second == k_cpu; });
  return placement;
}

std::string floats(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

}  // namespace

Model chain_model(int count, const std::string& type) {
  Model model;
  Subgraph graph;
  for (int i = 0; i <= count; ++i) {
    Tensor tensor;
    tensor.id = {0, i};
    tensor.name = "t" + std::to_string(i);
    tensor.type = DataType::float32;
    tensor.shape = {1, 4};
    tensor.bytes = 16;
    tensor.input = i == 0;
    tensor.output = i == count;
    graph.tensors.push_back(tensor);
  }
  for (int i = 0; i < count; ++i) {
    Operation operation;
    operation.id = {0, i};
    operation.schema_name = type;
    operation.type = type;
    operation.key = type;
    operation.inputs = {i};
    operation.outputs = {i + 1};
    graph.operations.push_back(operation);
  }
  graph.inputs = {0};
  graph.outputs = {count};
  model.subgraphs = {graph};
  return model;
}

SimulatedDevice::SimulatedDevice(int operations, unsigned seed)
    : operations_(operations), random_(seed) {
  true_us[k_cpu] = std::vector<double>(static_cast<std::size_t>(operations), 100);
}

Placement SimulatedDevice::effective_placement(const Trial& trial) const {
  if (trial.source_as_is) return {};
  const bool config =
      reads_config && trial.config_is_read && (trial.way == Way::config || trial.way == Way::all);
  const bool env = reads_env && (trial.way == Way::env || trial.way == Way::all);
  const bool api = reads_api && trial.way == Way::api;
  return config || env || api ? parse_map(value_of(trial.keys, "OP_BACKEND_MAP")) : Placement();
}

std::string SimulatedDevice::failure(const Placement& placement) const {
  if (missing_backend == k_cpu) return "Error during model prepare : no cpu";
  for (const auto& [op, backend] : placement) {
    if (backend == missing_backend)
      return "Error during model prepare : Fail to find backend for Conv2D operation";
    if (impossible.contains({backend, op.index}))
      return "Error during nnfw_session::run : Conv: unsupported data type";
  }
  return "";
}

double SimulatedDevice::true_graph_us(const Placement& placement) const {
  double sum = 0;
  for (int i = 0; i < operations_; ++i)
    sum += true_us.at(backend_of(placement, {0, i})).at(static_cast<std::size_t>(i));
  return sum * company(placement) + overhead_us;
}

TrialOutcome SimulatedDevice::run(const Trial& trial) {
  trials.push_back(trial);
  TrialOutcome outcome;
  const Placement placement = effective_placement(trial);
  outcome.reason = crashes(trial) ? "it was ended by signal 11" : failure(placement);
  if (!outcome.reason.empty()) {
    outcome.status = RunStatus::failed;
    outcome.exit = 255;
    return outcome;
  }
  std::normal_distribution<double> normal;
  const double process = std::exp(round_noise * normal(random_) +
                                  drift_per_trial * static_cast<double>(trials.size()));
  Trace trace;
  for (int i = 0; i < operations_; ++i) {
    OpTrace op;
    op.op = {0, i};
    op.backend = backend_of(placement, op.op);
    op.type = "Conv2D";
    trace.ops.push_back(op);
  }
  for (int run = 0; run < trial.runs; ++run) {
    const double factor = process * std::exp(run_noise * normal(random_)) * company(placement);
    double sum = 0;
    for (OpTrace& op : trace.ops) {
      const double us = true_us.at(op.backend).at(static_cast<std::size_t>(op.op.index)) * factor;
      op.samples_us.push_back(us);
      sum += us;
    }
    trace.ops_us.push_back(sum);
    trace.graph_us.push_back(sum + overhead_us * process);
    outcome.samples_us.push_back(sum + overhead_us * process);
  }
  if (trial.traced) outcome.trace = std::move(trace);
  if (trial.wants_outputs) {
    const std::string planner = value_of(trial.keys, "CPU_MEMORY_PLANNER");
    const std::string threads = value_of(trial.keys, "NUM_THREADS");
    const bool bad = wrong(placement, planner, threads.empty() ? 1 : std::stoi(threads));
    const float base = unrepeatable ? static_cast<float>(trials.size()) : 1.F;
    outcome.outputs = {floats({base, bad ? 100.F : 2.F, 3.F})};
  }
  outcome.peak_rss_kb = value_of(trial.keys, "CPU_MEMORY_PLANNER") == "Bump" ? 31000 : 19000;
  return outcome;
}

}  // namespace stab::test
