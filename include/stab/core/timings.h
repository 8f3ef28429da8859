// SPDX-License-Identifier: Apache-2.0
// Times of operations and graphs over all rounds of a profile, each with its interval.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/error.h"
#include "stab/core/greedy.h"
#include "stab/core/ids.h"
#include "stab/core/profile.h"
#include "stab/core/statistics.h"
#include "stab/core/trace.h"

namespace stab {

/// What the label of a single run stands for: "acl_neon" asked the backend for the operation types
/// that the list names, "acl_neon-all" for everything it can run.
struct RunLabel {
  std::string backend;
  bool all = false;

  bool operator==(const RunLabel&) const = default;
};

RunLabel parse_run_label(std::string_view label);
std::string to_string(const RunLabel& label);

/// A run as profile.json lists it with its trace, folded; a run without a usable trace has an empty
/// one.
struct RunTrace {
  ProfileRun run;
  Trace trace;
};

struct RoundMedian {
  int round = 0;
  double us = 0;

  bool operator==(const RoundMedian&) const = default;
};

/// Times of one operation on one backend in the runs of one label.
struct OpTiming {
  OpId op;
  std::string backend;
  std::string type;                ///< trace name
  std::string label;               ///< of the runs it was measured in
  RunKind kind = RunKind::single;  ///< of these runs; rounds of different kinds are no pairs
  Interval us;                     ///< median over the medians of rounds; no bounds with one round
  /// Ascending; the median of the round's samples, or its average where there are none.
  std::vector<RoundMedian> rounds;
  /// Executions of the graph behind it; 0: averages only, warm-up included.
  std::size_t samples = 0;
  std::vector<std::string> runs;  ///< ids, in the order of rounds
  std::optional<int> position;    ///< in the order of execution
};

/// Why an operation is no choice. `fused`: its time is that of a whole sequence. `builtin`:
/// something else that the runtime itself runs. `subgraph`: it belongs to another subgraph than 0.
enum class FixedKind { permute, control_flow, builtin, custom, fused, subgraph };

std::string_view to_string(FixedKind kind);

struct FixedTiming {
  FixedKind kind = FixedKind::permute;
  OpTiming timing;
  std::optional<std::int64_t> input_elements;  ///< what a Permute copies, where the trace says
};

/// One label's runs as wholes.
struct LabelTiming {
  std::string label;
  RunKind kind = RunKind::single;
  std::vector<std::string> runs;     ///< ids of the runs with a usable trace
  std::optional<Interval> graph_us;  ///< one execution of the graph, traced
  std::vector<RoundMedian> rounds;   ///< of the graph, ascending
  std::vector<std::vector<double>>
      samples_us;  ///< of the graph, for each of `rounds`; empty ones where only averages exist
  std::optional<Interval>
      sum_of_ops_us;  ///< operations of subgraph 0, Permute and control flow included
  std::optional<Interval>
      overhead_us;  ///< graph minus these; absent where averages mix several subgraphs
  std::optional<double> load_us;  ///< medians over runs
  std::optional<double> prepare_us;
  std::optional<double> execute_us;  ///< the runner's own figure: median over rounds
  /// CPU time over wall time of the timed runs, median over runs: above the threads asked for, some
  /// backend uses more.
  std::optional<double> busy_cores;
  std::optional<std::int64_t> peak_rss_kb;  ///< largest
  std::optional<double> drift_percent;
  std::size_t outliers = 0;  ///< among the samples, each round by itself
  bool averaged = false;     ///< warm-up is inside: there are no samples
};

/// All that one thread count's runs say.
struct Timings {
  int threads = 1;
  /// What decides: each operation on each backend from that backend's own single run (of the listed
  /// types where it ran there, else of all it can run). By operation, then backend. What is not
  /// here was not measured: there is no time to compare.
  std::vector<OpTiming> ops;
  /// The same operations in other runs: cpu's beside other backends, the second single run, mixes.
  /// By operation, backend, label.
  std::vector<OpTiming> in_company;
  std::vector<FixedTiming> fixed;   ///< of every label. By operation, backend, label
  std::vector<LabelTiming> labels;  ///< by kind, then label
  std::vector<Warning> warnings;    ///< by subject, then id

  /// From `ops`; null where the operation did not run on the backend.
  const OpTiming* find(OpId op, std::string_view backend) const;
  const LabelTiming* find_label(std::string_view label, RunKind kind = RunKind::single) const;
};

/// Folds the runs with `threads` threads that ended well and have a trace; others are ignored. Same
/// runs, same result, whatever their order.
Timings summarise(std::span<const RunTrace> runs, int threads);

/// The round medians of two operations in the rounds that both have, in order: for
/// paired_log_interval and paired_difference_interval.
struct PairedRounds {
  std::vector<double> a;
  std::vector<double> b;
};
PairedRounds pair_rounds(std::span<const RoundMedian> a, std::span<const RoundMedian> b);

/// What the rule of the first stab decides by: averages as they are, warm-up included.
struct AveragedRuns {
  std::vector<AveragedRun> runs;  ///< in the order of the labels asked for
  /// Each label had one run with an averaged file: the original would decide the same.
  bool one_file_each = true;
};

/// The single runs of each of `labels`, in this order; a label without a usable run, or whose graph
/// time is not known, is left out. Several rounds of a label give the mean of their averages; a run
/// without the averaged form counts with the mean of its samples.
AveragedRuns averaged_runs(std::span<const RunTrace> runs, int threads,
                           std::span<const std::string> labels);

}  // namespace stab
