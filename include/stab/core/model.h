// SPDX-License-Identifier: Apache-2.0
// A neural network as stab sees it: subgraphs, operations, tensors and their edges. `parse_model`
// alone knows FlatBuffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/ids.h"

namespace stab {

enum class ModelFormat { tflite, circle };

std::string_view to_string(ModelFormat format);

/// Element types of tensors. `unknown` carries types that this table does not know.
enum class DataType {
  float32,
  float16,
  float64,
  int4,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,
  string,
  complex64,
  complex128,
  resource,
  variant,
  unknown
};

/// Short name as the documents write it: "f32", "i8", "bool", "unknown".
std::string_view to_string(DataType type);

/// Bytes of one element; absent where an element has no fixed size (string, resource, unknown,
/// packed int4).
std::optional<std::size_t> element_size(DataType type);

struct Tensor {
  TensorId id;
  std::string name;  ///< valid UTF-8 without control characters, as all texts of a Model
  DataType type = DataType::unknown;
  std::vector<std::int32_t>
      shape;  ///< as stored; a dynamic dimension is stored as 1 (see signature)
  std::vector<std::int32_t>
      shape_signature;  ///< empty, or as long as shape, with -1 for dynamic dimensions
  bool quantised = false;
  bool constant = false;  ///< its value is stored in the model
  bool input = false;     ///< of its subgraph
  bool output = false;    ///< of its subgraph
  std::optional<std::uint64_t>
      bytes;  ///< elements x element size with stored shape; absent where unknown or overflowing

  bool dynamic() const;
};

struct Operation {
  OpId id;
  int builtin_code = 0;  ///< of the model's format; -1 where the file has none
  std::string
      schema_name;  ///< "CONV_2D", "CUSTOM", or "BUILTIN_412" for a code that no table knows
  std::string custom_code;  ///< of custom operations, else empty
  std::string
      type;  ///< the runtime's trace name ("Conv2D", "Add"); empty where unknown: never guessed
  std::string key;  ///< the runtime's op code as in OP_BACKEND_<key> ("BinaryArithmetic"); empty
                    ///< where unknown
  std::vector<int>
      inputs;  ///< tensor indices of the same subgraph; -1 for an optional input left out
  std::vector<int> outputs;
  bool custom = false;
  bool control_flow = false;  ///< If, While, Call and the like: never scheduled
};

struct Subgraph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Operation> operations;
  std::vector<int> inputs;  ///< tensor indices, in the order the runtime numbers them
  std::vector<int> outputs;
};

struct Model {
  ModelFormat format = ModelFormat::tflite;
  std::vector<Subgraph> subgraphs;  ///< at least one; number 0 is the entry

  const Operation& operation(OpId id) const {
    return subgraphs.at(id.subgraph).operations.at(id.index);
  }
};

/// Reads a model. `name` stands in messages. Throws Error(input) that names the file and the place
/// for anything the FlatBuffers verifier or our own range checks refuse: never reads outside
/// `bytes`, and its memory is bounded by a small multiple of their size.
Model parse_model(std::span<const std::byte> bytes, ModelFormat format, std::string_view name);

/// The format by file identifier ("TFL3", "CIR0"), else by the file name's extension; absent when
/// neither tells.
std::optional<ModelFormat> detect_format(std::span<const std::byte> bytes,
                                         std::string_view file_name);

}  // namespace stab
