// SPDX-License-Identifier: Apache-2.0
#include "stab/core/outputs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

namespace stab {
namespace {

template <typename T>
T load(std::string_view bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

double half_to_double(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 0x1f) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(fraction + 1024, exponent - 25);
}

bool floating(DataType type) {
  return type == DataType::float32 || type == DataType::float64 || type == DataType::float16;
}

double element(DataType type, std::string_view bytes, std::size_t i) {
  if (type == DataType::float32) return static_cast<double>(load<float>(bytes, i));
  if (type == DataType::float64) return load<double>(bytes, i);
  return half_to_double(load<std::uint16_t>(bytes, i));
}

struct Difference {
  double max_abs = 0;
  double max_reference = 0;
  bool nan = false;
};

Difference difference(DataType type, std::string_view reference, std::string_view other) {
  Difference result;
  const std::size_t size = element_size(type).value();
  for (std::size_t i = 0; i < reference.size() / size; ++i) {
    const double a = element(type, reference, i);
    const double b = element(type, other, i);
    if (std::isnan(a) != std::isnan(b)) result.nan = true;
    if (std::isnan(a) || std::isnan(b)) continue;
    if (std::isfinite(a)) result.max_reference = std::max(result.max_reference, std::fabs(a));
    if (a == b) continue;
    const double distance = std::fabs(a - b);
    result.max_abs = std::max(result.max_abs, std::isfinite(distance) ? distance : HUGE_VAL);
  }
  return result;
}

/// Integers: largest distance of two elements, exact for everything below 2^53.
double integer_difference(DataType type, std::string_view reference, std::string_view other) {
  if (reference == other) return 0;
  const std::size_t size = element_size(type).value_or(1);
  double largest = 0;
  for (std::size_t i = 0; i + size <= reference.size(); i += size) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::memcpy(&a, reference.data() + i, std::min<std::size_t>(size, 8));
    std::memcpy(&b, other.data() + i, std::min<std::size_t>(size, 8));
    const bool is_signed =
        type == DataType::int8 || type == DataType::int16 || type == DataType::int32;
    if (is_signed) {
      const int shift = static_cast<int>(64 - 8 * size);
      a = static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << shift) >> shift;
      b = static_cast<std::int64_t>(static_cast<std::uint64_t>(b) << shift) >> shift;
    }
    if (a != b)
      largest = std::max(largest, std::fabs(static_cast<double>(a) - static_cast<double>(b)));
  }
  return std::max(largest, 1.0);
}

bool within(const Difference& found, OutputLimit limit) {
  return !found.nan && found.max_abs <= limit.relative * found.max_reference + limit.absolute;
}

bool picks(const Operation& op) {
  static constexpr std::array k_names = {
      "ARG_MAX",     "ARG_MIN", "TOPK_V2", "NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5",
      "MULTINOMIAL", "UNIQUE",  "WHERE"};
  const bool named = std::any_of(k_names.begin(), k_names.end(),
                                 [&](const char* name) { return op.schema_name == name; });
  return named || op.custom_code == "TFLite_Detection_PostProcess";
}

}  // namespace

OutputLimit default_limit(DataType type) {
  if (type == DataType::float16) return {0, 1e-2};
  if (floating(type)) return {1e-6, 1e-3};
  return {0, 0};
}

EqualProof::Output compare_output(int index, DataType type, std::string_view reference,
                                  std::string_view repeat, std::string_view candidate,
                                  OutputLimit limit) {
  EqualProof::Output output;
  output.index = index;
  output.dtype = std::string(to_string(type));
  output.limit_abs = limit.absolute;
  output.limit_rel = limit.relative;
  if (reference.size() != candidate.size() || reference.size() != repeat.size()) {
    output.comparable = reference.size() == repeat.size();
    output.pass = false;
    output.max_abs = HUGE_VAL;
    output.max_rel = HUGE_VAL;
    return output;
  }
  if (!floating(type)) {
    output.comparable = integer_difference(type, reference, repeat) <= limit.absolute;
    output.max_abs = integer_difference(type, reference, candidate);
    output.max_rel = output.max_abs;
    output.pass = output.max_abs <= limit.absolute;
    return output;
  }
  output.comparable = within(difference(type, reference, repeat), limit);
  const Difference found = difference(type, reference, candidate);
  output.max_abs = found.max_abs;
  output.max_rel = found.max_reference > 0 ? found.max_abs / found.max_reference
                                           : (found.max_abs > 0 ? HUGE_VAL : 0);
  output.nan = found.nan;
  output.pass = within(found, limit);
  return output;
}

std::set<int> flipping_outputs(const Model& model) {
  const Subgraph& graph = model.subgraphs.at(0);
  std::vector<bool> flips(graph.tensors.size(), false);
  bool changed = true;
  while (changed) {
    changed = false;
    for (const Operation& op : graph.operations) {
      bool from_picking = picks(op);
      for (const int input : op.inputs)
        from_picking = from_picking || (input >= 0 && flips[static_cast<std::size_t>(input)]);
      if (!from_picking) continue;
      for (const int out : op.outputs) {
        if (out < 0 || flips[static_cast<std::size_t>(out)]) continue;
        flips[static_cast<std::size_t>(out)] = true;
        changed = true;
      }
    }
  }
  std::set<int> positions;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    if (graph.outputs[i] >= 0 && flips[static_cast<std::size_t>(graph.outputs[i])])
      positions.insert(static_cast<int>(i));
  }
  return positions;
}

EqualProof::Output worse(const EqualProof::Output& a, const EqualProof::Output& b) {
  EqualProof::Output result = a;
  result.max_abs = std::max(a.max_abs, b.max_abs);
  result.max_rel = std::max(a.max_rel, b.max_rel);
  result.nan = a.nan || b.nan;
  result.comparable = a.comparable && b.comparable;
  result.pass = a.pass && b.pass;
  return result;
}

}  // namespace stab
