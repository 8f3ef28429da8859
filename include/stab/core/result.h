// SPDX-License-Identifier: Apache-2.0
// Everything one job found out, as one value: all reports and documents are made from it and from
// nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stab/core/change.h"
#include "stab/core/context.h"
#include "stab/core/error.h"
#include "stab/core/plan.h"
#include "stab/core/statistics.h"

namespace stab {

/// What was measured of one operation on one backend (own single run of that backend).
struct OpCandidate {
  Interval us;
  int samples = 0;
  int rounds = 0;
  std::vector<double> round_medians_us;
  std::vector<std::string> runs;
};

struct OpRow {
  OpId op;
  std::string type;                ///< trace name; the schema's name where no trace name is known
  std::optional<std::string> key;  ///< OP_BACKEND_ name
  std::string name;                ///< first output tensor
  std::vector<TensorId> in;
  std::vector<TensorId> out;
  std::vector<OpId> after;
  std::optional<std::string> fixed;  ///< control_flow, custom, no_candidate, pin, subgraph
  std::map<std::string, OpCandidate> candidates;
  std::string chosen;
  std::map<std::string, double> in_company_us;
};

struct TensorRow {
  TensorId id;
  std::string dtype;
  std::vector<std::int32_t> shape;
  std::optional<std::uint64_t> bytes;
  bool constant = false;
  bool input = false;
  bool output = false;
};

struct TransferRow {
  std::string from;
  std::string to;
  double latency_us = 0;
  double bytes_per_us = 0;
  int points = 0;
  std::optional<double> residual_us;
  std::string source;  ///< measured, fitted, prior
};

struct CertificateRow {
  std::string status = "none";  ///< optimal, bounded, none
  std::optional<double> cost_us;
  std::optional<double> bound_us;
  std::optional<double> gap;
  std::string method;
  int width = 0;
  std::uint64_t states = 0;
  std::optional<double> prediction_error_percent;
};

/// How the schedule reaches the runtime.
struct Delivery {
  std::optional<std::string> works;  ///< config, env, api, none_needed
  std::optional<bool> tried_config;
  std::optional<bool> tried_env;
  std::optional<bool> tried_api;
  std::string command;  ///< runs the written package with its schedule
  std::string available_backends;
  std::string per_operation;
};

/// An operation and the switches that are there because of where it is.
struct CauseRow {
  OpId op;
  int switches = 0;
  double copies_us = 0;
};

struct LeftOutRow {
  OpId op;
  std::string wanted;
  std::string reason;
};

/// One backend as a single, for one number of threads.
struct SingleTimes {
  std::optional<Interval> graph_us;
  std::vector<std::vector<double>> samples_us;  ///< per round
  std::vector<double> round_medians_us;
  std::optional<double> sum_of_ops_us;
  std::optional<double> prepare_us;
  std::optional<std::int64_t> peak_rss_kb;
  std::optional<double> drift_percent;
  std::optional<int> outliers;
};

enum class BackendStatus { used, measured, missing, failed, refused };
std::string_view to_string(BackendStatus status);

struct BackendRow {
  std::string name;
  BackendStatus status = BackendStatus::measured;
  std::string reason;
  int ops_run = 0;
  std::optional<ProofStatus> equal;
  std::map<int, SingleTimes> by_threads;
};

struct Summary {
  std::optional<std::string> package_path;
  std::optional<double> median_us;
  std::optional<double> baseline_us;
  std::optional<double> today_us;
  std::optional<Interval> speedup;  ///< over the best single backend
  std::optional<Interval> speedup_over_today;
  std::optional<bool> beyond_noise;
  std::vector<std::string> skipped_proofs;
};

struct Noise {
  std::optional<double> between_rounds_percent;
  std::optional<double> half_width_percent;
  std::optional<bool> stable;
};

struct StateReport {
  std::optional<DeviceState> before;
  std::optional<DeviceState> after;
  std::vector<std::string> moved;
};

/// One operation where each of two schedules puts it.
struct OpChange {
  OpId op;
  std::string type;
  std::string then;  ///< backend
  std::string now;   ///< backend
  ChangeVerdict verdict = ChangeVerdict::unsure;
  std::optional<double> then_us, now_us;
  std::optional<double> delta_percent;
};

/// What the verdict on the whole graph was made from.
enum class ComparisonBasis {
  pairs,      ///< both plans timed in the same rounds
  same_plan,  ///< one and the same plan
  proofs,     ///< rounds of the timing proofs of different nights
  traced,     ///< traced rounds of a single backend, of different nights
  none        ///< nothing that all of them have
};
std::string_view to_string(ComparisonBasis basis);

/// Against an earlier result.
struct Comparison {
  std::string baseline;  ///< file
  std::string baseline_sha256;
  ComparisonBasis basis = ComparisonBasis::none;
  ChangeVerdict verdict = ChangeVerdict::unsure;
  std::optional<double> then_us, now_us;
  std::optional<Interval> delta_percent;  ///< +10: 10 % slower than the baseline
  std::optional<double> gate_percent;
  GateStatus gate = GateStatus::none;
  /// By pairs: what the baseline's own schedule takes tonight against what its file says.
  std::optional<Interval> moved_percent;
  std::optional<double> night_percent;  ///< night-to-night deviation that was reckoned with
  int nights = 0;                       ///< baselines
  std::vector<std::string> changed;     ///< circumstances that differ
  std::vector<OpChange> ops;
};

struct Stage {
  std::string name;
  double host_s = 0;        ///< by our clock, from its beginning to its end
  double device_s = 0;      ///< of these, that commands on the device took
  std::uint64_t bytes = 0;  ///< sent there and brought back
};

struct WrittenFile {
  std::string path;
  std::string sha256;
};

enum class Outcome { proven, estimated, written_only, refused, failed, interrupted };
std::string_view to_string(Outcome outcome);

struct ErrorRow {
  ErrorKind kind = ErrorKind::internal;
  std::string what, subject, why, hint;
};

struct Result {
  StabInfo stab;
  int exit_status = 0;
  Outcome outcome = Outcome::failed;
  std::optional<ErrorRow> error;
  std::optional<std::string> measured_at;
  std::optional<std::string> profile_sha256;
  Context context;
  bool all_on_one_backend = false;
  std::vector<BackendRow> backends;
  int threads = 1;
  std::string algorithm = "exact";
  std::string chosen;    ///< plan id
  std::string baseline;  ///< plan id of the best single backend
  std::optional<double> overhead_us;
  std::vector<OpRow> ops;
  std::vector<TensorRow> tensors;
  std::vector<TransferRow> transfers;
  std::vector<Plan> plans;
  CertificateRow certificate;
  Delivery delivery;
  std::vector<LeftOutRow> left_out;
  std::vector<CauseRow>
      causes;  ///< of the chosen plan's switches, most first; for explanations only
  Summary summary;
  Noise noise;
  StateReport state;
  std::optional<Comparison> comparison;
  std::vector<Stage> stages;
  std::optional<std::vector<WrittenFile>> written;
  std::vector<Warning> warnings;

  const Plan* find_plan(const std::string& id) const;
};

/// result document (`--format json`, `--json FILE`).
std::string render_result(const Result& result);

/// stab.json: the record in `metadata/` of the written package. `with_proofs` false leaves out what
/// the proofs find, so that what was staged on the device and what is written differ in that record
/// alone.
std::string render_schedule(const Result& result, bool with_proofs);

/// What stab.json of an earlier run says and later runs need.
struct Schedule {
  std::string model_sha256;
  int threads = 1;
  std::string algorithm;
  Plan chosen;                       ///< kind `previous`, with its keys and placement
  std::vector<Plan> singles;         ///< the single backends it was compared with
  std::optional<std::string> works;  ///< config, env, api or none_needed
};

/// Reads a stab.json. Throws Error(input) naming `name` and the place; unknown fields are ignored.
Schedule parse_schedule(const std::string& text, const std::string& name);

}  // namespace stab
