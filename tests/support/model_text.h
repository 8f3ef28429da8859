// SPDX-License-Identifier: Apache-2.0
// The text form of test models (model_builder.h), read into plain values.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/model.h"

namespace stab::test {

struct TextQuantisation {
  float scale = 0;
  std::int64_t zero_point = 0;
};

struct TextType {
  DataType type = DataType::float32;
  std::vector<std::int32_t> dims;  ///< -1 where dynamic
  std::optional<TextQuantisation> quantisation;
};

struct TextTensor {
  std::string name;
  TextType type;
  bool constant = false;
  bool variable = false;
  std::vector<double> values;  ///< of a constant; empty: a pattern
};

struct TextOperation {
  std::string op;           ///< as written
  std::vector<int> inputs;  ///< -1 where left out
  std::vector<int> outputs;
  std::map<std::string, std::string> attributes;
  int line = 0;
};

struct TextGraph {
  std::string name;
  std::vector<TextTensor> tensors;
  std::vector<TextOperation> operations;
  std::vector<int> inputs;
  std::vector<int> outputs;
};

/// Reads the text form. Throws std::runtime_error naming the line.
std::vector<TextGraph> read_model_text(std::string_view text);

}  // namespace stab::test
