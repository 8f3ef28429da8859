// SPDX-License-Identifier: Apache-2.0
#include "timing_warnings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>

namespace stab {
namespace {

// Half-width of a stable interval and drift that is worth a word, in percent.
constexpr double k_stable_percent = 1.0;
constexpr double k_drift_percent = 5.0;
// Cores that a run may keep busy beyond the threads asked for: tracing and the runner itself.
constexpr double k_spare_cores = 0.25;

std::string one_decimal(double value) {
  std::array<char, 64> text;
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 1);
  return error == std::errc() ? std::string(text.data(), end) : "very large";
}

void warn_about_label(const LabelTiming& label, int threads, std::vector<Warning>& warnings) {
  if (label.averaged) {
    warnings.push_back({"averages_only", Severity::warning, label.label,
                        "only averages exist, and they hold the warm-up runs",
                        "profiling again with a runtime that writes the Chrome trace"});
  }
  if (label.drift_percent && std::abs(*label.drift_percent) > k_drift_percent) {
    const bool slower = *label.drift_percent > 0;
    warnings.push_back({"drift", Severity::warning, label.label,
                        std::string("the graph's time ") + (slower ? "rose" : "fell") + " by " +
                            one_decimal(std::abs(*label.drift_percent)) +
                            " % from the first to the last round",
                        slower ? "letting the device cool down, or fixing its clock (governor)"
                               : "a longer warm-up (-w), or ending what else runs there"});
  }
  if (label.busy_cores && *label.busy_cores > threads + k_spare_cores) {
    warnings.push_back({"more_threads", Severity::warning, label.label,
                        "it keeps " + one_decimal(*label.busy_cores) +
                            " cores busy, more than the " + std::to_string(threads) +
                            (threads == 1 ? " thread" : " threads") + " asked for",
                        "--affinity, which alone holds every backend to so many cores"});
  }
  const auto half = label.graph_us ? half_width_percent(*label.graph_us) : std::nullopt;
  if (half && *half > k_stable_percent) {
    warnings.push_back({"unstable", Severity::warning, label.label,
                        "the graph's time is known to within " + one_decimal(*half) + " % only",
                        "more rounds (--rounds), an idle device, or a fixed clock (governor)"});
  }
}

void warn_about_fused(const Timings& timings, std::vector<Warning>& warnings) {
  const bool fused = std::any_of(timings.fixed.begin(), timings.fixed.end(),
                                 [](const FixedTiming& op) { return op.kind == FixedKind::fused; });
  if (fused) {
    warnings.push_back(
        {"fused_operations", Severity::warning, "traces",
         "the runtime timed sequences of operations, which cannot be scheduled one by one",
         "profiling again with OP_SEQ_MAX_NODE=1"});
  }
}

}  // namespace

void add_trace_warnings(const std::string& label, const std::vector<const RunTrace*>& runs,
                        std::vector<Warning>& warnings) {
  const bool warm_up = std::any_of(runs.begin(), runs.end(), [](const RunTrace* run) {
    return run->trace.has_samples() && run->run.runs == 0;
  });
  if (warm_up) {
    warnings.push_back(
        {"warm_up_kept",
         Severity::info,
         label,
         "the traces do not say which runs were warm-up, so these are among the samples",
         {}});
  }
  std::map<std::string, std::pair<Warning, std::size_t>> by_id;
  for (const RunTrace* run : runs) {
    for (const Warning& warning : run->trace.warnings) {
      ++by_id.try_emplace(warning.id, warning, 0).first->second.second;
    }
  }
  for (auto& [id, found] : by_id) {
    auto& [warning, times] = found;
    warning.text = warning.subject + ": " + warning.text;
    if (times > 1) warning.text += " (and the like in " + std::to_string(times - 1) + " more runs)";
    warning.subject = label;
    warnings.push_back(warning);
  }
}

void add_timing_warnings(Timings& timings) {
  for (const LabelTiming& label : timings.labels)
    warn_about_label(label, timings.threads, timings.warnings);
  warn_about_fused(timings, timings.warnings);
  std::stable_sort(timings.warnings.begin(), timings.warnings.end(),
                   [](const Warning& a, const Warning& b) {
                     return std::tie(a.subject, a.id) < std::tie(b.subject, b.id);
                   });
}

}  // namespace stab
