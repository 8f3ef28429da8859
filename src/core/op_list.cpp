// SPDX-License-Identifier: Apache-2.0
#include "stab/core/op_list.h"

#include <algorithm>
#include <array>

#include "stab/core/op_names.h"
#include "stab/core/placement.h"

namespace stab {
namespace {

// Backends of the runtime that it forces these keys to, whatever is asked.
constexpr std::array<std::string_view, 3> k_forced_keys = {"BCQFullyConnected", "BCQGather",
                                                           "Bulk"};

const Tensor* input_of(const Model& model, const Operation& operation, std::size_t position) {
  if (position >= operation.inputs.size() || operation.inputs[position] < 0) return nullptr;
  const auto& tensors = model.subgraphs.at(operation.id.subgraph).tensors;
  return &tensors.at(operation.inputs[position]);
}

bool has_weights(const Operation& operation) {
  return operation.key == "Conv2D" || operation.key == "DepthwiseConv2D" ||
         operation.key == "FullyConnected" || operation.key == "TransposeConv";
}

const Tensor* data_of(const Model& model, const Operation& operation) {
  return input_of(model, operation, operation.key == "TransposeConv" ? 2 : 0);
}

const Tensor* weights_of(const Model& model, const Operation& operation) {
  return has_weights(operation) ? input_of(model, operation, 1) : nullptr;
}

bool is_dynamic(const Model& model, const Operation& operation) {
  const auto& tensors = model.subgraphs.at(operation.id.subgraph).tensors;
  const auto dynamic = [&](int index) { return index >= 0 && tensors.at(index).dynamic(); };
  return std::any_of(operation.inputs.begin(), operation.inputs.end(), dynamic) ||
         std::any_of(operation.outputs.begin(), operation.outputs.end(), dynamic);
}

std::optional<std::string> wrong_type(std::string_view backend, const Tensor* tensor,
                                      std::string_view role, const std::vector<DataType>& types) {
  if (tensor == nullptr || std::find(types.begin(), types.end(), tensor->type) != types.end()) {
    return std::nullopt;
  }
  std::string names;
  for (const DataType type : types) {
    names += (names.empty() ? "" : " or ") + std::string(to_string(type));
  }
  return std::string(backend) + " takes " + names + " " + std::string(role) + " only, not " +
         std::string(to_string(tensor->type));
}

// Both backends look at the input's type alone and read whatever weights there are as floats;
// xnnpack packs weights and bias while it prepares, dereferences a convolution's bias without a
// look, and never repeats its set-up.
std::optional<std::string> backend_limit(const Model& model, const Operation& operation,
                                         std::string_view backend) {
  if (backend != "ruy" && backend != "xnnpack") return std::nullopt;
  const std::string name(backend);
  const std::vector<DataType> floats = {DataType::float32};
  if (auto wrong = wrong_type(backend, data_of(model, operation), "input", floats)) return wrong;
  if (has_weights(operation)) {
    const Tensor* weights = weights_of(model, operation);
    if (auto wrong = wrong_type(backend, weights, "weights", floats)) return wrong;
    if (weights == nullptr || !weights->constant) return name + " takes constant weights only";
  }
  if (backend == "ruy") return std::nullopt;
  if (is_dynamic(model, operation)) return name + " does not follow changing shapes";
  if (operation.key == "Conv2D" || operation.key == "DepthwiseConv2D") {
    const Tensor* bias = input_of(model, operation, 2);
    if (bias == nullptr || !bias->constant) return name + " needs a constant bias";
  }
  return std::nullopt;
}

std::optional<std::string> list_limit(const Model& model, const Operation& operation,
                                      const BackendOps& ops) {
  std::optional<std::string> limit =
      ops.backend + " is not listed for " + operation.type + " operations";
  for (const OpRule& rule : ops.rules) {
    if (!same_type(operation, rule.type)) continue;
    if (rule.types.empty()) return std::nullopt;
    limit = wrong_type(ops.backend, data_of(model, operation), "input", rule.types);
    if (!limit)
      limit = wrong_type(ops.backend, weights_of(model, operation), "weights", rule.types);
    if (!limit) return std::nullopt;
  }
  return limit;
}

std::optional<FixedReason> never_scheduled(const Model& model, OpId op) {
  const Operation& operation = model.operation(op);
  if (operation.control_flow) return FixedReason::control_flow;
  if (operation.custom) return FixedReason::custom;
  if (op.subgraph != 0) return FixedReason::subgraph;
  const bool forced =
      std::find(k_forced_keys.begin(), k_forced_keys.end(), operation.key) != k_forced_keys.end();
  if (operation.type.empty() || forced) return FixedReason::no_candidate;
  return std::nullopt;
}

// Why the backend itself could not run an operation that may be scheduled.
std::optional<std::string> capability_limit(const Model& model, OpId op, std::string_view backend,
                                            const OpList& list, const Discovered& discovered) {
  if (const auto found = discovered.find(backend); found != discovered.end()) {
    if (found->second.contains(op)) return std::nullopt;
    return std::string(backend) + " did not run it when asked";
  }
  const auto ops = std::find_if(list.begin(), list.end(),
                                [&](const BackendOps& line) { return line.backend == backend; });
  if (ops == list.end()) return "it is not known what " + std::string(backend) + " can run";
  const Operation& operation = model.operation(op);
  if (auto limit = list_limit(model, operation, *ops)) return limit;
  return backend_limit(model, operation, backend);
}

std::string never_text(const Operation& operation, FixedReason reason) {
  switch (reason) {
    case FixedReason::control_flow:
      return operation.schema_name + " is control flow";
    case FixedReason::custom:
      return "it is the custom operation '" + operation.custom_code + "'";
    case FixedReason::subgraph:
      return "only operations of subgraph 0 can be given to a backend";
    case FixedReason::no_candidate:
    case FixedReason::pin:
      break;
  }
  if (operation.type.empty()) return "no runtime is known to run " + operation.schema_name;
  return "the runtime gives " + operation.type + " operations to a backend of its own";
}

}  // namespace

OpList default_op_list() {
  const std::vector<DataType> floats = {DataType::float32};
  return {
      {"ruy", {{"Conv2D", floats}, {"FullyConnected", floats}}},
      {"xnnpack", {{"Conv2D", floats}, {"DepthwiseConv2D", floats}, {"FullyConnected", floats}}}};
}

std::string_view to_string(FixedReason reason) {
  switch (reason) {
    case FixedReason::control_flow:
      return "control_flow";
    case FixedReason::custom:
      return "custom";
    case FixedReason::no_candidate:
      return "no_candidate";
    case FixedReason::pin:
      return "pin";
    case FixedReason::subgraph:
      return "subgraph";
  }
  return "no_candidate";
}

std::optional<std::string> why_not(const Model& model, OpId op, std::string_view backend,
                                   const OpList& list, const Discovered& discovered) {
  if (const auto reason = never_scheduled(model, op)) {
    return never_text(model.operation(op), *reason);
  }
  if (backend == k_cpu) return std::nullopt;
  if (auto limit = capability_limit(model, op, backend, list, discovered)) return limit;
  return why_not_mappable(model, op);
}

Candidates candidates(const Model& model, OpId op, const OpList& list,
                      std::span<const std::string> backends, const Discovered& discovered) {
  Candidates found;
  found.fixed = never_scheduled(model, op);
  if (found.fixed) return found;
  found.backends.emplace_back(k_cpu);
  for (const std::string& backend : backends) {
    const auto& known = found.backends;
    if (std::find(known.begin(), known.end(), backend) != known.end()) continue;
    if (!why_not(model, op, backend, list, discovered)) found.backends.push_back(backend);
  }
  if (found.backends.size() < 2) found.fixed = FixedReason::no_candidate;
  return found;
}

std::vector<LeftOut> unmappable(const Model& model, const OpList& list,
                                std::span<const std::string> backends,
                                const Discovered& discovered) {
  std::vector<LeftOut> left_out;
  for (const Operation& operation : model.subgraphs.front().operations) {
    if (never_scheduled(model, operation.id)) continue;
    const auto reason = why_not_mappable(model, operation.id);
    if (!reason) continue;
    const auto able = std::find_if(backends.begin(), backends.end(), [&](const std::string& name) {
      return name != k_cpu && !capability_limit(model, operation.id, name, list, discovered);
    });
    if (able != backends.end()) left_out.push_back({operation.id, *able, *reason});
  }
  return left_out;
}

}  // namespace stab
