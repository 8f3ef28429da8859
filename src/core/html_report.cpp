// SPDX-License-Identifier: Apache-2.0
#include "core/html_page.h"
#include "core/html_sections.h"
#include "core/markup.h"
#include "core/report_words.h"
#include "core/text_layout.h"
#include "stab/core/compare_report.h"
#include "stab/core/report.h"

namespace stab {
namespace {

std::string ratio_words(const Interval& speedup) {
  std::string text = fixed_digits(speedup.median, 2) + "×";
  if (speedup.low && speedup.high) {
    text += " (" + fixed_digits(*speedup.low, 2) + " to " + fixed_digits(*speedup.high, 2) + ")";
  }
  return text;
}

void add_tile(const std::string& value, const std::string& what, HtmlPage& page) {
  page.markup("<div class=\"tile\"><b>" + escape_markup(value) + "</b><span>" +
              escape_markup(what) + "</span></div>\n");
}

void add_tiles(const Result& result, HtmlPage& page) {
  const Summary& summary = result.summary;
  const Plan* plan = result.find_plan(result.chosen);
  page.markup("<div class=\"tiles\">\n");
  if (summary.median_us)
    add_tile(render_time(*summary.median_us), "median of the chosen plan", page);
  else if (plan != nullptr && plan->estimate)
    add_tile(render_time(plan->estimate->total_us), "estimate of the chosen plan", page);
  if (summary.speedup) {
    add_tile(fixed_digits(summary.speedup->median, 2) + "×",
             "of the best single backend's speed" +
                 (summary.baseline_us ? " (" + render_time(*summary.baseline_us) + ")" : ""),
             page);
  }
  if (summary.speedup_over_today) {
    add_tile(
        fixed_digits(summary.speedup_over_today->median, 2) + "×",
        "of today's speed" + (summary.today_us ? " (" + render_time(*summary.today_us) + ")" : ""),
        page);
  }
  if (plan != nullptr && !result.ops.empty())
    add_tile(std::to_string(plan->placement.size()) + " of " + std::to_string(result.ops.size()),
             "operations off cpu", page);
  page.markup("</div>\n");
}

std::string verdict_kind(const Result& result) {
  switch (result.outcome) {
    case Outcome::proven:
      return "verdict";
    case Outcome::estimated:
    case Outcome::written_only:
      return "verdict doubt";
    default:
      return "verdict bad";
  }
}

void add_head(const Result& result, HtmlPage& page) {
  page.markup("<header><h1>" + escape_markup(result.context.package.name) + "</h1>\n<p class=\"" +
              "soft\">stab " + escape_markup(result.stab.version) +
              (result.measured_at ? ", measured at " + escape_markup(*result.measured_at) : "") +
              "</p></header>\n");
  page.paragraph(render_verdict(result), verdict_kind(result));
  if (!result.error) return;
  const ErrorRow& error = *result.error;
  page.paragraph(Error(error.kind, error.what, error.subject, error.why, error.hint).what(),
                 "verdict bad");
}

void add_context(const Result& result, HtmlPage& page) {
  const Context& context = result.context;
  if (context.model.sha256.empty()) return;
  std::vector<std::pair<std::string, std::string>> terms = {{"Package", package_words(context)},
                                                            {"Device", device_words(context)}};
  if (context.runtime.version) terms.emplace_back("Runtime", "ONE " + *context.runtime.version);
  terms.emplace_back("Threads", std::to_string(result.threads));
  terms.emplace_back("Runs",
                     std::to_string(context.settings.runs) + " on each backend, in " +
                         count_of(static_cast<std::size_t>(context.settings.rounds), "round"));
  terms.emplace_back("Decided by", result.algorithm);
  if (result.summary.speedup)
    terms.emplace_back("Gain", ratio_words(*result.summary.speedup) + " the best single backend");
  if (result.summary.speedup_over_today)
    terms.emplace_back("Over today", ratio_words(*result.summary.speedup_over_today));
  page.open_card("What was measured");
  page.terms(terms);
  page.close_card();
}

void add_conditions_card(const Result& result, HtmlPage& page) {
  const std::string before = state_words(result.state.before);
  const std::string after = state_words(result.state.after);
  if (result.backends.empty() && before.empty() && after.empty()) return;
  page.open_card("What the device was doing");
  std::vector<std::pair<std::string, std::string>> terms;
  if (!before.empty()) terms.emplace_back("Before", before);
  if (!after.empty()) terms.emplace_back("After", after);
  if (result.noise.between_rounds_percent) {
    terms.emplace_back("Rounds differ", fixed_digits(*result.noise.between_rounds_percent, 1) +
                                            " % (standard deviation)");
  }
  if (terms.empty())
    page.paragraph("Not known.");
  else
    page.terms(terms);
  for (const std::string& moved : result.state.moved) page.paragraph(moved, "soft");
  page.close_card();
}

void add_proof(const std::string& name, std::string_view status, const std::string& words,
               HtmlPage& page) {
  const bool good = status == "pass" || status == "faster" || status == "same";
  const bool bad = status == "fail" || status == "slower";
  page.markup("<li><p><span class=\"badge " +
              std::string(good  ? "good"
                          : bad ? "bad"
                                : "doubt") +
              "\">" + escape_markup(name) + "</span></p><p>" + escape_markup(words) +
              "</p></li>\n");
}

void add_proofs(const Result& result, HtmlPage& page) {
  const Plan* plan = result.find_plan(result.chosen);
  if (plan == nullptr) return;
  page.open_card("Proofs of the chosen plan");
  page.markup("<ul>\n");
  add_proof("applied", to_string(plan->applied.status), applied_words(result, *plan), page);
  add_proof("equal", to_string(plan->equal.status), equal_words(plan->equal), page);
  add_proof("faster", to_string(plan->faster.status), faster_words(result, *plan), page);
  page.markup("</ul>\n");
  page.close_card();
}

void add_warnings_card(const Result& result, HtmlPage& page) {
  if (result.warnings.empty()) return;
  page.open_card("Warnings");
  page.markup("<ul>\n");
  for (const Warning& warning : result.warnings) {
    const std::string subject = warning_subject(result, warning);
    page.markup("<li><p>" +
                (subject.empty() ? std::string() : "<b>" + escape_markup(subject) + "</b>: ") +
                escape_markup(warning.text) + "</p>");
    if (!warning.remedy.empty())
      page.markup("<p class=\"soft\">Try " + escape_markup(warning.remedy) + "</p>");
    page.markup("</li>\n");
  }
  page.markup("</ul>\n");
  page.close_card();
}

void add_left_out(const Result& result, HtmlPage& page) {
  if (result.left_out.empty()) return;
  std::vector<std::vector<std::string>> rows;
  for (const LeftOutRow& row : result.left_out)
    rows.push_back({to_string(row.op), row.wanted, row.reason});
  page.open_card("Left out of the schedule");
  page.table("Left out of the schedule", {"operation", "wanted", "reason"}, rows, 3);
  page.close_card();
}

void add_comparison(const Result& result, HtmlPage& page) {
  if (!result.comparison) return;
  const Comparison& comparison = *result.comparison;
  const auto percent = [](double value) {
    return (value > 0 ? "+" : "") + fixed_digits(value, 1) + " %";
  };
  page.open_card("Compared with the earlier result");
  const std::string gate = gate_words(comparison);
  page.paragraph(comparison_words(comparison) + (gate.empty() ? "" : "; " + gate));
  std::vector<std::vector<std::string>> rows;
  for (const OpChange& change : comparison.ops) {
    rows.push_back({to_string(change.op), change.type, std::string(to_string(change.verdict)),
                    change.delta_percent ? percent(*change.delta_percent) : "–"});
  }
  if (!rows.empty())
    page.table("Operations compared", {"operation", "type", "verdict", "change"}, rows, 3);
  page.close_card();
}

void add_command(const Result& result, HtmlPage& page) {
  if (result.delivery.command.empty()) return;
  page.open_card("Run it");
  page.markup("<pre tabindex=\"0\">" + escape_markup(result.delivery.command) + "</pre>\n");
  page.close_card();
}

}  // namespace

std::string render_html(const Result& result) {
  HtmlPage page;
  add_head(result, page);
  add_tiles(result, page);
  page.markup("<div class=\"two\">\n");
  add_context(result, page);
  add_proofs(result, page);
  page.markup("</div>\n");
  add_backends(result, page);
  add_plans(result, page);
  add_operations(result, page);
  add_comparison(result, page);
  page.markup("<div class=\"two\">\n");
  add_samples(result, page);
  add_copies(result, page);
  page.markup("</div>\n<div class=\"two\">\n");
  add_conditions_card(result, page);
  add_warnings_card(result, page);
  page.markup("</div>\n");
  add_left_out(result, page);
  add_command(result, page);
  return page.finish("stab: " + result.context.package.name);
}

}  // namespace stab
