// SPDX-License-Identifier: Apache-2.0
#include "app/assemble.h"

#include <algorithm>
#include <ctime>

#include "device/ssh/target.h"
#include "stab/app/version.h"

namespace stab {
namespace {

SingleTimes single_times(const LabelTiming& label) {
  SingleTimes times;
  times.graph_us = label.graph_us;
  times.samples_us = label.samples_us;
  for (const RoundMedian& round : label.rounds) times.round_medians_us.push_back(round.us);
  if (label.sum_of_ops_us) times.sum_of_ops_us = label.sum_of_ops_us->median;
  times.prepare_us = label.prepare_us;
  times.peak_rss_kb = label.peak_rss_kb;
  times.drift_percent = label.drift_percent;
  times.outliers = static_cast<int>(label.outliers);
  return times;
}

bool slower(const SingleTimes& times, const SingleTimes& than) {
  return times.graph_us && than.graph_us && times.graph_us->median > than.graph_us->median;
}

int count_on(const Timings& timings, const std::string& backend) {
  return static_cast<int>(std::count_if(timings.ops.begin(), timings.ops.end(),
                                        [&](const OpTiming& op) { return op.backend == backend; }));
}

}  // namespace

StabInfo stab_info() {
  return {k_version, k_commit};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

ModelInfo model_info(const Job& job) {
  ModelInfo info;
  info.file = job.package().manifest.model;
  info.sha256 = job.package().model_sha256;
  info.format = job.model.format;
  for (const Subgraph& graph : job.model.subgraphs)
    info.op_counts.push_back(static_cast<int>(graph.operations.size()));
  return info;
}

namespace {

std::map<std::string, std::vector<int>> shapes_by_name(const Job& job) {
  std::map<std::string, std::vector<int>> shapes;
  const Subgraph& graph = job.model.subgraphs.at(0);
  for (const auto& [input, dims] : job.shapes) {
    const int tensor = graph.inputs.at(static_cast<std::size_t>(input));
    shapes[graph.tensors.at(static_cast<std::size_t>(tensor)).name] = dims;
  }
  return shapes;
}

/// "in 1x224x224x3, mask 1x1"
std::string shapes_text(const std::map<std::string, std::vector<int>>& shapes) {
  std::string text;
  for (const auto& [input, dims] : shapes) {
    text += (text.empty() ? "" : ", ") + input + " ";
    for (std::size_t i = 0; i < dims.size(); ++i)
      text += (i == 0 ? "" : "x") + std::to_string(dims[i]);
  }
  return text.empty() ? "those of the model" : text;
}

}  // namespace

Settings settings_of(const Options& options, const Job& job) {
  Settings settings;
  settings.warmup = options.warmup;
  settings.runs = options.runs;
  settings.rounds = options.rounds;
  settings.affinity = options.affinity;
  const auto executor = options.set.find("EXECUTOR");
  if (executor != options.set.end()) settings.executor = executor->second;
  settings.seeds = job.seeds;
  settings.inputs = job.input_hashes;
  settings.shapes = shapes_by_name(job);
  settings.set = options.set;
  settings.env = options.env;
  return settings;
}

std::string why_not_of(const Context& recorded, const Job& job, const Options& options) {
  const std::string model = job.package().model_sha256;
  if (recorded.model.sha256 != model) {
    return "they are of model " + recorded.model.sha256.substr(0, 12) +
           "… and the package holds model " + model.substr(0, 12) + "…";
  }
  const auto shapes = shapes_by_name(job);
  if (recorded.settings.shapes != shapes) {
    return "they are of the input shapes " + shapes_text(recorded.settings.shapes) +
           " and asked for is " + shapes_text(shapes);
  }
  if (!recorded.device) return {};
  const DeviceInfo& device = *recorded.device;
  if (options.device_name && device.name.value_or("") != *options.device_name) {
    return "they are of the device " + device.name.value_or(device.host + " (without a name)") +
           " and asked for is " + *options.device_name;
  }
  if (options.ip.empty()) return {};
  const bool here = device.transport == "local";
  // Known by the name that it was called: the same device by another name needs --force.
  const bool same =
      here == (options.ip == "local") &&
      (here || parse_ssh_target(device.host).host == parse_ssh_target(options.ip).host);
  if (same) return {};
  return "they are of " +
         (here ? "the machine " + device.host + ", made with --ip local,"
               : "the device " + device.host) +
         " and asked for is " + options.ip;
}

ProfileRun profile_run(const MeasuredRun& run) {
  const TrialOutcome& outcome = run.outcome;
  ProfileRun row;
  row.id = run.id;
  row.kind = run.kind;
  row.label = run.label;
  row.threads = run.threads;
  row.round = run.round;
  row.order = run.order;
  row.traced = run.trial.traced;
  row.warmup = run.trial.warmup;
  row.runs = run.trial.runs;
  row.keys = {run.trial.keys.begin(), run.trial.keys.end()};
  row.placement = run.placement;
  row.status = outcome.status;
  row.exit = outcome.exit;
  row.signal = outcome.signal;
  if (!outcome.reason.empty()) row.reason = outcome.reason;
  row.averaged = outcome.averaged_file;
  row.chrome = outcome.chrome_file;
  row.log = outcome.log_file;
  row.load_us = outcome.load_us;
  row.prepare_us = outcome.prepare_us;
  if (outcome.mean_us || !outcome.samples_us.empty()) {
    row.execute = ExecuteTimes{outcome.mean_us, outcome.min_us, outcome.max_us, outcome.geomean_us,
                               outcome.samples_us};
  }
  row.cpu_time_us = outcome.cpu_time_us;
  row.peak_rss_kb = outcome.peak_rss_kb;
  row.before = outcome.before;
  row.after = outcome.after;
  return row;
}

std::vector<BackendRow> backend_rows(const std::vector<Single>& singles,
                                     const std::map<int, Timings>& timings) {
  std::vector<BackendRow> rows;
  for (const Single& single : singles) {
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const BackendRow& other) { return other.name == single.backend; });
    if (row == rows.end()) {
      BackendRow fresh;
      fresh.name = single.backend;
      rows.push_back(std::move(fresh));
      row = std::prev(rows.end());
    }
    for (const auto& [threads, all] : timings) {
      row->ops_run = std::max(row->ops_run, count_on(all, single.backend));
      const LabelTiming* label = all.find_label(single.label);
      if (label == nullptr) continue;
      const SingleTimes times = single_times(*label);
      const auto known = row->by_threads.find(threads);
      if (known == row->by_threads.end() || slower(known->second, times))
        row->by_threads[threads] = times;
    }
  }
  return rows;
}

Noise noise_of(const Timings& timings) {
  Noise noise;
  const LabelTiming* best = nullptr;
  for (const LabelTiming& label : timings.labels) {
    if (label.kind != RunKind::single || !label.graph_us) continue;
    if (best == nullptr || label.graph_us->median < best->graph_us->median) best = &label;
  }
  if (best == nullptr) return noise;
  std::vector<double> medians;
  for (const RoundMedian& round : best->rounds) medians.push_back(round.us);
  noise.between_rounds_percent = between_rounds_percent(medians);
  noise.half_width_percent = half_width_percent(*best->graph_us);
  if (noise.half_width_percent) noise.stable = *noise.half_width_percent <= 1;
  return noise;
}

void add_conditions(const LoadedProfile& loaded, bool affinity_given, Result& result) {
  std::vector<RunConditions> runs;
  for (const RunTrace& trace : loaded.runs) {
    const ProfileRun& run = trace.run;
    runs.push_back({run.label, run.threads, run.before, run.after});
  }
  Conditions conditions = judge_conditions(runs, result.context.device, affinity_given);
  result.state = std::move(conditions.state);
  result.warnings.insert(result.warnings.end(), conditions.warnings.begin(),
                         conditions.warnings.end());
}

void take_proofs(ProofOutcome&& outcome, Result& result) {
  result.plans = std::move(outcome.plans);
  result.chosen = outcome.chosen;
  result.baseline = outcome.baseline;
  result.delivery = outcome.delivery;
  result.summary.today_us = outcome.today_us;
  result.summary.speedup = outcome.speedup;
  result.summary.speedup_over_today = outcome.speedup_over_today;
  result.summary.beyond_noise = outcome.beyond_noise;
  for (const auto& [backend, status] : outcome.single_equal) {
    for (BackendRow& row : result.backends) {
      if (row.name == backend) row.equal = status;
    }
  }
  result.warnings.insert(result.warnings.end(), outcome.warnings.begin(), outcome.warnings.end());
  if (result.chosen.empty()) {
    result.error = ErrorRow{ErrorKind::proof, "cannot prove any schedule of",
                            result.context.package.name, outcome.refusal, ""};
  }
}

void finish_choice(const Plan& chosen, const Decision& decision, Result& result) {
  const auto company = decision.in_company(chosen.placement);
  for (OpRow& row : result.ops) {
    row.chosen = row.op.subgraph == 0 ? backend_of(chosen.placement, row.op) : k_cpu;
    const auto found = company.find(row.op);
    if (found != company.end()) row.in_company_us = found->second;
  }
  for (BackendRow& row : result.backends) {
    if (row.status != BackendStatus::measured) continue;
    const bool used = std::any_of(result.ops.begin(), result.ops.end(),
                                  [&](const OpRow& op) { return op.chosen == row.name; });
    if (used) row.status = BackendStatus::used;
  }
  Summary& summary = result.summary;
  const auto note_skipped = [&](bool skipped, const char* name) {
    if (skipped && std::find(summary.skipped_proofs.begin(), summary.skipped_proofs.end(), name) ==
                       summary.skipped_proofs.end()) {
      summary.skipped_proofs.emplace_back(name);
    }
  };
  note_skipped(chosen.applied.status == ProofStatus::skipped, "applied");
  note_skipped(
      chosen.equal.status == ProofStatus::skipped || chosen.equal.status == ProofStatus::unsure,
      "equal");
  note_skipped(chosen.faster.status == FasterStatus::skipped, "faster");
  summary.median_us = chosen.faster.median_us;
  const Plan* single = result.find_plan(result.baseline);
  if (single != nullptr) {
    summary.baseline_us = single->faster.median_us;
    const bool pinned = std::any_of(result.ops.begin(), result.ops.end(),
                                    [](const OpRow& op) { return op.fixed == "pin"; });
    result.all_on_one_backend =
        single->placement == chosen.placement && (!pinned || chosen.placement.empty());
  }
  if (summary.speedup_over_today && summary.speedup_over_today->high &&
      *summary.speedup_over_today->high < 1) {
    result.warnings.push_back({"slower_than_today", Severity::warning, result.context.package.name,
                               "the package as it is runs faster than with " +
                                   std::to_string(result.threads) +
                                   (result.threads == 1 ? " thread" : " threads") +
                                   ": the runtime's own default may use more of them",
                               "-n with the number of cores"});
  }
  const bool known = summary.median_us || chosen.estimate;
  result.outcome = summary.skipped_proofs.empty() && chosen.applied.status == ProofStatus::pass
                       ? Outcome::proven
                       : (known ? Outcome::estimated : Outcome::written_only);
}

}  // namespace stab
