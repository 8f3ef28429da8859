// SPDX-License-Identifier: Apache-2.0
#include "stab/core/ids.h"

#include <charconv>

namespace stab {
namespace {

std::optional<int> parse_index(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-')
    return std::nullopt;
  return value;
}

}  // namespace

std::string to_string(OpId id) {
  return std::to_string(id.subgraph) + ":" + std::to_string(id.index);
}

std::string to_string(TensorId id) {
  return std::to_string(id.subgraph) + ":" + std::to_string(id.index);
}

std::optional<OpId> parse_op_id(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size())
    return std::nullopt;
  const auto subgraph = parse_index(text.substr(0, colon));
  const auto index = parse_index(text.substr(colon + 1));
  if (!subgraph || !index) return std::nullopt;
  return OpId{*subgraph, *index};
}

}  // namespace stab
