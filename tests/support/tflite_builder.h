// SPDX-License-Identifier: Apache-2.0
// Builds small .tflite models in memory, so that tests need no model file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stab::test {

/// Element types by their numbers in the tflite format.
enum class TfliteType : std::int8_t {
  float32 = 0,
  float16 = 1,
  int32 = 2,
  uint8 = 3,
  int64 = 4,
  boolean = 6,
  int16 = 7,
  int8 = 9
};

struct TfliteTensor {
  std::string name;
  TfliteType type = TfliteType::float32;
  std::vector<std::int32_t> shape;
  std::vector<std::int32_t> signature = {};   ///< with -1 for open dimensions; empty: none
  std::vector<std::uint8_t> data = {};        ///< a constant's value; empty: not a constant
  std::optional<float> scale = std::nullopt;  ///< quantised, with zero point 0
};

struct TfliteOperator {
  int code = 0;                       ///< BuiltinOperator: 0 ADD, 19 RELU, 53 CAST, 94 FILL, ...
  std::vector<std::int32_t> inputs;   ///< tensor indices
  std::vector<std::int32_t> outputs;  ///< tensor indices
  std::uint8_t options_type = 0;      ///< BuiltinOptions: written as an empty table unless 0
};

/// One subgraph of operators in execution order.
struct TfliteGraph {
  std::vector<TfliteTensor> tensors;
  std::vector<TfliteOperator> operators;
  std::vector<std::int32_t> inputs;   ///< tensor indices
  std::vector<std::int32_t> outputs;  ///< tensor indices
};

/// The bytes of a model of these subgraphs, the first being the main one.
std::string build_tflite(const std::vector<TfliteGraph>& graphs);

}  // namespace stab::test
