// SPDX-License-Identifier: Apache-2.0
// What the user decides: operations pinned to a backend, by index, by type or by the name of what
// they produce.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "stab/core/ids.h"
#include "stab/core/model.h"
#include "stab/core/op_list.h"

namespace stab {

enum class PinKind { type, name, index };

/// One --pin OP=BACKEND, read but not yet looked up in a model.
struct Pin {
  PinKind kind = PinKind::index;
  OpId op;               ///< of an index
  std::string selector;  ///< of a type or name
  std::string backend;
  std::string text;  ///< as it was written
};

/// Reads `12=ruy`, `0:12=ruy`, `type:Conv2D=ruy`, `Conv2D=ruy` or `name:<first output tensor>=ruy`;
/// the last `=` counts. Throws Error(usage) for anything else.
Pin parse_pin(std::string_view text);

/// The backend of each pinned operation. A pin by index beats one by name, and that one by type.
/// Types may be trace names, keys or schema names ("ReLU", "ElementwiseActivation", "RELU6").
/// Throws Error(input) where a pin matches no operation, a name several, or the backend is not
/// among `backends` or cannot run an operation that matches. A backend of which neither `list` nor
/// `discovered` says anything is taken at its word. Throws Error(usage) where two pins of the same
/// kind disagree.
std::map<OpId, std::string> resolve_pins(const Model& model, std::span<const Pin> pins,
                                         const OpList& list, std::span<const std::string> backends,
                                         const Discovered& discovered = {});

}  // namespace stab
