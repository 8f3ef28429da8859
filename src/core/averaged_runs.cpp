// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <numeric>
#include <utility>

#include "stab/core/timings.h"

namespace stab {
namespace {

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

std::optional<double> average(const std::optional<AveragedTime>& averaged,
                              const std::vector<double>& samples) {
  if (averaged) return averaged->mean_us;
  if (!samples.empty()) return mean(samples);
  return std::nullopt;
}

using Key = std::pair<OpId, std::string>;

struct Label {
  std::map<Key, std::pair<std::string, std::vector<double>>>
      ops;  // type and one average for each run
  std::vector<double> graph;
  std::size_t runs = 0;
  bool averaged = true;  // every run had the averaged form
};

Label read_label(std::span<const RunTrace> runs, int threads, const std::string& wanted) {
  Label label;
  for (const RunTrace& run : runs) {
    const bool usable = run.run.kind == RunKind::single && run.run.label == wanted &&
                        run.run.threads == threads && run.run.status == RunStatus::ok;
    if (!usable || run.trace.ops.empty()) continue;
    ++label.runs;
    label.averaged = label.averaged && run.trace.has_averages();
    for (const OpTrace& op : run.trace.ops) {
      if (const auto value = average(op.averaged, op.samples_us)) {
        auto& [type, values] = label.ops[{op.op, op.backend}];
        type = op.type;
        values.push_back(*value);
      }
    }
    if (const auto value = average(run.trace.graph_averaged, run.trace.graph_us))
      label.graph.push_back(*value);
  }
  return label;
}

}  // namespace

AveragedRuns averaged_runs(std::span<const RunTrace> runs, int threads,
                           std::span<const std::string> labels) {
  AveragedRuns result;
  for (const std::string& name : labels) {
    const Label label = read_label(runs, threads, name);
    if (label.graph.empty()) continue;
    result.one_file_each = result.one_file_each && label.runs == 1 && label.averaged;
    AveragedRun run{parse_run_label(name).backend, mean(label.graph), {}};
    for (const auto& [key, found] : label.ops) {
      run.ops.push_back({key.first, key.second, found.first, mean(found.second)});
    }
    result.runs.push_back(std::move(run));
  }
  return result;
}

}  // namespace stab
