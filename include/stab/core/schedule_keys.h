// SPDX-License-Identifier: Apache-2.0
// A schedule as runtime keys, and the forms in which they reach the runtime: configuration,
// environment, API.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/config.h"
#include "stab/core/model.h"
#include "stab/core/placement.h"

namespace stab {

/// The form of the first stab: a default backend for the operation types of the op list, and a map
/// of what differs.
struct GreedyForm {
  std::string default_backend;
  std::vector<std::string>
      default_keys;  ///< OP_BACKEND_ names that the op list gives to the default backend
  std::map<OpId, std::string>
      exceptions;  ///< operations that are not on the default backend, "cpu" included
};

struct KeyRequest {
  Placement placement;                ///< of subgraph 0, every operation that is not on cpu
  std::vector<std::string> backends;  ///< candidates, in the user's order
  int threads = 1;
  std::string executor = "Linear";            ///< unless `set` holds EXECUTOR
  std::optional<std::string> memory_planner;  ///< CPU_MEMORY_PLANNER as a remedy; wins over `set`
  std::map<std::string, std::string> set;     ///< the user's further keys
  std::optional<GreedyForm> greedy;           ///< in place of the exact form
};

/// The complete schedule in the order in which it is written: BACKENDS (cpu, then those that are
/// used), OP_BACKEND_MAP
/// ("3=ruy;5=xnnpack"; absent when everything is on cpu), OP_BACKEND_<Op> (greedy only),
/// OP_SEQ_MAX_NODE=1, one number of threads under each of its names, EXECUTOR, CPU_MEMORY_PLANNER,
/// then the rest of `set` by name. The greedy map ends each entry with ';', as the first stab wrote
/// it. Throws Error(internal) for an operation outside subgraph 0.
RuntimeKeys schedule_keys(const KeyRequest& request);

/// Keys that the runtime still takes from a package whose configuration comes too late for backends
/// (1.28 and later): threads, CPU_MEMORY_PLANNER, USE_MMAPED_DATA.
RuntimeKeys late_keys(const RuntimeKeys& keys);

/// `keys` as text for `. FILE` in any POSIX shell: KEY='value'; export KEY.
std::string render_environment(const RuntimeKeys& keys);

/// Most bytes of one "KEY=value" in an environment on Linux (MAX_ARG_STRLEN without the NUL).
inline constexpr std::size_t k_environment_string_limit = 131'071;

/// The first key whose "KEY=value" is longer than an environment may hold; null when all fit.
const std::string* too_long_for_environment(const RuntimeKeys& keys);

/// The schedule for programs that set it themselves: arguments of nnfw_set_available_backends and
/// of nnfw_set_backends_per_operation. The latter is empty when everything is on cpu.
struct ApiStrings {
  std::string available_backends;
  std::string per_operation;
};

/// Most bytes that nnfw_set_available_backends takes (measured on 1.26 and 1.30: status 1 from 32
/// on).
inline constexpr std::size_t k_api_backends_limit = 31;

/// False when the API refuses the list of backends for its length.
bool fits_api(const ApiStrings& strings);

ApiStrings api_strings(const Placement& placement, const std::vector<std::string>& backends);

/// Checks what --set gave: throws Error(usage) for keys that belong to stab, names that no
/// environment holds, and values that a configuration file would change (empty, '#', line breaks,
/// blanks at an end) or that are too long.
void check_set_keys(const std::map<std::string, std::string>& set);

/// Checks names given as backends: throws Error(usage) for an empty list, a name outside
/// [A-Za-z0-9_-], one given twice, and for builtin, which the runtime has by itself.
void check_backend_names(const std::vector<std::string>& backends);

/// Why OP_BACKEND_MAP must not name this operation: it is in another subgraph, control flow, custom
/// or Permute, or its index would also hit an operation of another subgraph (the map knows no
/// subgraphs). Absent when it may.
std::optional<std::string> why_not_mappable(const Model& model, OpId op);

struct LeftOut {
  OpId op;
  std::string wanted;  ///< backend
  std::string reason;
};

/// Takes what OP_BACKEND_MAP must not name out of a placement, and says what and why, in order of
/// operation.
std::vector<LeftOut> drop_unmappable(Placement& placement, const Model& model);

}  // namespace stab
