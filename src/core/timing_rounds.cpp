// SPDX-License-Identifier: Apache-2.0
#include "timing_rounds.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace stab {

std::string_view to_string(FixedKind kind) {
  switch (kind) {
    case FixedKind::permute:
      return "permute";
    case FixedKind::control_flow:
      return "control_flow";
    case FixedKind::builtin:
      return "builtin";
    case FixedKind::custom:
      return "custom";
    case FixedKind::fused:
      return "fused";
    case FixedKind::subgraph:
      return "subgraph";
  }
  return "builtin";
}

namespace timing {
namespace {

bool is_builtin(std::string_view backend) {
  return backend == "builtin" || backend == "controlflow";
}

std::optional<double> median_of(const Runs& runs, std::optional<double> ProfileRun::* field) {
  std::vector<double> values;
  for (const RunTrace* run : runs) {
    if (run->run.*field) values.push_back(*(run->run.*field));
  }
  return median(values);
}

// The runner's own figure, its samples' median where it tells them.
std::optional<double> execute_us(const Runs& runs) {
  Rounds rounds;
  for (const RunTrace* run : runs) {
    if (!run->run.execute) continue;
    const ExecuteTimes& times = *run->run.execute;
    auto value = median(times.samples_us);
    if (!value) value = times.geomean_us ? times.geomean_us : times.mean_us;
    if (value) rounds[run->run.round].push_back(*value);
  }
  const auto interval = interval_of(round_medians(rounds));
  return interval ? std::optional(interval->median) : std::nullopt;
}

// How long the timed runs took together.
std::optional<double> wall_us(const ProfileRun& run) {
  if (!run.execute) return std::nullopt;
  const std::vector<double>& samples = run.execute->samples_us;
  if (!samples.empty()) return std::accumulate(samples.begin(), samples.end(), 0.0);
  if (run.execute->mean_us && run.runs > 0) return *run.execute->mean_us * run.runs;
  return std::nullopt;
}

std::optional<double> busy_cores(const Runs& runs) {
  std::vector<double> ratios;
  for (const RunTrace* run : runs) {
    const auto wall = wall_us(run->run);
    if (run->run.cpu_time_us && wall && *wall > 0) ratios.push_back(*run->run.cpu_time_us / *wall);
  }
  return median(ratios);
}

// The sum over operations of subgraph 0 where only averages exist.
double averaged_sum(const Trace& trace) {
  double sum = 0;
  for (const OpTrace& op : trace.ops) {
    if (op.op.subgraph == 0 && op.averaged) sum += op.averaged->mean_us;
  }
  return sum;
}

// The averaged form counts each run of a body as one of the graph, so its graph time says nothing
// then.
bool mixes_subgraphs(const Trace& trace) {
  return std::any_of(trace.ops.begin(), trace.ops.end(), [](const OpTrace& op) {
    const auto kind = fixed_kind(op);
    return kind == FixedKind::subgraph || kind == FixedKind::control_flow;
  });
}

struct GraphRounds {
  Rounds graph;
  Rounds sums;
  Rounds overheads;
};

void add_samples(const Trace& trace, int round, GraphRounds& into) {
  auto& graph = into.graph[round];
  auto& sums = into.sums[round];
  graph.insert(graph.end(), trace.graph_us.begin(), trace.graph_us.end());
  sums.insert(sums.end(), trace.ops_us.begin(), trace.ops_us.end());
  for (std::size_t i = 0; i < trace.graph_us.size(); ++i) {
    into.overheads[round].push_back(trace.graph_us[i] - trace.ops_us[i]);
  }
}

void add_averages(const Trace& trace, int round, GraphRounds& into) {
  const double sum = averaged_sum(trace);
  into.sums[round].push_back(sum);
  if (!trace.graph_averaged) return;
  into.graph[round].push_back(trace.graph_averaged->mean_us);
  if (!mixes_subgraphs(trace)) {
    into.overheads[round].push_back(trace.graph_averaged->mean_us - sum);
  }
}

}  // namespace

std::optional<FixedKind> fixed_kind(const OpTrace& op) {
  static constexpr std::array<std::string_view, 3> k_control_flow = {"If", "While", "Call"};
  if (op.op.subgraph != 0) return FixedKind::subgraph;
  if (op.type == "Permute") return FixedKind::permute;
  if (std::find(k_control_flow.begin(), k_control_flow.end(), op.type) != k_control_flow.end()) {
    return FixedKind::control_flow;
  }
  if (is_builtin(op.backend)) return FixedKind::builtin;
  if (op.type == "Custom") return FixedKind::custom;
  if (op.fused_extra > 0) return FixedKind::fused;
  return std::nullopt;
}

std::vector<RoundMedian> round_medians(const Rounds& rounds) {
  std::vector<RoundMedian> medians;
  for (const auto& [round, values] : rounds) medians.push_back({round, *median(values)});
  return medians;
}

std::optional<Interval> interval_of(const std::vector<RoundMedian>& rounds) {
  std::vector<double> medians;
  for (const RoundMedian& round : rounds) medians.push_back(round.us);
  return round_interval(medians, k_clock_resolution_us);
}

LabelTiming label_timing(const Runs& runs, bool averaged) {
  LabelTiming label;
  label.label = runs.front()->run.label;
  label.kind = runs.front()->run.kind;
  label.averaged = averaged;
  GraphRounds rounds;
  for (const RunTrace* run : runs) {
    label.runs.push_back(run->run.id);
    (averaged ? add_averages : add_samples)(run->trace, run->run.round, rounds);
    if (run->run.peak_rss_kb) {
      label.peak_rss_kb = std::max(label.peak_rss_kb.value_or(0), *run->run.peak_rss_kb);
    }
  }
  label.rounds = round_medians(rounds.graph);
  label.graph_us = interval_of(label.rounds);
  std::vector<double> medians;
  for (const auto& [round, samples] : rounds.graph) {
    medians.push_back(*median(samples));
    label.samples_us.push_back(averaged ? std::vector<double>() : samples);
    if (!averaged) label.outliers += outlier_count(samples, k_clock_resolution_us);
  }
  label.drift_percent = drift_percent(medians);
  label.sum_of_ops_us = interval_of(round_medians(rounds.sums));
  label.overhead_us = interval_of(round_medians(rounds.overheads));
  label.load_us = median_of(runs, &ProfileRun::load_us);
  label.prepare_us = median_of(runs, &ProfileRun::prepare_us);
  label.execute_us = execute_us(runs);
  label.busy_cores = busy_cores(runs);
  return label;
}

}  // namespace timing
}  // namespace stab
