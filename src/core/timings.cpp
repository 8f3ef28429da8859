// SPDX-License-Identifier: Apache-2.0
#include "stab/core/timings.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "timing_rounds.h"
#include "timing_warnings.h"

namespace stab {
namespace {

using timing::Rounds;
using timing::Runs;

constexpr std::string_view k_all_suffix = "-all";

struct OpInRuns {
  OpTiming timing;
  std::optional<FixedKind> fixed;
  std::optional<std::int64_t> input_elements;
};

// Every operation of one label's runs on every backend it ran on there.
std::vector<OpInRuns> op_timings(const Runs& runs, bool averaged) {
  std::map<std::pair<OpId, std::string>, std::pair<OpInRuns, Rounds>> found;
  for (const RunTrace* run : runs) {
    for (const OpTrace& op : run->trace.ops) {
      std::vector<double> values = op.samples_us;
      if (values.empty() && op.apart_us) values.push_back(*op.apart_us);
      if (values.empty() && averaged && op.averaged) values.push_back(op.averaged->mean_us);
      if (values.empty()) continue;
      auto& [entry, rounds] = found[{op.op, op.backend}];
      OpTiming& timing = entry.timing;
      timing.op = op.op;
      timing.backend = op.backend;
      timing.type = op.type;
      timing.label = run->run.label;
      timing.kind = run->run.kind;
      timing.samples += op.samples_us.size();
      timing.runs.push_back(run->run.id);
      timing.position = op.position;
      entry.fixed = timing::fixed_kind(op);
      entry.input_elements = op.input_elements();
      auto& pool = rounds[run->run.round];
      pool.insert(pool.end(), values.begin(), values.end());
    }
  }
  std::vector<OpInRuns> list;
  for (auto& [key, value] : found) {
    OpTiming& timing = value.first.timing;
    timing.rounds = timing::round_medians(value.second);
    timing.us = *timing::interval_of(timing.rounds);
    list.push_back(std::move(value.first));
  }
  return list;
}

// The runs that count, by kind and label, each group in the order of rounds.
std::map<std::pair<RunKind, std::string>, Runs> group(std::span<const RunTrace> runs, int threads) {
  std::map<std::pair<RunKind, std::string>, Runs> groups;
  for (const RunTrace& run : runs) {
    const bool usable = run.run.status == RunStatus::ok && run.run.traced &&
                        run.run.threads == threads && !run.trace.ops.empty();
    if (usable) groups[{run.run.kind, run.run.label}].push_back(&run);
  }
  for (auto& [key, list] : groups) {
    std::sort(list.begin(), list.end(), [](const RunTrace* a, const RunTrace* b) {
      return std::tie(a->run.round, a->run.order, a->run.id) <
             std::tie(b->run.round, b->run.order, b->run.id);
    });
  }
  return groups;
}

// Rounds with samples are not mixed with averages, which hold the warm-up.
bool keep_best_form(Runs& runs) {
  const auto has_samples = [](const RunTrace* run) { return run->trace.has_samples(); };
  if (std::none_of(runs.begin(), runs.end(), has_samples)) return true;
  std::erase_if(runs, [&](const RunTrace* run) { return !has_samples(run); });
  return false;
}

auto order_of(const OpTiming& timing) {
  return std::tie(timing.op, timing.backend, timing.label);
}

// Of the two single runs of a backend the listed one comes first; the other fills its gaps.
void choose_own(std::vector<OpTiming> own, Timings& timings) {
  std::sort(own.begin(), own.end(), [](const OpTiming& a, const OpTiming& b) {
    return std::tuple(a.op, a.backend, parse_run_label(a.label).all) <
           std::tuple(b.op, b.backend, parse_run_label(b.label).all);
  });
  for (OpTiming& timing : own) {
    const bool taken = !timings.ops.empty() && timings.ops.back().op == timing.op &&
                       timings.ops.back().backend == timing.backend;
    (taken ? timings.in_company : timings.ops).push_back(std::move(timing));
  }
}

}  // namespace

RunLabel parse_run_label(std::string_view label) {
  const bool all = label.size() > k_all_suffix.size() && label.ends_with(k_all_suffix);
  if (all) label.remove_suffix(k_all_suffix.size());
  return {std::string(label), all};
}

std::string to_string(const RunLabel& label) {
  return label.all ? label.backend + std::string(k_all_suffix) : label.backend;
}

Timings summarise(std::span<const RunTrace> runs, int threads) {
  Timings timings;
  timings.threads = threads;
  std::vector<OpTiming> own;
  for (auto& [key, group_runs] : group(runs, threads)) {
    const bool averaged = keep_best_form(group_runs);
    const auto& [kind, label] = key;
    const std::string backend = parse_run_label(label).backend;
    timings.labels.push_back(timing::label_timing(group_runs, averaged));
    for (OpInRuns& op : op_timings(group_runs, averaged)) {
      const bool is_own = kind == RunKind::single && op.timing.backend == backend;
      if (op.fixed) {
        timings.fixed.push_back({*op.fixed, std::move(op.timing), op.input_elements});
      } else {
        (is_own ? own : timings.in_company).push_back(std::move(op.timing));
      }
    }
    add_trace_warnings(label, group_runs, timings.warnings);
  }
  choose_own(std::move(own), timings);
  std::stable_sort(timings.in_company.begin(), timings.in_company.end(),
                   [](const OpTiming& a, const OpTiming& b) { return order_of(a) < order_of(b); });
  std::stable_sort(timings.fixed.begin(), timings.fixed.end(),
                   [](const FixedTiming& a, const FixedTiming& b) {
                     return order_of(a.timing) < order_of(b.timing);
                   });
  add_timing_warnings(timings);
  return timings;
}

const OpTiming* Timings::find(OpId op, std::string_view backend) const {
  const auto found =
      std::lower_bound(ops.begin(), ops.end(), std::pair(op, backend),
                       [](const OpTiming& timing, const auto& wanted) {
                         return std::pair(timing.op, std::string_view(timing.backend)) < wanted;
                       });
  return found != ops.end() && found->op == op && found->backend == backend ? &*found : nullptr;
}

const LabelTiming* Timings::find_label(std::string_view label, RunKind kind) const {
  const auto found = std::find_if(labels.begin(), labels.end(), [&](const LabelTiming& timing) {
    return timing.label == label && timing.kind == kind;
  });
  return found == labels.end() ? nullptr : &*found;
}

PairedRounds pair_rounds(std::span<const RoundMedian> a, std::span<const RoundMedian> b) {
  PairedRounds paired;
  auto other = b.begin();
  for (const RoundMedian& round : a) {
    while (other != b.end() && other->round < round.round) ++other;
    if (other == b.end()) break;
    if (other->round != round.round) continue;
    paired.a.push_back(round.us);
    paired.b.push_back(other->us);
  }
  return paired;
}

}  // namespace stab
