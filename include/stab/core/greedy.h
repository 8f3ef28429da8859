// SPDX-License-Identifier: Apache-2.0
// The rule of the first stab: each operation where its average time was least, one by one.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "stab/core/ids.h"

namespace stab {

/// One entry of an averaged trace: an operation, where it ran, and its Avg_Time.
struct AveragedOp {
  OpId op;
  std::string backend;
  std::string type;  ///< trace name
  double avg_us = 0;
};

/// The averaged trace of one backend's run. In it, most operations ran on cpu.
struct AveragedRun {
  std::string backend;      ///< whose run it was
  double graph_avg_us = 0;  ///< Avg_Time of the whole graph
  std::vector<AveragedOp> ops;
};

/// Which types of operation the op list names for a backend, in the order of the file.
using ListedTypes = std::vector<std::pair<std::string, std::vector<std::string>>>;

struct GreedyPlan {
  std::string default_backend;             ///< least graph time; the first of equals
  std::vector<std::string> default_types;  ///< that the op list gives to it, for OP_BACKEND_<type>
  std::map<OpId, std::string> choices;     ///< each operation of a listed type in subgraph 0
  std::map<OpId, std::string> exceptions;  ///< those of them that are not on the default backend
  std::string map_text;                    ///< OP_BACKEND_MAP: `3=ruy;12=cpu;`
};

/// Decides as the first stab did (Samsung/ONE tools/stab, backend_scheduler.py): `runs` in the
/// order of its backends, cpu first; where several runs hold a time of an operation on the same
/// backend, the last one counts; the least time wins, and the first backend among equals; only
/// operations of a type that the op list names for any backend are decided. Two of its faults are
/// left out: it took 0 us for "no time yet", and it failed on an operation that never ran on the
/// default backend. Operations of other subgraphs than 0 are not decided. Throws Error(input)
/// without runs.
GreedyPlan greedy(const std::vector<AveragedRun>& runs, const ListedTypes& listed);

}  // namespace stab
