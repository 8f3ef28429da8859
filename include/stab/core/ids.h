// SPDX-License-Identifier: Apache-2.0
// How operations and tensors are named everywhere in stab: subgraph and index, written "0:3".
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace stab {

/// An operation: its subgraph and its position in that subgraph's operator list, both from 0.
struct OpId {
  int subgraph = 0;
  int index = 0;

  auto operator<=>(const OpId&) const = default;
};

/// A tensor (operand): its subgraph and its position in that subgraph's tensor list, both from 0.
struct TensorId {
  int subgraph = 0;
  int index = 0;

  auto operator<=>(const TensorId&) const = default;
};

std::string to_string(OpId id);
std::string to_string(TensorId id);

/// Reads "0:3"; nothing else (no sign, no blank). Absent when the text is not of that form or out
/// of range.
std::optional<OpId> parse_op_id(std::string_view text);

}  // namespace stab
