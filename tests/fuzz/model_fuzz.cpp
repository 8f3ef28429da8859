// SPDX-License-Identifier: Apache-2.0
// Models of any bytes: parse_model either refuses them or gives a model whose every index can be
// followed. The first byte chooses the format.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "stab/core/error.h"
#include "stab/core/model.h"
#include "stab/core/op_list.h"

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

void follow(const stab::Model& model) {
  const std::vector<std::string> backends = {"ruy", "xnnpack"};
  const stab::OpList list = stab::default_op_list();
  expect(!model.subgraphs.empty());
  for (const stab::Subgraph& subgraph : model.subgraphs) {
    const auto inside = [&](int index) {
      return index >= 0 && static_cast<std::size_t>(index) < subgraph.tensors.size();
    };
    for (const int index : subgraph.inputs) expect(inside(index));
    for (const int index : subgraph.outputs) expect(inside(index));
    for (const stab::Tensor& tensor : subgraph.tensors) {
      expect(tensor.shape_signature.empty() ||
             tensor.shape_signature.size() == tensor.shape.size());
      for (const std::int32_t dimension : tensor.shape) expect(dimension >= 0);
    }
    for (const stab::Operation& operation : subgraph.operations) {
      for (const int index : operation.inputs) expect(index == -1 || inside(index));
      for (const int index : operation.outputs) expect(inside(index));
      expect(!operation.schema_name.empty());
      expect(&model.operation(operation.id) == &operation);
      const auto found = stab::candidates(model, operation.id, list, backends);
      expect(found.fixed.has_value() == (found.backends.size() < 2));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto format = data[0] % 2 == 0 ? stab::ModelFormat::tflite : stab::ModelFormat::circle;
  try {
    follow(stab::parse_model(std::as_bytes(std::span(data + 1, size - 1)), format, "input"));
  } catch (const stab::Error& error) {
    expect(error.kind() == stab::ErrorKind::input);
  }
  return 0;
}
