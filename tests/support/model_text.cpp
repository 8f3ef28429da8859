// SPDX-License-Identifier: Apache-2.0
#include "support/model_text.h"

#include <array>
#include <cstdlib>
#include <stdexcept>

namespace stab::test {
namespace {

std::string trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

// Splits at `separator` outside of brackets; each part trimmed, empty parts left out.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c == separator && depth == 0) {
      if (!trim(part).empty()) parts.push_back(trim(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trim(part).empty()) parts.push_back(trim(part));
  return parts;
}

class Reader {
 public:
  void read_line(std::string_view raw) {
    ++line_;
    const std::string text = trim(raw.substr(0, raw.find('#')));
    if (text.empty()) return;
    const std::string word = text.substr(0, text.find(' '));
    const std::string rest = trim(std::string_view(text).substr(word.size()));
    if (word == "graph") {
      graphs_.push_back({});
      graphs_.back().name = rest;
    } else if (word == "input") {
      graph().inputs.push_back(declare(rest));
    } else if (word == "const") {
      read_constant(rest);
    } else if (word == "variable") {
      graph().tensors[static_cast<std::size_t>(declare(rest))].variable = true;
    } else if (word == "output") {
      for (const std::string& name : split(rest, ' ')) graph().outputs.push_back(find(name));
    } else {
      read_operation(text);
    }
  }

  std::vector<TextGraph> take() { return std::move(graphs_); }

 private:
  TextGraph& graph() {
    if (graphs_.empty()) {
      graphs_.push_back({});
      graphs_.back().name = "main";
    }
    return graphs_.back();
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error("model text, line " + std::to_string(line_) + ": " + why);
  }

  TextType read_type(const std::string& text) const {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']');
    if (open == std::string::npos || close == std::string::npos) fail("no type: " + text);
    TextType type;
    type.type = read_data_type(text.substr(0, open));
    for (const std::string& dim : split(text.substr(open + 1, close - open - 1), ',')) {
      type.dims.push_back(dim == "?" ? -1 : std::atoi(dim.c_str()));
    }
    const std::string rest = text.substr(close + 1);
    if (rest.empty()) return type;
    const std::size_t colon = rest.find(':');
    if (rest[0] != '@' || colon == std::string::npos) fail("no quantisation: " + rest);
    type.quantisation = {std::strtof(rest.c_str() + 1, nullptr),
                         std::atoi(rest.c_str() + colon + 1)};
    return type;
  }

  DataType read_data_type(std::string_view name) const {
    constexpr std::array k_types = {DataType::float32, DataType::float16, DataType::float64,
                                    DataType::int8,    DataType::int16,   DataType::int32,
                                    DataType::int64,   DataType::uint8,   DataType::uint16,
                                    DataType::uint32,  DataType::uint64,  DataType::boolean};
    for (const DataType type : k_types) {
      if (to_string(type) == name) return type;
    }
    fail("no element type: " + std::string(name));
  }

  int find(const std::string& name) {
    if (name == "-") return -1;
    const auto& tensors = graph().tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].name == name) return static_cast<int>(i);
    }
    fail("no tensor is named " + name);
  }

  // "NAME TYPE", or "NAME" where `like` says the type.
  int declare(const std::string& text, const TextType* like = nullptr) {
    const std::vector<std::string> words = split(text, ' ');
    if (words.empty() || words.size() > 2) fail("no name and type: " + text);
    TextTensor tensor;
    tensor.name = words[0];
    if (words.size() == 2) {
      tensor.type = read_type(words[1]);
    } else if (like != nullptr) {
      tensor.type = *like;
    } else {
      fail("no type: " + text);
    }
    graph().tensors.push_back(std::move(tensor));
    return static_cast<int>(graph().tensors.size()) - 1;
  }

  void read_constant(const std::string& text) {
    const std::size_t equals = text.find(" = ");
    const int index = declare(trim(std::string_view(text).substr(0, equals)));
    TextTensor& tensor = graph().tensors[static_cast<std::size_t>(index)];
    tensor.constant = true;
    if (equals == std::string::npos) return;
    for (const std::string& value : split(text.substr(equals + 3), ' ')) {
      tensor.values.push_back(std::strtod(value.c_str(), nullptr));
    }
  }

  void read_operation(const std::string& text) {
    const std::size_t equals = text.find(" = ");
    const std::size_t open = text.find('(', equals == std::string::npos ? 0 : equals);
    const std::size_t close = text.rfind(')');
    if (equals == std::string::npos || open == std::string::npos || close == std::string::npos) {
      fail("no operation: " + text);
    }
    TextOperation operation;
    operation.line = line_;
    operation.op = trim(std::string_view(text).substr(equals + 3, open - equals - 3));
    for (const std::string& name : split(text.substr(open + 1, close - open - 1), ',')) {
      operation.inputs.push_back(find(name));
    }
    TextType like;
    if (!operation.inputs.empty() && operation.inputs[0] >= 0) {
      like = graph().tensors[static_cast<std::size_t>(operation.inputs[0])].type;
    }
    for (const std::string& output : split(text.substr(0, equals), ',')) {
      operation.outputs.push_back(declare(output, &like));
    }
    for (const std::string& attribute : split(text.substr(close + 1), ' ')) {
      const std::size_t sign = attribute.find('=');
      if (sign == std::string::npos) fail("no key=value: " + attribute);
      operation.attributes[attribute.substr(0, sign)] = attribute.substr(sign + 1);
    }
    graph().operations.push_back(std::move(operation));
  }

  std::vector<TextGraph> graphs_;
  int line_ = 0;
};

}  // namespace

std::vector<TextGraph> read_model_text(std::string_view text) {
  Reader reader;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take();
}

}  // namespace stab::test
