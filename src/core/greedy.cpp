// SPDX-License-Identifier: Apache-2.0
#include "stab/core/greedy.h"

#include <algorithm>
#include <set>

#include "stab/core/error.h"

namespace stab {
namespace {

struct TimesOfOp {
  std::string type;
  std::map<std::string, double> by_backend;
};

std::map<OpId, TimesOfOp> merge(const std::vector<AveragedRun>& runs) {
  std::map<OpId, TimesOfOp> merged;
  for (const AveragedRun& run : runs) {
    for (const AveragedOp& entry : run.ops) {
      if (entry.op.subgraph != 0) continue;
      TimesOfOp& times = merged[entry.op];
      if (times.type.empty()) times.type = entry.type;
      times.by_backend[entry.backend] = entry.avg_us;
    }
  }
  return merged;
}

/// The name of the fastest of `runs` for an operation; empty when it ran on none of them.
std::string fastest(const TimesOfOp& times, const std::vector<AveragedRun>& runs) {
  std::string best;
  double least = 0;
  for (const AveragedRun& run : runs) {
    const auto found = times.by_backend.find(run.backend);
    if (found == times.by_backend.end() || (!best.empty() && found->second >= least)) continue;
    best = run.backend;
    least = found->second;
  }
  return best;
}

}  // namespace

GreedyPlan greedy(const std::vector<AveragedRun>& runs, const ListedTypes& listed) {
  if (runs.empty()) {
    throw Error(ErrorKind::input, "cannot decide by averages", "",
                "no backend has an averaged trace");
  }
  GreedyPlan plan;
  const auto least_graph = [](const AveragedRun& a, const AveragedRun& b) {
    return a.graph_avg_us < b.graph_avg_us;
  };
  plan.default_backend = std::min_element(runs.begin(), runs.end(), least_graph)->backend;
  std::set<std::string> types;
  for (const auto& [backend, of_backend] : listed) {
    types.insert(of_backend.begin(), of_backend.end());
    if (backend == plan.default_backend) plan.default_types = of_backend;
  }
  for (const auto& [op, times] : merge(runs)) {
    if (!types.contains(times.type)) continue;
    const std::string best = fastest(times, runs);
    if (best.empty()) continue;
    plan.choices[op] = best;
    if (best == plan.default_backend) continue;
    plan.exceptions[op] = best;
    plan.map_text += std::to_string(op.index) + "=" + best + ";";
  }
  return plan;
}

}  // namespace stab
