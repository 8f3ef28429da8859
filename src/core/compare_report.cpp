// SPDX-License-Identifier: Apache-2.0
#include "stab/core/compare_report.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text_layout.h"

namespace stab {
namespace {

constexpr std::size_t k_label = 9;
constexpr double k_largest_percent = 10000;

/// "+3.1 %"; without its sign where words tell the direction.
std::string percent(double value, bool with_sign) {
  const double size = std::fabs(value);
  if (!(size < k_largest_percent)) return "over 10000 %";
  std::string text = fixed_digits(size, size < 9.95 ? 1 : 0) + " %";
  const bool zero = size < 0.05;
  return (with_sign && !zero ? (value < 0 ? "-" : "+") : "") + text;
}

std::string range(const Interval& interval, bool with_sign, bool turned = false) {
  if (!interval.low || !interval.high) return "";
  return " (" + percent(turned ? *interval.high : *interval.low, with_sign) + " to " +
         percent(turned ? *interval.low : *interval.high, with_sign) + ")";
}

/// Where the numbers come from, and what they could not tell.
std::string basis_words(const Comparison& comparison) {
  const std::string nights =
      comparison.nights == 1 ? "one baseline does not show how nights differ"
                             : count_of(static_cast<std::size_t>(comparison.nights), "baseline");
  const std::string deviation =
      comparison.night_percent
          ? (comparison.nights == 1 ? "; reckoned with " : ": nights differ by some ") +
                percent(*comparison.night_percent, false) +
                (comparison.nights == 1 ? " from night to night" : "")
          : "";
  switch (comparison.basis) {
    case ComparisonBasis::pairs:
      return "both schedules timed tonight, in the same rounds";
    case ComparisonBasis::same_plan:
      return "the schedule is the baseline's own";
    case ComparisonBasis::proofs:
      return "rounds of the timing proofs; " + nights + deviation;
    case ComparisonBasis::traced:
      return "traced rounds (no timing proof in all files); " + nights + deviation;
    case ComparisonBasis::none:
      return "no times of the whole graph that all files have";
  }
  return "";
}

std::size_t count(const Comparison& comparison, ChangeVerdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(comparison.ops.begin(), comparison.ops.end(),
                    [&](const OpChange& change) { return change.verdict == verdict; }));
}

std::string counts_words(const Comparison& comparison) {
  std::string text;
  for (const ChangeVerdict verdict :
       {ChangeVerdict::slower, ChangeVerdict::faster, ChangeVerdict::same, ChangeVerdict::unsure}) {
    text += (text.empty() ? "" : ", ") + std::to_string(count(comparison, verdict)) + " " +
            std::string(to_string(verdict));
  }
  return text;
}

/// Changed operations, the largest change in microseconds first; with `all` every operation, in
/// order.
std::vector<const OpChange*> shown_operations(const Comparison& comparison, bool all) {
  std::vector<const OpChange*> rows;
  for (const OpChange& change : comparison.ops) {
    const bool changed =
        change.verdict == ChangeVerdict::slower || change.verdict == ChangeVerdict::faster;
    if (all || changed) rows.push_back(&change);
  }
  const auto size = [](const OpChange* change) {
    return change->now_us && change->then_us ? std::fabs(*change->now_us - *change->then_us) : 0;
  };
  if (!all) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](const OpChange* a, const OpChange* b) { return size(a) > size(b); });
  }
  return rows;
}

std::string backends_words(const OpChange& change) {
  return change.then == change.now ? change.now : change.then + " → " + change.now;
}

std::string time_or_dash(const std::optional<double>& us) {
  return us ? render_time(*us) : "-";
}

class Lines {
 public:
  explicit Lines(const TextStyle& style) : style_(style) {}
  void line(const std::string& text) { text_ += text + "\n"; }
  void field(const std::string& label, const std::string& text) {
    line("  " + pad_right(label, k_label) + " " + wrap_text(text, k_label + 3, style_.width));
  }
  std::string bold(const std::string& text) const {
    return style_.colour ? "\x1b[1m" + text + "\x1b[0m" : text;
  }
  std::string take() { return std::move(text_); }

 private:
  const TextStyle& style_;
  std::string text_;
};

void write_operations(Lines& lines, const Comparison& comparison, bool all) {
  if (comparison.ops.empty()) return;
  lines.line("");
  const std::string title = all ? "Operations" : "Operations that changed";
  lines.line(lines.bold(title) + " (at 5 % for all " + std::to_string(comparison.ops.size()) +
             " together: " + counts_words(comparison) + ")");
  const auto rows = shown_operations(comparison, all);
  if (rows.empty()) return;
  const auto columns = [](const std::array<std::string, 7>& c) {
    return "  " + pad_right(c[0], 7) + pad_right(shorten(c[1], 15), 16) +
           pad_right(shorten(c[2], 17), 18) + pad_left(c[3], 8) + pad_left(c[4], 9) +
           pad_left(c[5], 10) + "  " + c[6];
  };
  lines.line(columns({"op", "type", "backend", "then", "now", "change", "verdict"}));
  for (const OpChange* row : rows) {
    lines.line(columns({to_string(row->op), row->type, backends_words(*row),
                        time_or_dash(row->then_us), time_or_dash(row->now_us),
                        row->delta_percent ? percent(*row->delta_percent, true) : "-",
                        std::string(to_string(row->verdict))}));
  }
}

std::string verdict_line(const ComparisonReport& report) {
  const std::string gate = gate_words(report.comparison);
  return report.context.package.name + ": " + comparison_words(report.comparison) +
         (gate.empty() ? "" : "; " + gate);
}

/// A text inside a Markdown table or sentence: nothing in it may act as markup or end the cell.
std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (std::string_view("\\`*_{}[]()<>#+!|~&@").find(c) != std::string_view::npos) safe += '\\';
    safe += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return safe;
}

std::string cells(const std::vector<std::string>& texts) {
  std::string row = "|";
  for (const std::string& text : texts) row += " " + text + " |";
  return row + "\n";
}

std::string markdown_operations(const Comparison& comparison) {
  constexpr std::size_t k_most = 50;
  std::string text = "\nOperations (at 5 % for all " + std::to_string(comparison.ops.size()) +
                     " together): " + counts_words(comparison) + ".\n";
  auto rows = shown_operations(comparison, false);
  if (rows.empty()) return text;
  const std::size_t left_out = rows.size() - std::min(rows.size(), k_most);
  rows.resize(rows.size() - left_out);
  text +=
      "\n| op | type | backend | then | now | change | verdict |\n|---|---|---|--:|--:|--:|---|\n";
  for (const OpChange* row : rows) {
    text += cells({to_string(row->op), escaped(row->type), escaped(backends_words(*row)),
                   time_or_dash(row->then_us), time_or_dash(row->now_us),
                   row->delta_percent ? percent(*row->delta_percent, true) : "-",
                   std::string(to_string(row->verdict))});
  }
  if (left_out > 0) text += "\n… and " + std::to_string(left_out) + " more.\n";
  return text;
}

}  // namespace

ComparisonReport make_comparison_report(std::span<const EarlierResult> baselines,
                                        const EarlierResult& now, Comparison comparison) {
  ComparisonReport report;
  report.context = now.context;
  report.threads = now.threads;
  report.comparison = std::move(comparison);
  const auto add = [&](const EarlierResult& result) {
    const bool traced = report.comparison.basis == ComparisonBasis::traced;
    const auto single = result.singles_us.find(result.best_single.value_or(k_cpu));
    const std::vector<double> rounds = !traced ? result.plan.faster.round_medians_us
                                       : single == result.singles_us.end() ? std::vector<double>()
                                                                           : single->second;
    report.files.push_back(
        {result.name, result.sha256, result.measured_at, median(rounds), rounds.size()});
  };
  for (const EarlierResult& baseline : baselines) add(baseline);
  add(now);
  return report;
}

std::string comparison_words(const Comparison& comparison) {
  if (!comparison.delta_percent) return "unsure: " + basis_words(comparison);
  const Interval& delta = *comparison.delta_percent;
  switch (comparison.verdict) {
    case ChangeVerdict::slower:
      return percent(delta.median, false) + " slower" + range(delta, false);
    case ChangeVerdict::faster:
      return percent(delta.median, false) + " faster" + range(delta, false, true);
    case ChangeVerdict::same:
      return comparison.basis == ComparisonBasis::same_plan
                 ? "the same schedule as the baseline's"
                 : "the same, " + percent(delta.median, true) + range(delta, true);
    case ChangeVerdict::unsure:
      break;
  }
  return "unsure, " + percent(delta.median, true) +
         (delta.low ? range(delta, true) : ": one round does not tell how far rounds differ");
}

std::string change_words(const Interval& change) {
  const bool less = change.median < 0;
  return percent(change.median, false) + (less ? " less" : " more") + range(change, false, less);
}

std::string gate_words(const Comparison& comparison) {
  if (!comparison.gate_percent) return "";
  const double percents = *comparison.gate_percent;
  const std::string gate =
      "gate of " + fixed_digits(percents, percents == std::round(percents) ? 0 : 1) + " %";
  switch (comparison.gate) {
    case GateStatus::pass:
      return gate + " passed";
    case GateStatus::fail:
      return gate + " crossed";
    case GateStatus::unsure:
      if (comparison.moved_percent && comparison.moved_percent->low &&
          *comparison.moved_percent->low > percents)
        return gate + ": unsure, for the baseline's own schedule takes " +
               change_words(*comparison.moved_percent) + " tonight than in its file";
      return gate + ": too noisy to say";
    case GateStatus::none:
      break;
  }
  return "";
}

std::string render_comparison_text(const ComparisonReport& report, const TextStyle& style) {
  Lines lines(style);
  const Comparison& comparison = report.comparison;
  lines.line(lines.bold("stab " + report.stab.version + " compare"));
  lines.field("Package", report.context.package.name + ", " +
                             count_of(static_cast<std::size_t>(report.threads), "thread"));
  for (std::size_t i = 0; i < report.files.size(); ++i) {
    const ComparedFile& file = report.files[i];
    lines.field(i + 1 == report.files.size() ? "New" : "Baseline",
                file.name + ": " + time_or_dash(file.median_us) + ", " +
                    count_of(file.rounds, "round") +
                    (file.measured_at ? ", measured " + *file.measured_at : ""));
  }
  lines.field("By", basis_words(comparison));
  for (const std::string& text : comparison.changed) lines.field("Changed", text);
  write_operations(lines, comparison, style.verbosity > 0);
  lines.line("");
  lines.line(lines.bold(verdict_line(report)));
  return lines.take();
}

std::string render_comparison_markdown(const ComparisonReport& report) {
  const Comparison& comparison = report.comparison;
  std::string text = "### stab: " + escaped(report.context.package.name) + "\n\n**" +
                     comparison_words(comparison) + "**";
  const std::string gate = gate_words(comparison);
  if (!gate.empty()) text += "; " + gate;
  text += "\n\n| | file | median | rounds | measured |\n|---|---|--:|--:|---|\n";
  for (std::size_t i = 0; i < report.files.size(); ++i) {
    const ComparedFile& file = report.files[i];
    text += cells({i + 1 == report.files.size() ? "new" : "baseline", escaped(file.name),
                   time_or_dash(file.median_us), std::to_string(file.rounds),
                   escaped(file.measured_at.value_or("-"))});
  }
  text += "\nBy " + basis_words(comparison) + ".\n";
  for (const std::string& change : comparison.changed)
    text += "\n- Changed: " + escaped(change) + "\n";
  if (!comparison.ops.empty()) text += markdown_operations(comparison);
  return text;
}

}  // namespace stab
