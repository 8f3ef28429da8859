// SPDX-License-Identifier: Apache-2.0
#include "stab/core/inputs.h"

#include <charconv>
#include <cstring>
#include <limits>

#include "stab/core/error.h"

namespace stab {
namespace {

class SplitMix {
 public:
  explicit SplitMix(std::uint64_t state) : state_(state) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// [-1, 1) in steps of 2^-23: exact in a float.
  float next_float() {
    return static_cast<float>(static_cast<double>(next() >> 40) / 8388608.0 - 1.0);
  }

 private:
  std::uint64_t state_;
};

/// IEEE half precision of a value in [-1, 1): truncated, which is deterministic and close enough
/// for an input.
std::uint16_t half_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const int exponent = static_cast<int>((bits >> 23) & 0xffU) - 127 + 15;
  if (exponent <= 0) return sign;
  return static_cast<std::uint16_t>(sign | (exponent << 10) | ((bits >> 13) & 0x3ffU));
}

void append_little_endian(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xffU);
}

void append_value(std::string& out, DataType type, std::size_t size, SplitMix& random) {
  switch (type) {
    case DataType::float32: {
      const float value = random.next_float();
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      append_little_endian(out, bits, size);
      return;
    }
    case DataType::float64: {
      const double value = random.next_float();
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      append_little_endian(out, bits, size);
      return;
    }
    case DataType::float16:
      append_little_endian(out, half_of(random.next_float()), size);
      return;
    case DataType::int8:
    case DataType::uint8:
    case DataType::int16:
    case DataType::uint16:
      append_little_endian(out, random.next() >> 32, size);
      return;
    default:
      append_little_endian(out, random.next() >> 63, size);
      return;
  }
}

const Subgraph& entry(const Model& model) {
  return model.subgraphs.at(0);
}

const Tensor& input_tensor(const Model& model, int input) {
  const Subgraph& graph = entry(model);
  return graph.tensors.at(
      static_cast<std::size_t>(graph.inputs.at(static_cast<std::size_t>(input))));
}

int find_input(const Model& model, std::string_view name) {
  const Subgraph& graph = entry(model);
  int position = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), position);
  const bool number = error == std::errc() && end == name.data() + name.size();
  if (number && position >= 0 && position < static_cast<int>(graph.inputs.size())) return position;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    if (input_tensor(model, static_cast<int>(i)).name == name) return static_cast<int>(i);
  }
  throw Error(
      ErrorKind::input, "cannot set the shape of input", std::string(name),
      "the model has " + std::to_string(graph.inputs.size()) + " inputs and none of that name");
}

std::vector<int> parse_dims(std::string_view text, const std::string& spec) {
  std::vector<int> dims;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    int value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || value < 1) {
      throw Error(ErrorKind::usage, "cannot use option", "--shape",
                  "'" + spec + "' has a dimension that is no number of 1 or more",
                  "--shape '0:1,224,224,3'");
    }
    dims.push_back(value);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return dims;
}

}  // namespace

std::string make_input(const Tensor& tensor, std::uint64_t elements, int input, int seed) {
  const auto size = element_size(tensor.type);
  if (!size) {
    throw Error(ErrorKind::input, "cannot make values for input", tensor.name,
                "its type " + std::string(to_string(tensor.type)) + " has no fixed size",
                "--input FILE");
  }
  if (elements > std::numeric_limits<std::uint64_t>::max() / *size ||
      elements * *size > (std::uint64_t{1} << 31)) {
    throw Error(ErrorKind::input, "cannot make values for input", tensor.name,
                "it is larger than 2 GiB", "--shape");
  }
  SplitMix random((static_cast<std::uint64_t>(static_cast<std::uint32_t>(seed)) << 32) |
                  static_cast<std::uint32_t>(input));
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(elements * *size));
  for (std::uint64_t i = 0; i < elements; ++i) append_value(bytes, tensor.type, *size, random);
  return bytes;
}

InputShapes resolve_shapes(const Model& model, const std::string& spec) {
  InputShapes shapes;
  const Subgraph& graph = entry(model);
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const Tensor& tensor = input_tensor(model, static_cast<int>(i));
    if (!tensor.dynamic()) continue;
    std::vector<int> dims(tensor.shape.begin(), tensor.shape.end());
    const auto& wanted = tensor.shape_signature.empty() ? tensor.shape : tensor.shape_signature;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (wanted[d] < 0 || dims[d] < 1) dims[d] = 1;
    }
    shapes[static_cast<int>(i)] = dims;
  }
  std::string_view rest = spec;
  while (!rest.empty()) {
    const std::size_t semicolon = rest.find(';');
    const std::string_view item = rest.substr(0, semicolon);
    rest = semicolon == std::string_view::npos ? std::string_view() : rest.substr(semicolon + 1);
    const std::size_t colon = item.rfind(':');
    if (colon == std::string_view::npos || colon == 0) {
      throw Error(ErrorKind::usage, "cannot use option", "--shape",
                  "'" + spec + "' is not INPUT:DIM,DIM,…", "--shape '0:1,224,224,3'");
    }
    const int input = find_input(model, item.substr(0, colon));
    const std::vector<int> dims = parse_dims(item.substr(colon + 1), spec);
    const std::size_t rank = input_tensor(model, input).shape.size();
    if (rank != 0 && dims.size() != rank) {
      throw Error(ErrorKind::input, "cannot set the shape of input",
                  std::string(item.substr(0, colon)),
                  "the model's input has " + std::to_string(rank) + " dimensions, --shape gives " +
                      std::to_string(dims.size()));
    }
    shapes[input] = dims;
  }
  return shapes;
}

std::uint64_t element_count(const Model& model, int input, const InputShapes& shapes) {
  std::uint64_t count = 1;
  const auto given = shapes.find(input);
  const auto multiply = [&](std::int64_t dim) {
    const auto factor = static_cast<std::uint64_t>(dim < 0 ? 1 : dim);
    if (factor != 0 && count > std::numeric_limits<std::uint64_t>::max() / factor) {
      throw Error(ErrorKind::input, "cannot size input", std::to_string(input),
                  "its shape has more elements than fit in memory");
    }
    count *= factor;
  };
  if (given != shapes.end()) {
    for (const int dim : given->second) multiply(dim);
  } else {
    for (const std::int32_t dim : input_tensor(model, input).shape) multiply(dim);
  }
  return count;
}

std::string shape_argument(const InputShapes& shapes) {
  if (shapes.empty()) return {};
  std::string text = "[";
  for (const auto& [input, dims] : shapes) {
    if (text.size() > 1) text += ",";
    text += std::to_string(input) + ",[";
    for (std::size_t i = 0; i < dims.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
    text += "]";
  }
  return text + "]";
}

}  // namespace stab
