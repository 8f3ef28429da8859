// SPDX-License-Identifier: Apache-2.0
#include "stab/core/rows.h"

#include <algorithm>
#include <map>

namespace stab {
namespace {

/// Which operation of a subgraph writes each tensor.
std::map<int, OpId> producers(const Subgraph& graph) {
  std::map<int, OpId> by_tensor;
  for (const Operation& op : graph.operations) {
    for (const int tensor : op.outputs) {
      if (tensor >= 0) by_tensor[tensor] = op.id;
    }
  }
  return by_tensor;
}

std::vector<TensorId> tensor_ids(int subgraph, const std::vector<int>& tensors) {
  std::vector<TensorId> ids;
  for (const int tensor : tensors) {
    if (tensor >= 0) ids.push_back({subgraph, tensor});
  }
  return ids;
}

OpRow describe(const Operation& op, const Subgraph& graph, const std::map<int, OpId>& by_tensor) {
  OpRow row;
  row.op = op.id;
  row.type = op.type.empty() ? (op.custom ? op.custom_code : op.schema_name) : op.type;
  if (!op.key.empty()) row.key = op.key;
  for (const int tensor : op.outputs) {
    if (tensor < 0) continue;
    row.name = graph.tensors.at(static_cast<std::size_t>(tensor)).name;
    break;
  }
  row.in = tensor_ids(op.id.subgraph, op.inputs);
  row.out = tensor_ids(op.id.subgraph, op.outputs);
  for (const int tensor : op.inputs) {
    const auto found = by_tensor.find(tensor);
    if (found != by_tensor.end()) row.after.push_back(found->second);
  }
  std::sort(row.after.begin(), row.after.end());
  row.after.erase(std::unique(row.after.begin(), row.after.end()), row.after.end());
  return row;
}

std::vector<bool> used_tensors(const Subgraph& graph) {
  std::vector<bool> used(graph.tensors.size(), false);
  const auto mark = [&](const std::vector<int>& tensors) {
    for (const int tensor : tensors) {
      if (tensor >= 0) used.at(static_cast<std::size_t>(tensor)) = true;
    }
  };
  mark(graph.inputs);
  mark(graph.outputs);
  for (const Operation& op : graph.operations) {
    mark(op.inputs);
    mark(op.outputs);
  }
  return used;
}

}  // namespace

std::vector<OpRow> describe_operations(const Model& model) {
  std::vector<OpRow> rows;
  for (const Subgraph& graph : model.subgraphs) {
    const auto by_tensor = producers(graph);
    for (const Operation& op : graph.operations) rows.push_back(describe(op, graph, by_tensor));
  }
  return rows;
}

std::vector<TensorRow> describe_tensors(const Model& model) {
  std::vector<TensorRow> rows;
  for (const Subgraph& graph : model.subgraphs) {
    const auto used = used_tensors(graph);
    for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
      if (!used[i]) continue;
      const Tensor& tensor = graph.tensors[i];
      rows.push_back({tensor.id, std::string(to_string(tensor.type)), tensor.shape, tensor.bytes,
                      tensor.constant, tensor.input, tensor.output});
    }
  }
  return rows;
}

}  // namespace stab
