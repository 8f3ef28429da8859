// SPDX-License-Identifier: Apache-2.0
// parse_model: from verified tables to a Model, with our own checks of ranges, edges and sizes.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "model_file.h"
#include "stab/core/op_names.h"
#include "utf8.h"

namespace stab {
namespace {

using Indices = flatbuffers::Vector<std::int32_t>;

constexpr int k_custom = 32;        // builtin code of custom operators
constexpr int k_placeholder = 127;  // in the old one-byte field: see the newer field

// A crafted file can refer to one text or list from many tables. What is copied out of a file may
// be this many times its size (honest models stay below 8), and no more.
constexpr std::uint64_t k_max_growth = 32;

DataType data_type(int code) {
  static constexpr std::array k_types = {
      DataType::float32,   DataType::float16,  DataType::int32,   DataType::uint8,
      DataType::int64,     DataType::string,   DataType::boolean, DataType::int16,
      DataType::complex64, DataType::int8,     DataType::float64, DataType::complex128,
      DataType::uint64,    DataType::resource, DataType::variant, DataType::uint32,
      DataType::uint16,    DataType::int4};
  if (code < 0 || static_cast<std::size_t>(code) >= k_types.size()) return DataType::unknown;
  return k_types[static_cast<std::size_t>(code)];
}

// Elements x element size; absent where the type has no fixed size or the product overflows.
std::optional<std::uint64_t> byte_count(const std::vector<std::int32_t>& shape, DataType type) {
  const auto size = element_size(type);
  if (!size) return std::nullopt;
  std::uint64_t bytes = *size;
  bool empty = false;
  for (const std::int32_t dimension : shape) empty = empty || dimension == 0;
  if (empty) return 0;
  for (const std::int32_t dimension : shape) {
    const auto factor = static_cast<std::uint64_t>(dimension);
    if (bytes > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    bytes *= factor;
  }
  return bytes;
}

template <class T>
flatbuffers::uoffset_t size_of(const flatbuffers::Vector<T>* list) {
  return list == nullptr ? 0 : list->size();
}

class Parser {
 public:
  Parser(std::span<const std::byte> bytes, ModelFormat format, std::string_view name)
      : file_(bytes, format, name), format_(format) {}

  Model parse() {
    const auto* subgraphs = file_.root().subgraphs();
    if (size_of(subgraphs) == 0) file_.fail("it has no subgraph");
    Model model;
    model.format = format_;
    for (const schema::SubGraph* subgraph : *subgraphs) {
      subgraph_ = static_cast<int>(model.subgraphs.size());
      model.subgraphs.push_back(parse_subgraph(*subgraph));
    }
    return model;
  }

 private:
  Subgraph parse_subgraph(const schema::SubGraph& table) {
    spend(sizeof(Subgraph));
    Subgraph subgraph;
    subgraph.name = text(table.name());
    for (flatbuffers::uoffset_t i = 0; i < size_of(table.tensors()); ++i) {
      subgraph.tensors.push_back(parse_tensor(*table.tensors()->Get(i), static_cast<int>(i)));
    }
    const std::string place = "subgraph " + std::to_string(subgraph_);
    subgraph.inputs = indices(table.inputs(), subgraph, place + ": input", false);
    subgraph.outputs = indices(table.outputs(), subgraph, place + ": output", false);
    for (const int i : subgraph.inputs) tensor(subgraph, i).input = true;
    for (const int i : subgraph.outputs) tensor(subgraph, i).output = true;
    for (flatbuffers::uoffset_t i = 0; i < size_of(table.operators()); ++i) {
      subgraph.operations.push_back(
          parse_operation(*table.operators()->Get(i), subgraph, static_cast<int>(i)));
    }
    check_edges(subgraph);
    return subgraph;
  }

  Tensor parse_tensor(const schema::Tensor& table, int index) {
    spend(sizeof(Tensor));
    Tensor tensor;
    tensor.id = {subgraph_, index};
    tensor.name = text(table.name());
    tensor.type = data_type(table.type());
    read_shape(table, tensor);
    tensor.bytes = byte_count(tensor.shape, tensor.type);
    const auto* quantization = table.quantization();
    tensor.quantised = quantization != nullptr &&
                       (size_of(quantization->scale()) > 0 || quantization->details_type() != 0);
    tensor.constant = has_value(table, tensor) && !table.is_variable();
    return tensor;
  }

  // A dynamic dimension is -1 in the signature and 1 in the shape. Some writers put -1 into the
  // shape itself, or leave the shape out.
  void read_shape(const schema::Tensor& table, Tensor& tensor) {
    tensor.shape = numbers(table.shape());
    tensor.shape_signature = numbers(table.shape_signature());
    if (tensor.shape.empty()) tensor.shape = tensor.shape_signature;
    if (tensor.shape_signature.empty()) tensor.shape_signature = tensor.shape;
    if (tensor.shape.size() != tensor.shape_signature.size()) {
      file_.fail("tensor " + to_string(tensor.id) + " has " + std::to_string(tensor.shape.size()) +
                 " dimensions and a signature of " + std::to_string(tensor.shape_signature.size()));
    }
    bool dynamic = false;
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      std::int32_t& size = tensor.shape[i];
      std::int32_t& signature = tensor.shape_signature[i];
      if (size < -1 || signature < -1) {
        file_.fail("tensor " + to_string(tensor.id) + ": dimension " + std::to_string(i) + " is " +
                   std::to_string(size < -1 ? size : signature));
      }
      if (size == -1) {
        size = 1;
        signature = -1;
      }
      dynamic = dynamic || signature == -1;
    }
    if (!dynamic) tensor.shape_signature.clear();
  }

  // Whether the file holds the tensor's value: in its tables, or behind them.
  bool has_value(const schema::Tensor& table, const Tensor& tensor) {
    const auto* buffers = file_.root().buffers();
    if (table.buffer() >= size_of(buffers)) {
      if (table.buffer() == 0) return false;
      file_.fail("tensor " + to_string(tensor.id) + " names buffer " +
                 std::to_string(table.buffer()) + " of " + std::to_string(size_of(buffers)));
    }
    const schema::Buffer* buffer = buffers->Get(table.buffer());
    if (buffer->offset() > 1) {
      if (buffer->offset() > file_.size() || buffer->size() > file_.size() - buffer->offset()) {
        file_.fail("buffer " + std::to_string(table.buffer()) + " lies outside the file (" +
                   std::to_string(buffer->size()) + " bytes at " +
                   std::to_string(buffer->offset()) + " of " + std::to_string(file_.size()) + ")");
      }
      return buffer->size() > 0;
    }
    return size_of(buffer->data()) > 0 || (buffer->data() != nullptr && tensor.bytes == 0);
  }

  Operation parse_operation(const schema::Operator& table, const Subgraph& subgraph, int index) {
    spend(sizeof(Operation));
    Operation operation;
    operation.id = {subgraph_, index};
    const std::string place = "operation " + to_string(operation.id);
    const auto* codes = file_.root().operator_codes();
    if (table.opcode_index() >= size_of(codes)) {
      file_.fail(place + " names operator code " + std::to_string(table.opcode_index()) + " of " +
                 std::to_string(size_of(codes)));
    }
    name_operation(*codes->Get(table.opcode_index()), operation);
    operation.inputs = indices(table.inputs(), subgraph, place + ": input", true);
    operation.outputs = indices(table.outputs(), subgraph, place + ": output", true);
    std::erase(operation.outputs, -1);
    return operation;
  }

  void name_operation(const schema::OperatorCode& code, Operation& operation) {
    operation.builtin_code = builtin_code(code);
    operation.custom = operation.builtin_code == k_custom;
    if (operation.custom) operation.custom_code = text(code.custom_code());
    const OpNames names = operation.custom ? custom_names(operation.custom_code)
                                           : builtin_names(operation.builtin_code, format_);
    operation.type = names.type;
    operation.key = names.key;
    operation.control_flow = names.control_flow;
    operation.schema_name = names.schema.empty()
                                ? "BUILTIN_" + std::to_string(operation.builtin_code)
                                : std::string(names.schema);
    spend(operation.schema_name.size() + operation.type.size() + operation.key.size());
  }

  // The first field is one byte and full since code 127: newer files have both, old ones only the
  // first (older circle writers stored 252 to 254 in it, today's -4 to -2).
  static int builtin_code(const schema::OperatorCode& code) {
    if (code.builtin_code() >= k_placeholder || code.deprecated_builtin_code() == 0) {
      return code.builtin_code();
    }
    return code.deprecated_builtin_code();
  }

  // Each tensor is written by one operation at most, and no operation waits for its own result.
  void check_edges(Subgraph& subgraph) {
    std::vector<int> writer(subgraph.tensors.size(), -1);
    for (const Operation& operation : subgraph.operations) {
      for (const int output : operation.outputs) {
        int& of = writer[static_cast<std::size_t>(output)];
        if (of != -1) {
          file_.fail("operations " + to_string(OpId{subgraph_, of}) + " and " +
                     to_string(operation.id) + " both write tensor " + std::to_string(output));
        }
        of = operation.id.index;
        tensor(subgraph, output).constant = false;
      }
    }
    check_order(subgraph, writer);
  }

  // Takes away, again and again, operations whose inputs are all there (Kahn). What stays waits for
  // itself.
  void check_order(const Subgraph& subgraph, const std::vector<int>& writer) {
    const std::size_t count = subgraph.operations.size();
    std::vector<int> waits_for(count, 0);
    std::vector<std::vector<int>> readers(count);
    for (const Operation& operation : subgraph.operations) {
      for (const int input : operation.inputs) {
        if (input == -1 || writer[static_cast<std::size_t>(input)] == -1) continue;
        readers[static_cast<std::size_t>(writer[static_cast<std::size_t>(input)])].push_back(
            operation.id.index);
        ++waits_for[static_cast<std::size_t>(operation.id.index)];
      }
    }
    std::vector<int> ready;
    for (std::size_t i = 0; i < count; ++i) {
      if (waits_for[i] == 0) ready.push_back(static_cast<int>(i));
    }
    for (std::size_t done = 0; done < ready.size(); ++done) {
      for (const int reader : readers[static_cast<std::size_t>(ready[done])]) {
        if (--waits_for[static_cast<std::size_t>(reader)] == 0) ready.push_back(reader);
      }
    }
    if (ready.size() == count) return;
    const auto stuck =
        std::find_if(waits_for.begin(), waits_for.end(), [](int n) { return n > 0; });
    const auto index = static_cast<int>(stuck - waits_for.begin());
    file_.fail("operation " + to_string(OpId{subgraph_, index}) +
               " waits for a result that depends on its own");
  }

  static Tensor& tensor(Subgraph& subgraph, int index) {
    return subgraph.tensors[static_cast<std::size_t>(index)];
  }

  std::vector<int> indices(const Indices* list, const Subgraph& subgraph, const std::string& place,
                           bool optional) {
    std::vector<int> found = numbers(list);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const bool in_range =
          found[i] >= 0 && static_cast<std::size_t>(found[i]) < subgraph.tensors.size();
      if (in_range || (optional && found[i] == -1)) continue;
      file_.fail(place + " " + std::to_string(i) + " is tensor " + std::to_string(found[i]) +
                 " of " + std::to_string(subgraph.tensors.size()));
    }
    return found;
  }

  std::vector<std::int32_t> numbers(const Indices* list) {
    if (list == nullptr) return {};
    spend(std::uint64_t{list->size()} * sizeof(std::int32_t));
    return {list->begin(), list->end()};
  }

  std::string text(const flatbuffers::String* text) {
    if (text == nullptr) return {};
    spend(text->size());
    return printable_utf8(text->string_view());  // it ends up in documents and on terminals
  }

  void spend(std::uint64_t bytes) {
    spent_ += bytes;
    if (spent_ > k_max_growth * file_.size()) {
      file_.fail("its tables share so much that it unfolds to more than " +
                 std::to_string(k_max_growth) + " times its size");
    }
  }

  ModelFile file_;
  ModelFormat format_;
  int subgraph_ = 0;
  std::uint64_t spent_ = 0;
};

}  // namespace

Model parse_model(std::span<const std::byte> bytes, ModelFormat format, std::string_view name) {
  return Parser(bytes, format, name).parse();
}

}  // namespace stab
