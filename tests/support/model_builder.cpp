// SPDX-License-Identifier: Apache-2.0
#include "support/model_builder.h"

#include <flatbuffers/flexbuffers.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "stab/core/op_names.h"
#include "support/model_text.h"
#include "test_model_generated.h"

namespace stab::test {
namespace {

constexpr int k_custom = 32;
constexpr int k_placeholder = 127;
constexpr std::size_t k_alignment = 16;

schema::TensorType schema_type(DataType type) {
  switch (type) {
    case DataType::float16:
      return schema::TensorType::FLOAT16;
    case DataType::float64:
      return schema::TensorType::FLOAT64;
    case DataType::int8:
      return schema::TensorType::INT8;
    case DataType::int16:
      return schema::TensorType::INT16;
    case DataType::int32:
      return schema::TensorType::INT32;
    case DataType::int64:
      return schema::TensorType::INT64;
    case DataType::uint8:
      return schema::TensorType::UINT8;
    case DataType::uint16:
      return schema::TensorType::UINT16;
    case DataType::uint32:
      return schema::TensorType::UINT32;
    case DataType::uint64:
      return schema::TensorType::UINT64;
    case DataType::boolean:
      return schema::TensorType::BOOL;
    default:
      return schema::TensorType::FLOAT32;
  }
}

// Values of constants: the same in every run and on every machine.
class Pattern {
 public:
  double next() {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<double>(state_ >> 8) / (1 << 24) - 0.5;
  }

 private:
  std::uint32_t state_ = 1;
};

template <class T>
void append(std::vector<std::uint8_t>& bytes, T value) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(&value);
  bytes.insert(bytes.end(), data, data + sizeof(T));
}

// IEEE 754 half precision, towards zero; enough for the small values of a pattern.
std::uint16_t half(double value) {
  float single = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, sizeof(bits));
  const auto exponent = static_cast<int>((bits >> 23) & 0xFF) - 127 + 15;
  const std::uint32_t sign = (bits >> 16) & 0x8000;
  if (exponent <= 0) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent) << 10 |
                                    ((bits >> 13) & 0x3FF));
}

void append_value(std::vector<std::uint8_t>& bytes, DataType type, double value) {
  switch (type) {
    case DataType::float16:
      return append(bytes, half(value));
    case DataType::float64:
      return append(bytes, value);
    case DataType::int8:
      return append(bytes, static_cast<std::int8_t>(value));
    case DataType::int16:
      return append(bytes, static_cast<std::int16_t>(value));
    case DataType::int32:
      return append(bytes, static_cast<std::int32_t>(value));
    case DataType::int64:
      return append(bytes, static_cast<std::int64_t>(value));
    case DataType::uint8:
      return append(bytes, static_cast<std::uint8_t>(value));
    case DataType::uint16:
      return append(bytes, static_cast<std::uint16_t>(value));
    case DataType::uint32:
      return append(bytes, static_cast<std::uint32_t>(value));
    case DataType::uint64:
      return append(bytes, static_cast<std::uint64_t>(value));
    case DataType::boolean:
      return append(bytes, static_cast<std::uint8_t>(value > 0));
    default:
      return append(bytes, static_cast<float>(value));
  }
}

// A pattern value in the range of the type: [-0.5, 0.5) for floats, 0 to 255 for uint8, else -64
// to 63.
double scaled(DataType type, double value) {
  switch (type) {
    case DataType::float16:
    case DataType::float32:
    case DataType::float64:
    case DataType::boolean:
      return value;
    case DataType::uint8:
    case DataType::uint16:
    case DataType::uint32:
    case DataType::uint64:
      return (value + 0.5) * 256;
    default:
      return value * 128;
  }
}

std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    numbers.push_back(std::atoi(text.substr(at, end - at).c_str()));
    at = end + 1;
  }
  return numbers;
}

/// An operation's KEY=VALUE words; refuses those that nothing asked for.
class Attributes {
 public:
  explicit Attributes(const TextOperation& operation) : operation_(operation) {}

  std::string text(const std::string& key, const std::string& otherwise) {
    asked_.insert(key);
    const auto found = operation_.attributes.find(key);
    return found == operation_.attributes.end() ? otherwise : found->second;
  }
  int number(const std::string& key, int otherwise) {
    return std::atoi(text(key, std::to_string(otherwise)).c_str());
  }
  float real(const std::string& key, const std::string& otherwise) {
    return std::strtof(text(key, otherwise).c_str(), nullptr);
  }
  /// Height and width; one number stands for both.
  std::pair<int, int> size(const std::string& key, const std::string& otherwise) {
    const std::vector<int> numbers = numbers_of(text(key, otherwise));
    return {numbers.front(), numbers.back()};
  }
  schema::Padding padding() {
    return text("padding", "SAME") == "VALID" ? schema::Padding::VALID : schema::Padding::SAME;
  }
  schema::Activation activation() {
    const std::string name = text("activation", "NONE");
    for (const auto value : schema::EnumValuesActivation()) {
      if (name == schema::EnumNameActivation(value)) return value;
    }
    fail("no activation " + name);
  }
  void expect_all_known() const {
    for (const auto& [key, value] : operation_.attributes) {
      if (!asked_.contains(key)) fail(operation_.op + " takes no " + key);
    }
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw std::runtime_error("model text, line " + std::to_string(operation_.line) + ": " + why);
  }

 private:
  const TextOperation& operation_;
  std::set<std::string> asked_;
};

template <class Options>
Options with_activation(Attributes& attributes) {
  Options options;
  options.fused_activation_function = attributes.activation();
  return options;
}

template <class Options>
Options window(Attributes& attributes) {
  auto options = with_activation<Options>(attributes);
  options.padding = attributes.padding();
  std::tie(options.stride_h, options.stride_w) = attributes.size("stride", "1");
  return options;
}

class Builder {
 public:
  Builder(std::vector<TextGraph> graphs, const BuildOptions& options)
      : graphs_(std::move(graphs)), options_(options) {}

  std::string build() {
    model_.version = options_.format == ModelFormat::tflite ? 3 : 0;
    model_.description = "test model";
    model_.buffers.push_back(std::make_unique<schema::BufferT>());
    for (const TextGraph& graph : graphs_) model_.subgraphs.push_back(make_graph(graph));
    return options_.external_constants ? with_values_behind() : pack();
  }

 private:
  std::unique_ptr<schema::SubGraphT> make_graph(const TextGraph& graph) {
    auto made = std::make_unique<schema::SubGraphT>();
    made->name = graph.name;
    made->inputs = graph.inputs;
    made->outputs = graph.outputs;
    for (const TextTensor& tensor : graph.tensors) made->tensors.push_back(make_tensor(tensor));
    for (const TextOperation& operation : graph.operations) {
      made->operators.push_back(make_operator(operation));
    }
    return made;
  }

  std::unique_ptr<schema::TensorT> make_tensor(const TextTensor& tensor) {
    auto made = std::make_unique<schema::TensorT>();
    made->name = tensor.name;
    made->type = schema_type(tensor.type.type);
    made->shape = tensor.type.dims;
    made->is_variable = tensor.variable;
    if (std::count(made->shape.begin(), made->shape.end(), -1) > 0) {
      made->shape_signature = made->shape;
      std::replace(made->shape.begin(), made->shape.end(), -1, 1);
    }
    if (tensor.type.quantisation) {
      made->quantization = std::make_unique<schema::QuantizationT>();
      made->quantization->scale = {tensor.type.quantisation->scale};
      made->quantization->zero_point = {tensor.type.quantisation->zero_point};
    }
    if (tensor.constant) {
      made->buffer = static_cast<std::uint32_t>(model_.buffers.size());
      model_.buffers.push_back(make_buffer(tensor));
    }
    return made;
  }

  std::unique_ptr<schema::BufferT> make_buffer(const TextTensor& tensor) {
    std::size_t count = 1;
    for (const std::int32_t dim : tensor.type.dims) count *= static_cast<std::size_t>(dim);
    auto buffer = std::make_unique<schema::BufferT>();
    for (std::size_t i = 0; i < count; ++i) {
      const double value = tensor.values.empty() ? scaled(tensor.type.type, pattern_.next())
                                                 : tensor.values[i % tensor.values.size()];
      append_value(buffer->data, tensor.type.type, value);
    }
    return buffer;
  }

  std::unique_ptr<schema::OperatorT> make_operator(const TextOperation& operation) {
    auto made = std::make_unique<schema::OperatorT>();
    made->inputs = operation.inputs;
    made->outputs = operation.outputs;
    std::string custom_code;
    const int code = code_of(operation, custom_code);
    made->opcode_index = opcode(code, custom_code);
    if (code == k_custom) {
      flexbuffers::Builder options;
      options.Map([] {});
      options.Finish();
      made->custom_options = options.GetBuffer();
    }
    set_options(operation, *made);
    return made;
  }

  int code_of(const TextOperation& operation, std::string& custom_code) const {
    if (operation.op.starts_with("CODE:")) return std::atoi(operation.op.c_str() + 5);
    if (operation.op.starts_with("CUSTOM:")) {
      custom_code = operation.op.substr(7);
      return k_custom;
    }
    for (int code = -8; code <= 209; ++code) {
      if (builtin_names(code, options_.format).schema == operation.op) return code;
    }
    Attributes(operation).fail("no operator " + operation.op);
  }

  std::uint32_t opcode(int code, const std::string& custom_code) {
    auto& codes = model_.operator_codes;
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes_[i] == code && codes[i]->custom_code == custom_code) {
        return static_cast<std::uint32_t>(i);
      }
    }
    auto made = std::make_unique<schema::OperatorCodeT>();
    made->deprecated_builtin_code = static_cast<std::int8_t>(std::min(code, k_placeholder));
    if (!options_.old_codes) made->builtin_code = code;
    made->custom_code = custom_code;
    codes.push_back(std::move(made));
    codes_.push_back(code);
    return static_cast<std::uint32_t>(codes.size() - 1);
  }

  int graph_index(const Attributes& attributes, const std::string& name) const {
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
      if (graphs_[i].name == name) return static_cast<int>(i);
    }
    attributes.fail("no graph " + name);
  }

  void set_options(const TextOperation& operation, schema::OperatorT& made) {
    Attributes attributes(operation);
    set_window_options(operation.op, attributes, made.builtin_options);
    set_plain_options(operation.op, attributes, made.builtin_options);
    if (operation.op == "IF") {
      schema::IfOptionsT options;
      options.then_subgraph_index = graph_index(attributes, attributes.text("then", ""));
      options.else_subgraph_index = graph_index(attributes, attributes.text("else", ""));
      made.builtin_options.Set(std::move(options));
    } else if (operation.op == "WHILE") {
      schema::WhileOptionsT options;
      options.cond_subgraph_index = graph_index(attributes, attributes.text("cond", ""));
      options.body_subgraph_index = graph_index(attributes, attributes.text("body", ""));
      made.builtin_options.Set(std::move(options));
    }
    attributes.expect_all_known();
  }

  static void set_window_options(const std::string& op, Attributes& attributes,
                                 schema::BuiltinOptionsUnion& made) {
    if (op == "CONV_2D") {
      auto options = window<schema::Conv2DOptionsT>(attributes);
      std::tie(options.dilation_h_factor, options.dilation_w_factor) =
          attributes.size("dilation", "1");
      made.Set(std::move(options));
    } else if (op == "DEPTHWISE_CONV_2D") {
      auto options = window<schema::DepthwiseConv2DOptionsT>(attributes);
      options.depth_multiplier = attributes.number("multiplier", 1);
      std::tie(options.dilation_h_factor, options.dilation_w_factor) =
          attributes.size("dilation", "1");
      made.Set(std::move(options));
    } else if (op == "MAX_POOL_2D" || op == "AVERAGE_POOL_2D" || op == "L2_POOL_2D") {
      auto options = window<schema::Pool2DOptionsT>(attributes);
      std::tie(options.filter_height, options.filter_width) = attributes.size("filter", "2");
      made.Set(std::move(options));
    }
  }

  static void set_plain_options(const std::string& op, Attributes& attributes,
                                schema::BuiltinOptionsUnion& made) {
    if (op == "FULLY_CONNECTED") {
      made.Set(with_activation<schema::FullyConnectedOptionsT>(attributes));
    } else if (op == "ADD") {
      made.Set(with_activation<schema::AddOptionsT>(attributes));
    } else if (op == "SUB") {
      made.Set(with_activation<schema::SubOptionsT>(attributes));
    } else if (op == "MUL") {
      made.Set(with_activation<schema::MulOptionsT>(attributes));
    } else if (op == "DIV") {
      made.Set(with_activation<schema::DivOptionsT>(attributes));
    } else if (op == "CONCATENATION") {
      auto options = with_activation<schema::ConcatenationOptionsT>(attributes);
      options.axis = attributes.number("axis", 0);
      made.Set(std::move(options));
    } else if (op == "SOFTMAX") {
      schema::SoftmaxOptionsT options;
      options.beta = attributes.real("beta", "1");
      made.Set(std::move(options));
    } else if (op == "LEAKY_RELU") {
      schema::LeakyReluOptionsT options;
      options.alpha = attributes.real("alpha", "0.1");
      made.Set(std::move(options));
    } else if (op == "RESHAPE") {
      schema::ReshapeOptionsT options;
      const std::string shape = attributes.text("shape", "");
      if (!shape.empty()) options.new_shape = numbers_of(shape);
      made.Set(std::move(options));
    } else if (op == "SQUEEZE") {
      schema::SqueezeOptionsT options;
      options.squeeze_dims = numbers_of(attributes.text("dims", "0"));
      made.Set(std::move(options));
    } else if (op == "ARG_MAX") {
      schema::ArgMaxOptionsT options;
      options.output_type = schema::TensorType::INT32;
      made.Set(std::move(options));
    } else if (op == "MEAN" || op == "SUM" || op.starts_with("REDUCE_")) {
      schema::ReducerOptionsT options;
      options.keep_dims = attributes.number("keep_dims", 0) != 0;
      made.Set(std::move(options));
    }
  }

  std::string pack() const {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(schema::Model::Pack(builder, &model_),
                   options_.format == ModelFormat::tflite ? "TFL3" : "CIR0");
    return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
  }

  // Takes the values out, packs once to learn how long the tables are and again with the real
  // offsets.
  std::string with_values_behind() {
    std::vector<std::vector<std::uint8_t>> values;
    for (const auto& buffer : model_.buffers) {
      values.push_back(std::move(buffer->data));
      buffer->data.clear();
      buffer->size = values.back().size();
      buffer->offset = values.back().empty() ? 0 : k_alignment;
    }
    const auto aligned = [](std::size_t at) {
      return (at + k_alignment - 1) / k_alignment * k_alignment;
    };
    std::size_t at = aligned(pack().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].empty()) continue;
      model_.buffers[i]->offset = at;
      at = aligned(at + values[i].size());
    }
    std::string bytes = pack();
    bytes.resize(at);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].empty()) continue;
      std::memcpy(bytes.data() + model_.buffers[i]->offset, values[i].data(), values[i].size());
    }
    return bytes;
  }

  std::vector<TextGraph> graphs_;
  BuildOptions options_;
  schema::ModelT model_;
  std::vector<int> codes_;  // of model_.operator_codes
  Pattern pattern_;
};

}  // namespace

std::string build_model(std::string_view text, const BuildOptions& options) {
  return Builder(read_model_text(text), options).build();
}

}  // namespace stab::test
