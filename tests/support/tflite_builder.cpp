// SPDX-License-Identifier: Apache-2.0
#include "support/tflite_builder.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>

namespace stab::test {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::Vector;
using flatbuffers::voffset_t;
using Table = Offset<flatbuffers::Table>;

/// Where the n-th field of a table has its entry.
constexpr voffset_t slot(int field) {
  return static_cast<voffset_t>(4 + 2 * field);
}

/// Tables are written by slot numbers (schema.fbs of TensorFlow Lite, version 3), so no generated
/// code is needed.
class Builder {
 public:
  std::string build(const std::vector<TfliteGraph>& graphs) {
    buffers_.push_back(buffer({}));
    std::vector<Table> subgraphs;
    for (const TfliteGraph& graph : graphs) subgraphs.push_back(subgraph(graph));
    std::vector<Table> codes;
    for (const int code : codes_) codes.push_back(operator_code(code));
    const auto codes_vector = fbb_.CreateVector(codes);
    const auto graphs_vector = fbb_.CreateVector(subgraphs);
    const auto description = fbb_.CreateString("built by a test");
    const auto buffers_vector = fbb_.CreateVector(buffers_);
    const auto start = fbb_.StartTable();
    fbb_.AddElement<std::uint32_t>(slot(0), 3, 0);
    fbb_.AddOffset(slot(1), codes_vector);
    fbb_.AddOffset(slot(2), graphs_vector);
    fbb_.AddOffset(slot(3), description);
    fbb_.AddOffset(slot(4), buffers_vector);
    fbb_.Finish(end(start), "TFL3");
    return {reinterpret_cast<const char*>(fbb_.GetBufferPointer()), fbb_.GetSize()};
  }

 private:
  Table end(flatbuffers::uoffset_t start) { return Table(fbb_.EndTable(start)); }

  Table buffer(const std::vector<std::uint8_t>& data) {
    fbb_.ForceVectorAlignment(data.size(), 1, 16);
    const auto vector = fbb_.CreateVector(data);
    const auto start = fbb_.StartTable();
    if (!data.empty()) fbb_.AddOffset(slot(0), vector);
    return end(start);
  }

  Table operator_code(int code) {
    const auto start = fbb_.StartTable();
    fbb_.AddElement<std::int8_t>(slot(0), static_cast<std::int8_t>(std::min(code, 127)), 0);
    fbb_.AddElement<std::int32_t>(slot(2), 1, 0);
    fbb_.AddElement<std::int32_t>(slot(3), code, 0);
    return end(start);
  }

  Table quantization(float scale) {
    const auto scales = fbb_.CreateVector(std::vector<float>{scale});
    const auto zero_points = fbb_.CreateVector(std::vector<std::int64_t>{0});
    const auto start = fbb_.StartTable();
    fbb_.AddOffset(slot(2), scales);
    fbb_.AddOffset(slot(3), zero_points);
    return end(start);
  }

  Table tensor(const TfliteTensor& tensor) {
    std::uint32_t buffer_index = 0;
    if (!tensor.data.empty()) {
      buffer_index = static_cast<std::uint32_t>(buffers_.size());
      buffers_.push_back(buffer(tensor.data));
    }
    const auto shape = fbb_.CreateVector(tensor.shape);
    const auto name = fbb_.CreateString(tensor.name);
    const auto signature = fbb_.CreateVector(tensor.signature);
    const Table scale = tensor.scale ? quantization(*tensor.scale) : Table();
    const auto start = fbb_.StartTable();
    fbb_.AddOffset(slot(0), shape);
    fbb_.AddElement<std::int8_t>(slot(1), static_cast<std::int8_t>(tensor.type), 0);
    fbb_.AddElement<std::uint32_t>(slot(2), buffer_index, 0);
    fbb_.AddOffset(slot(3), name);
    if (tensor.scale) fbb_.AddOffset(slot(4), scale);
    if (!tensor.signature.empty()) fbb_.AddOffset(slot(7), signature);
    return end(start);
  }

  std::uint32_t code_index(int code) {
    const auto found = std::find(codes_.begin(), codes_.end(), code);
    if (found != codes_.end()) return static_cast<std::uint32_t>(found - codes_.begin());
    codes_.push_back(code);
    return static_cast<std::uint32_t>(codes_.size() - 1);
  }

  Table operation(const TfliteOperator& operation) {
    const auto inputs = fbb_.CreateVector(operation.inputs);
    const auto outputs = fbb_.CreateVector(operation.outputs);
    const auto options_start = fbb_.StartTable();
    const Table options = end(options_start);
    const auto start = fbb_.StartTable();
    fbb_.AddElement<std::uint32_t>(slot(0), code_index(operation.code), 0);
    fbb_.AddOffset(slot(1), inputs);
    fbb_.AddOffset(slot(2), outputs);
    fbb_.AddElement<std::uint8_t>(slot(3), operation.options_type, 0);
    if (operation.options_type != 0) fbb_.AddOffset(slot(4), options);
    return end(start);
  }

  Table subgraph(const TfliteGraph& graph) {
    std::vector<Table> tensors;
    for (const TfliteTensor& one : graph.tensors) tensors.push_back(tensor(one));
    std::vector<Table> operators;
    for (const TfliteOperator& one : graph.operators) operators.push_back(operation(one));
    const auto tensors_vector = fbb_.CreateVector(tensors);
    const auto inputs = fbb_.CreateVector(graph.inputs);
    const auto outputs = fbb_.CreateVector(graph.outputs);
    const auto operators_vector = fbb_.CreateVector(operators);
    const auto name = fbb_.CreateString("main");
    const auto start = fbb_.StartTable();
    fbb_.AddOffset(slot(0), tensors_vector);
    fbb_.AddOffset(slot(1), inputs);
    fbb_.AddOffset(slot(2), outputs);
    fbb_.AddOffset(slot(3), operators_vector);
    fbb_.AddOffset(slot(4), name);
    return end(start);
  }

  FlatBufferBuilder fbb_;
  std::vector<int> codes_;
  std::vector<Table> buffers_;
};

}  // namespace

std::string build_tflite(const std::vector<TfliteGraph>& graphs) {
  return Builder().build(graphs);
}

}  // namespace stab::test
