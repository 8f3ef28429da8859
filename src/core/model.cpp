// SPDX-License-Identifier: Apache-2.0
#include "stab/core/model.h"

#include <algorithm>
#include <cstring>

namespace stab {
namespace {

bool ends_with_ignoring_case(std::string_view text, std::string_view ending) {
  if (text.size() < ending.size()) return false;
  text.remove_prefix(text.size() - ending.size());
  return std::equal(text.begin(), text.end(), ending.begin(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; });
}

}  // namespace

std::string_view to_string(ModelFormat format) {
  return format == ModelFormat::tflite ? "tflite" : "circle";
}

std::string_view to_string(DataType type) {
  switch (type) {
    case DataType::float32:
      return "f32";
    case DataType::float16:
      return "f16";
    case DataType::float64:
      return "f64";
    case DataType::int4:
      return "i4";
    case DataType::int8:
      return "i8";
    case DataType::int16:
      return "i16";
    case DataType::int32:
      return "i32";
    case DataType::int64:
      return "i64";
    case DataType::uint8:
      return "u8";
    case DataType::uint16:
      return "u16";
    case DataType::uint32:
      return "u32";
    case DataType::uint64:
      return "u64";
    case DataType::boolean:
      return "bool";
    case DataType::string:
      return "string";
    case DataType::complex64:
      return "c64";
    case DataType::complex128:
      return "c128";
    case DataType::resource:
      return "resource";
    case DataType::variant:
      return "variant";
    case DataType::unknown:
      return "unknown";
  }
  return "unknown";
}

std::optional<std::size_t> element_size(DataType type) {
  switch (type) {
    case DataType::int8:
    case DataType::uint8:
    case DataType::boolean:
      return 1;
    case DataType::float16:
    case DataType::int16:
    case DataType::uint16:
      return 2;
    case DataType::float32:
    case DataType::int32:
    case DataType::uint32:
      return 4;
    case DataType::float64:
    case DataType::int64:
    case DataType::uint64:
    case DataType::complex64:
      return 8;
    case DataType::complex128:
      return 16;
    case DataType::int4:
    case DataType::string:
    case DataType::resource:
    case DataType::variant:
    case DataType::unknown:
      return std::nullopt;
  }
  return std::nullopt;
}

bool Tensor::dynamic() const {
  return std::any_of(shape_signature.begin(), shape_signature.end(),
                     [](std::int32_t dimension) { return dimension < 0; });
}

std::optional<ModelFormat> detect_format(std::span<const std::byte> bytes,
                                         std::string_view file_name) {
  if (bytes.size() >= 8) {
    if (std::memcmp(bytes.data() + 4, "TFL3", 4) == 0) return ModelFormat::tflite;
    if (std::memcmp(bytes.data() + 4, "CIR0", 4) == 0) return ModelFormat::circle;
  }
  if (ends_with_ignoring_case(file_name, ".tflite")) return ModelFormat::tflite;
  if (ends_with_ignoring_case(file_name, ".circle")) return ModelFormat::circle;
  return std::nullopt;
}

}  // namespace stab
