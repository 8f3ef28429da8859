// SPDX-License-Identifier: Apache-2.0
#include "support/graph_builder.h"

#include <algorithm>
#include <random>
#include <utility>

namespace stab::test {
namespace {

using Shape = std::vector<std::int32_t>;

std::uint64_t elements(const Shape& shape) {
  std::uint64_t count = 1;
  for (const std::int32_t dimension : shape) count *= static_cast<std::uint64_t>(dimension);
  return count;
}

bool can_run(const std::string& backend, const Operation& operation) {
  if (backend == "cpu") return true;
  const bool dense = operation.type == "Conv2D" || operation.type == "FullyConnected";
  if (backend == "ruy") return dense;
  if (backend == "xnnpack") return dense || operation.type == "DepthwiseConv2D";
  return operation.type != "ResizeBilinear";
}

/// Microseconds on cpu: arithmetic of the heavy types, else memory traffic.
double cpu_us(const Subgraph& graph, const Operation& operation) {
  const Tensor& output = graph.tensors[operation.outputs.front()];
  const auto size = static_cast<double>(elements(output.shape));
  if (operation.inputs.empty()) return 1 + size / 1000;
  const Tensor& input = graph.tensors[operation.inputs.front()];
  const auto depth = static_cast<double>(input.shape.back());
  if (operation.type == "Conv2D") return 5 + size * depth * 4 / 2000;
  if (operation.type == "FullyConnected" || operation.type == "BatchMatMul")
    return 5 + size * depth / 2000;
  if (operation.type == "DepthwiseConv2D") return 5 + size * 9 / 500;
  return 1 + size / 1000;
}

}  // namespace

OpTiming time_of(OpId op, const std::string& backend, double us) {
  OpTiming timing;
  timing.op = op;
  timing.backend = backend;
  timing.us.median = us;
  return timing;
}

OpTimes made_up_times(const Model& model, std::span<const std::string> backends, unsigned seed) {
  std::mt19937_64 random(seed);
  const auto between = [&random](double low, double high) {
    return low + (high - low) * static_cast<double>(random() % 10'000) / 10'000;
  };
  OpTimes times;
  const Subgraph& graph = model.subgraphs.front();
  for (const Operation& operation : graph.operations) {
    const double cpu = cpu_us(graph, operation);
    for (const std::string& backend : backends) {
      const double spread = between(0.7, 1.4);
      if (!can_run(backend, operation)) continue;
      const bool heavy = cpu > 200;
      const double factor = backend == "cpu" ? 1 : heavy ? between(0.25, 1.1) : between(0.8, 2.5);
      times[operation.id].emplace(backend, time_of(operation.id, backend, cpu * factor * spread));
    }
  }
  return times;
}

GraphBuilder::GraphBuilder() {
  model_.subgraphs.emplace_back();
}

TensorIndex GraphBuilder::add_tensor(Shape shape) {
  std::vector<Tensor>& tensors = model_.subgraphs.front().tensors;
  Tensor& tensor = tensors.emplace_back();
  tensor.id = {0, static_cast<int>(tensors.size()) - 1};
  tensor.name = "t" + std::to_string(tensor.id.index);
  tensor.type = DataType::float32;
  tensor.bytes = elements(shape) * 4;
  tensor.shape = std::move(shape);
  return tensor.id.index;
}

TensorIndex GraphBuilder::input(Shape shape) {
  const TensorIndex tensor = add_tensor(std::move(shape));
  model_.subgraphs.front().tensors[tensor].input = true;
  model_.subgraphs.front().inputs.push_back(tensor);
  return tensor;
}

TensorIndex GraphBuilder::op(const std::string& type, const std::vector<TensorIndex>& inputs,
                             Shape shape) {
  const TensorIndex output = add_tensor(std::move(shape));
  std::vector<Operation>& operations = model_.subgraphs.front().operations;
  Operation& operation = operations.emplace_back();
  operation.id = {0, static_cast<int>(operations.size()) - 1};
  operation.type = operation.key = operation.schema_name = type;
  operation.inputs = inputs;
  operation.outputs = {output};
  return output;
}

void GraphBuilder::output(TensorIndex tensor) {
  model_.subgraphs.front().tensors[tensor].output = true;
  model_.subgraphs.front().outputs.push_back(tensor);
}

Model GraphBuilder::take() {
  return std::move(model_);
}

const Shape& GraphBuilder::shape(TensorIndex tensor) const {
  return model_.subgraphs.front().tensors[tensor].shape;
}

TensorIndex GraphBuilder::conv(TensorIndex input, int channels, int stride) {
  const Shape& in = shape(input);
  return op("Conv2D", {input},
            {1, (in[1] + stride - 1) / stride, (in[2] + stride - 1) / stride, channels});
}

TensorIndex GraphBuilder::depthwise(TensorIndex input, int stride) {
  const Shape& in = shape(input);
  return op("DepthwiseConv2D", {input},
            {1, (in[1] + stride - 1) / stride, (in[2] + stride - 1) / stride, in[3]});
}

TensorIndex GraphBuilder::same(const std::string& type, const std::vector<TensorIndex>& inputs) {
  return op(type, inputs, shape(inputs.front()));
}

TensorIndex GraphBuilder::concat(const std::vector<TensorIndex>& inputs) {
  Shape out = shape(inputs.front());
  out.back() = 0;
  for (const TensorIndex input : inputs) out.back() += shape(input).back();
  return op("Concat", inputs, std::move(out));
}

TensorIndex GraphBuilder::pool(TensorIndex input, int stride) {
  const Shape& in = shape(input);
  return op("MaxPool2D", {input},
            {1, (in[1] + stride - 1) / stride, (in[2] + stride - 1) / stride, in[3]});
}

TensorIndex GraphBuilder::enlarge(TensorIndex input) {
  const Shape& in = shape(input);
  return op("ResizeBilinear", {input}, {1, in[1] * 2, in[2] * 2, in[3]});
}

TensorIndex GraphBuilder::dense(TensorIndex input, int units) {
  Shape out = shape(input);
  out.back() = units;
  return op("FullyConnected", {input}, std::move(out));
}

}  // namespace stab::test
