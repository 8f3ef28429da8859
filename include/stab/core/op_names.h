// SPDX-License-Identifier: Apache-2.0
// The three names of an operation: in the model file's schema, in the runtime's traces, and in its
// configuration keys.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stab/core/model.h"

namespace stab {

/// Names of one kind of operation. `type` and `key` are empty where the runtime has no such
/// operation or its name is not known.
struct OpNames {
  std::string_view schema{};  ///< in the model format: "CONV_2D", "RELU6"
  std::string_view type{};    ///< in traces: "Conv2D", "ReLU"
  std::string_view
      key{};  ///< in OP_BACKEND_<key> and the runtime's messages: "Conv2D", "ElementwiseActivation"
  bool control_flow = false;
};

/// Names of a built-in operator by its code in a model of that format; all empty for a code that no
/// table knows. Circle's own operators have negative codes.
OpNames builtin_names(int code, ModelFormat format);

/// Names of a custom operator: the runtime turns some custom codes ("AddV2", "Erf") into operations
/// of its own; any other has its code as type and "Custom" as key. `schema` is always "CUSTOM". The
/// views live as long as `custom_code`.
OpNames custom_names(std::string_view custom_code);

/// Each <key> of OP_BACKEND_<key> that any generation of the runtime has, sorted.
std::span<const std::string_view> op_keys();

/// Whether some runtime writes this name into its traces for an operation.
bool is_trace_type(std::string_view name);

/// Whether a trace may call `operation` by this name. Tolerates the spellings of other runtime
/// generations ("ArgMax" for ArgMinMax, "ReduceSum" for ReduceSUM). An operation of unknown type
/// has no name in traces: false.
bool same_type(const Operation& operation, std::string_view trace_type);

/// Throws Error(input) that shows both names when the model's type and the trace's type are both
/// known and differ: then `trace_file` is a trace of another model.
void check_type(const Operation& operation, std::string_view trace_type,
                std::string_view trace_file);

}  // namespace stab
