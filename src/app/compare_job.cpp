// SPDX-License-Identifier: Apache-2.0
#include "stab/app/compare_job.h"

#include <unistd.h>

#include <iostream>

#include "app/assemble.h"
#include "stab/core/compare_report.h"
#include "stab/core/error.h"
#include "stab/host/files.h"
#include "stab/host/progress.h"

namespace stab {
namespace {

constexpr std::uint64_t k_most_result_bytes = std::uint64_t{64} << 20;

std::string render(const Options& options, const ComparisonReport& report) {
  if (options.format == OutputFormat::json) return render_comparison_json(report);
  if (options.format == OutputFormat::markdown) return render_comparison_markdown(report);
  return render_comparison_text(report, {terminal_width(STDOUT_FILENO, 100),
                                         colours_wanted(STDOUT_FILENO), options.verbosity});
}

std::string why_not_timed(const Plan& plan) {
  if (plan.applied.status == ProofStatus::fail) return plan.applied.reason;
  if (plan.equal.status == ProofStatus::fail) return "wrong outputs: " + plan.equal.reason;
  return "no rounds of it were complete";
}

}  // namespace

EarlierResult read_earlier_result(const std::filesystem::path& file) {
  return parse_earlier_result(read_file(file, k_most_result_bytes), file.string());
}

void refuse_other_circumstances(const EarlierResult& earlier, const Circumstances& now) {
  std::string differences;
  for (const std::string& text : why_not_comparable({&earlier.context, earlier.threads}, now))
    differences += (differences.empty() ? "" : "; ") + text;
  if (differences.empty()) return;
  throw Error(ErrorKind::input, "cannot compare with", earlier.name, differences,
              "--force to compare all the same");
}

std::optional<ErrorRow> gate_error(const Comparison& comparison, bool strict) {
  if (gate_status(comparison, strict) == 0) return std::nullopt;
  const bool unsure = comparison.gate == GateStatus::unsure;
  return ErrorRow{ErrorKind::proof, "the gate failed against", comparison.baseline,
                  comparison_words(comparison) + "; " + gate_words(comparison),
                  unsure ? "more rounds (--rounds), more baselines, or without --strict" : ""};
}

void add_comparison(const EarlierResult& baseline, const EarlierResult& now, const Plan* then,
                    const Options& options, Result& result) {
  const Comparison comparison =
      then != nullptr ? compare_tonight(baseline, now, *then, options.max_regression)
                      : compare_nights(std::span(&baseline, 1), now, options.max_regression);
  const auto warn = [&](const char* id, const std::string& text, const std::string& remedy) {
    result.warnings.push_back({id, Severity::warning, baseline.name, text, remedy});
  };
  if (then != nullptr && !then->faster.median_us)
    warn("baseline_not_timed", "its schedule could not be timed: " + why_not_timed(*then), "");
  if (comparison.moved_percent) {
    const Interval& moved = *comparison.moved_percent;
    if ((moved.low && *moved.low > 0) || (moved.high && *moved.high < 0)) {
      warn("baseline_moved",
           "its own schedule takes " + change_words(moved) +
               " tonight than this file says: runtime, device or night differ",
           "stab compare with several baselines");
    }
  }
  const auto error = gate_error(comparison, options.strict);
  if (comparison.gate == GateStatus::unsure && !error)
    warn("gate_unsure", gate_words(comparison) + " (" + comparison_words(comparison) + ")",
         "more rounds (--rounds); --strict would fail here");
  result.comparison = comparison;
  if (!error) return;
  result.error = error;
  result.exit_status = exit_status(error->kind);
}

int compare(const Options& options, std::ostream& out) {
  std::vector<EarlierResult> baselines;
  for (const std::filesystem::path& file : options.results)
    baselines.push_back(read_earlier_result(file));
  const EarlierResult now = std::move(baselines.back());
  baselines.pop_back();
  for (const EarlierResult& baseline : baselines) {
    if (!options.force) refuse_other_circumstances(baseline, {&now.context, now.threads});
  }
  ComparisonReport report = make_comparison_report(
      baselines, now, compare_nights(baselines, now, options.max_regression));
  report.stab = stab_info();
  report.exit_status = gate_status(report.comparison, options.strict);
  if (options.json_file) write_file_atomically(*options.json_file, render_comparison_json(report));
  out << render(options, report);
  out.flush();
  if (const auto error = gate_error(report.comparison, options.strict)) {
    std::cerr << "stab: "
              << Error(error->kind, error->what, error->subject, error->why, error->hint).what()
              << "\n";
  } else if (report.comparison.gate == GateStatus::unsure) {
    std::cerr << "stab: warning: the gate could not tell: " << comparison_words(report.comparison)
              << "; --strict would fail here\n";
  }
  return report.exit_status;
}

}  // namespace stab
