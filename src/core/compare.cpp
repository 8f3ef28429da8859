// SPDX-License-Identifier: Apache-2.0
#include "stab/core/compare.h"

#include <algorithm>

#include "core/text_layout.h"
#include "stab/core/error.h"

namespace stab {
namespace {

std::string short_hash(const std::string& hash) {
  return hash.empty() ? "unknown" : hash.substr(0, 12) + (hash.size() > 12 ? "…" : "");
}

std::string device_words(const DeviceInfo& device) {
  const std::string id = short_hash(device.id);
  return device.name ? "'" + *device.name + "' (" + id + ")" : id;
}

std::string words(const std::optional<std::string>& value) {
  return value && !value->empty() ? "'" + *value + "'" : "not given";
}

std::string words(const std::map<std::string, std::string>& values) {
  std::string text;
  for (const auto& [key, value] : values) text += (text.empty() ? "" : " ") + key + "=" + value;
  return words(std::optional(text));
}

std::string words(const std::vector<std::string>& hashes) {
  std::string text;
  for (const std::string& hash : hashes) text += (text.empty() ? "" : " ") + short_hash(hash);
  return words(std::optional(text));
}

std::string words(const std::map<std::string, std::vector<int>>& shapes) {
  std::string text;
  for (const auto& [input, dims] : shapes) {
    text += (text.empty() ? "" : " ") + input + ":";
    for (std::size_t i = 0; i < dims.size(); ++i)
      text += (i == 0 ? "" : ",") + std::to_string(dims[i]);
  }
  return words(std::optional(text));
}

/// Says "<thing> is B, it was A" where the two differ.
class Differences {
 public:
  void note(const std::string& thing, const std::string& then, const std::string& now) {
    constexpr std::size_t k_most = 100;
    if (then == now) return;
    list_.push_back(thing + " is " + shorten(now, k_most) + ", it was " + shorten(then, k_most));
  }
  std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

std::string device_id(const Context& context) {
  return context.device ? context.device->id : std::string();
}

/// Operations of one schedule by id.
const ScheduledOp* find_op(const EarlierResult& result, OpId op) {
  const auto found = std::lower_bound(result.ops.begin(), result.ops.end(), op,
                                      [](const ScheduledOp& row, OpId id) { return row.op < id; });
  return found == result.ops.end() || found->op != op ? nullptr : &*found;
}

/// The rounds of this operation in every baseline that ran it on the same backend as the last one;
/// on another backend it is another program, and shows nothing of how nights differ.
std::vector<std::vector<double>> earlier_rounds(std::span<const EarlierResult> baselines,
                                                const ScheduledOp& last) {
  std::vector<std::vector<double>> nights;
  for (const EarlierResult& baseline : baselines) {
    const ScheduledOp* op = find_op(baseline, last.op);
    if (op != nullptr && op->backend == last.backend && !op->rounds_us.empty())
      nights.push_back(op->rounds_us);
  }
  return nights;
}

void compare_operations(std::span<const EarlierResult> baselines, const EarlierResult& now,
                        double margin, Comparison& comparison) {
  std::vector<std::optional<Change>> changes;
  for (const ScheduledOp& op : now.ops) {
    const ScheduledOp* last = find_op(baselines.back(), op.op);
    if (last == nullptr || last->rounds_us.empty() || op.rounds_us.empty()) continue;
    OpChange row;
    row.op = op.op;
    row.type = op.type;
    row.then = last->backend;
    row.now = op.backend;
    row.then_us = median(last->rounds_us);
    row.now_us = median(op.rounds_us);
    changes.push_back(change_between_nights(earlier_rounds(baselines, *last), op.rounds_us,
                                            k_clock_resolution_us));
    if (changes.back()) row.delta_percent = changes.back()->percent.median;
    comparison.ops.push_back(std::move(row));
  }
  const std::vector<ChangeVerdict> verdicts = judge_together(changes, margin);
  for (std::size_t i = 0; i < verdicts.size(); ++i) comparison.ops[i].verdict = verdicts[i];
}

/// Rounds of the whole graph of every file, measured in one and the same way.
struct WholeGraph {
  ComparisonBasis basis = ComparisonBasis::none;
  std::vector<std::vector<double>> then;
  std::vector<double> now;
};

std::vector<double> traced_rounds(const EarlierResult& result, const std::string& backend) {
  const auto found = result.singles_us.find(backend);
  return found == result.singles_us.end() ? std::vector<double>() : found->second;
}

WholeGraph whole_graph(std::span<const EarlierResult> baselines, const EarlierResult& now) {
  const auto gather = [&](ComparisonBasis basis, const auto& rounds_of) {
    WholeGraph graph{basis, {}, rounds_of(now)};
    bool all = !graph.now.empty();
    for (const EarlierResult& baseline : baselines) {
      graph.then.push_back(rounds_of(baseline));
      all = all && !graph.then.back().empty();
    }
    return all ? std::optional(graph) : std::nullopt;
  };
  if (auto proofs = gather(ComparisonBasis::proofs, [](const EarlierResult& result) {
        return result.plan.faster.round_medians_us;
      }))
    return *std::move(proofs);
  const std::string backend = now.best_single.value_or(k_cpu);
  const auto traced_single = [&](const EarlierResult& result) {
    const bool alone = result.plan.placement.empty() || result.plan.kind == PlanKind::single;
    return alone && result.best_single.value_or(k_cpu) == backend ? traced_rounds(result, backend)
                                                                  : std::vector<double>();
  };
  if (auto traced = gather(ComparisonBasis::traced, traced_single)) return *std::move(traced);
  return {};
}

void refuse_twice(std::span<const EarlierResult> baselines) {
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const EarlierResult& a = baselines[j];
      const EarlierResult& b = baselines[i];
      const auto& rounds = b.plan.faster.round_medians_us;
      const bool same_rounds = rounds.size() > 1 && a.plan.faster.round_medians_us == rounds;
      const bool same_time = a.measured_at && a.measured_at == b.measured_at;
      if (a.sha256 != b.sha256 && !same_rounds && !same_time) continue;
      throw Error(ErrorKind::input, "cannot compare with", b.name,
                  "it is of the same measurement as '" + a.name +
                      "': baselines show how nights differ, so each must be of a night of its own",
                  "giving it once");
    }
  }
}

void take_change(const std::optional<Change>& change, double margin, Comparison& comparison) {
  comparison.verdict = judge_change(change, margin);
  comparison.gate = judge_gate(change, comparison.gate_percent);
  if (!change) return;
  comparison.delta_percent = change->percent;
  comparison.night_percent = change->night_percent;
}

/// Pairs say nothing of what changed beneath both schedules. Where the baseline's own is surely
/// slower tonight than its file says, by more than the gate allows, that may be the night or the
/// runtime: a gate that passed by pairs cannot tell.
void note_move(const EarlierResult& baseline, const Plan& tonight, Comparison& comparison) {
  const std::vector<std::vector<double>> then = {baseline.plan.faster.round_medians_us};
  const auto change = change_between_nights(then, tonight.faster.round_medians_us);
  if (!change) return;
  comparison.moved_percent = change->percent;
  if (comparison.gate == GateStatus::pass &&
      judge_gate(change, comparison.gate_percent) == GateStatus::fail)
    comparison.gate = GateStatus::unsure;
}

Comparison begin(std::span<const EarlierResult> baselines, const EarlierResult& now,
                 std::optional<double> gate_percent) {
  const EarlierResult& last = baselines.back();
  Comparison comparison;
  comparison.baseline = last.name;
  comparison.baseline_sha256 = last.sha256;
  comparison.gate_percent = gate_percent;
  comparison.nights = static_cast<int>(baselines.size());
  comparison.changed = what_changed({&last.context, last.threads}, {&now.context, now.threads});
  if (!same_schedule(last.plan, now.plan)) comparison.changed.push_back("the schedule is another");
  compare_operations(baselines, now, gate_percent.value_or(k_same_percent), comparison);
  return comparison;
}

}  // namespace

std::string_view to_string(ComparisonBasis basis) {
  switch (basis) {
    case ComparisonBasis::pairs:
      return "pairs";
    case ComparisonBasis::same_plan:
      return "same_plan";
    case ComparisonBasis::proofs:
      return "proofs";
    case ComparisonBasis::traced:
      return "traced";
    case ComparisonBasis::none:
      return "none";
  }
  return "none";
}

bool same_schedule(const Plan& a, const Plan& b) {
  auto keys_a = a.keys;
  auto keys_b = b.keys;
  std::sort(keys_a.begin(), keys_a.end());
  std::sort(keys_b.begin(), keys_b.end());
  return a.placement == b.placement && keys_a == keys_b;
}

std::vector<std::string> why_not_comparable(const Circumstances& then, const Circumstances& now) {
  const Context& a = *then.context;
  const Context& b = *now.context;
  Differences found;
  found.note("the model", short_hash(a.model.sha256), short_hash(b.model.sha256));
  if (device_id(a) != device_id(b))
    found.note("the device", a.device ? device_words(*a.device) : "unknown",
               b.device ? device_words(*b.device) : "unknown");
  found.note("the number of threads", std::to_string(then.threads), std::to_string(now.threads));
  found.note("--affinity", words(a.settings.affinity), words(b.settings.affinity));
  found.note("the executor", a.settings.executor, b.settings.executor);
  found.note("--warmup", std::to_string(a.settings.warmup), std::to_string(b.settings.warmup));
  found.note("--input", words(a.settings.inputs), words(b.settings.inputs));
  found.note("--shape", words(a.settings.shapes), words(b.settings.shapes));
  found.note("--set", words(a.settings.set), words(b.settings.set));
  found.note("--env", words(a.settings.env), words(b.settings.env));
  return found.take();
}

std::vector<std::string> what_changed(const Circumstances& then, const Circumstances& now) {
  const Context& a = *then.context;
  const Context& b = *now.context;
  Differences found;
  const auto runtime = [](const RuntimeInfo& info) {
    return info.version.value_or("of unknown version") + " (" + short_hash(info.sha256) + ")";
  };
  if (a.runtime.sha256 != b.runtime.sha256)
    found.note("the runtime", runtime(a.runtime), runtime(b.runtime));
  found.note("the runner", a.runtime.own_runner ? "stab-runner" : "the runtime's own",
             b.runtime.own_runner ? "stab-runner" : "the runtime's own");
  if (a.device && b.device) {
    found.note("the kernel", words(std::optional(a.device->kernel)),
               words(std::optional(b.device->kernel)));
  }
  found.note("the package's own configuration", words(a.package.config_keys),
             words(b.package.config_keys));
  // What --force let pass is a reason of a difference, too.
  std::vector<std::string> list = why_not_comparable(then, now);
  for (std::string& text : found.take()) list.push_back(std::move(text));
  return list;
}

Comparison compare_nights(std::span<const EarlierResult> baselines, const EarlierResult& now,
                          std::optional<double> gate_percent) {
  if (baselines.empty())
    throw Error(ErrorKind::internal, "cannot compare", now.name, "there is no baseline");
  refuse_twice(baselines);
  Comparison comparison = begin(baselines, now, gate_percent);
  const WholeGraph graph = whole_graph(baselines, now);
  comparison.basis = graph.basis;
  if (graph.basis != ComparisonBasis::none) {
    comparison.then_us = median(graph.then.back());
    comparison.now_us = median(graph.now);
  }
  take_change(change_between_nights(graph.then, graph.now), gate_percent.value_or(k_same_percent),
              comparison);
  return comparison;
}

Comparison compare_tonight(const EarlierResult& baseline, const EarlierResult& now,
                           const Plan& then_tonight, std::optional<double> gate_percent) {
  Comparison comparison = begin(std::span(&baseline, 1), now, gate_percent);
  const bool same = same_schedule(then_tonight, now.plan);
  comparison.basis = same ? ComparisonBasis::same_plan : ComparisonBasis::pairs;
  comparison.then_us = same ? now.plan.faster.median_us : then_tonight.faster.median_us;
  comparison.now_us = now.plan.faster.median_us;
  std::optional<Change> change;
  if (same) {
    change = Change{{0, 0, 0}, 1, std::nullopt};
  } else {
    change =
        change_in_pairs(now.plan.faster.round_medians_us, then_tonight.faster.round_medians_us);
  }
  take_change(change, gate_percent.value_or(k_same_percent), comparison);
  note_move(baseline, same ? now.plan : then_tonight, comparison);
  return comparison;
}

int gate_status(const Comparison& comparison, bool strict) {
  const bool fails =
      comparison.gate == GateStatus::fail || (comparison.gate == GateStatus::unsure && strict);
  return fails ? exit_status(ErrorKind::proof) : 0;
}

}  // namespace stab
