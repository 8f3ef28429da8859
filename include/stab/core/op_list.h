// SPDX-License-Identifier: Apache-2.0
// Which backends an operation may be given to: the op list (the original tool's op_list.txt, with
// element types), the known limits of ruy and xnnpack, and what was found out on the device.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/ids.h"
#include "stab/core/model.h"
#include "stab/core/schedule_keys.h"

namespace stab {

/// One type of operation in a backend's line of the op list.
struct OpRule {
  std::string type;             ///< a trace name or a key: "Conv2D", "Add", "ElementwiseActivation"
  std::vector<DataType> types;  ///< of input and weights; empty: no limit but the backend's own

  bool operator==(const OpRule&) const = default;
};

/// What one backend is asked to run.
struct BackendOps {
  std::string backend;
  std::vector<OpRule> rules;

  bool operator==(const BackendOps&) const = default;
};

/// Lines in the order of the file; each backend once.
using OpList = std::vector<BackendOps>;

/// ruy: Conv2D, FullyConnected; xnnpack: Conv2D, DepthwiseConv2D, FullyConnected. All of them
/// float32 only.
OpList default_op_list();

/// Reads lines such as `ruy:Conv2D[f32],FullyConnected`. Blanks around words, empty lines and what
/// follows a `#` do not count; element types are written as in the documents (`f32`, `i8`). Throws
/// Error(input) naming `name` and the line for anything else: a line without a colon, a type or
/// element type that does not exist, a backend listed twice.
OpList parse_op_list(std::string_view text, std::string_view name);

/// What runs were seen to do: for a backend named here this set alone says which operations it
/// runs, not the op list.
using Discovered = std::map<std::string, std::set<OpId>, std::less<>>;

/// Why an operation has no choice of backends.
enum class FixedReason { control_flow, custom, no_candidate, pin, subgraph };

/// The reason as the documents write it: "control_flow", "no_candidate", …
std::string_view to_string(FixedReason reason);

/// The backends an operation may be given to.
struct Candidates {
  std::vector<std::string>
      backends;  ///< in the order asked for, cpu first; empty: it stays where the runtime puts it
  std::optional<FixedReason> fixed;  ///< present when there are fewer than two
};

/// What may be decided for `op`, among `backends`. cpu runs every ordinary operation. None are for
/// control flow, custom operations, operations that the runtime gives to a backend of its own (BCQ,
/// Bulk), operations of unknown type and of other subgraphs than 0. An operation that
/// OP_BACKEND_MAP cannot name has cpu alone.
Candidates candidates(const Model& model, OpId op, const OpList& list,
                      std::span<const std::string> backends, const Discovered& discovered = {});

/// Why `backend` may not run `op`, as half a sentence ("ruy takes float32 weights only, not i8");
/// absent when it may. A backend of which neither the list nor `discovered` says anything may not.
std::optional<std::string> why_not(const Model& model, OpId op, std::string_view backend,
                                   const OpList& list, const Discovered& discovered = {});

/// Operations of subgraph 0 that a backend could run, but that OP_BACKEND_MAP cannot name, because
/// their index would also move an operation of another subgraph: by operation, each with the first
/// such backend. They are no candidates.
std::vector<LeftOut> unmappable(const Model& model, const OpList& list,
                                std::span<const std::string> backends,
                                const Discovered& discovered = {});

}  // namespace stab
