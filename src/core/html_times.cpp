// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/html_charts.h"
#include "core/html_sections.h"
#include "core/markup.h"
#include "core/report_words.h"
#include "core/text_layout.h"
#include "stab/core/report.h"

namespace stab {
namespace {

constexpr std::size_t k_most_operations = 10;
constexpr double k_headroom = 1.04;

std::string time_or_dash(const std::optional<double>& us) {
  return us ? render_time(*us) : "–";
}

/// Backends keep their colour in all charts: the order of the result.
int colour_of(const Result& result, const std::string& backend) {
  for (std::size_t i = 0; i < result.backends.size(); ++i) {
    if (result.backends[i].name == backend) return static_cast<int>(i);
  }
  return 0;
}

double upper(const Interval& us) {
  return std::max(us.median, us.high.value_or(us.median));
}

std::string title_of(const std::string& name, const Interval& us) {
  const std::string range = interval_words(us);
  return name + ": " + render_time(us.median) + (range.empty() ? "" : " (" + range + ")");
}

std::string threads_words(const Result& result, int threads) {
  return result.threads == threads ? ""
                                   : ", " + count_of(static_cast<std::size_t>(threads), "thread");
}

std::vector<Bar> backend_bars(const Result& result) {
  std::vector<Bar> bars;
  for (const BackendRow& row : result.backends) {
    if (!was_measured(row)) continue;
    for (const auto& [threads, times] : row.by_threads) {
      if (!times.graph_us) continue;
      const std::string name = row.name + threads_words(result, threads);
      bars.push_back({name, title_of(name, *times.graph_us), render_time(times.graph_us->median),
                      interval_words(times.graph_us), *times.graph_us, std::nullopt,
                      colour_of(result, row.name), false});
    }
  }
  return bars;
}

double full_scale(const std::vector<Bar>& bars) {
  double full = 0;
  for (const Bar& bar : bars) full = std::max({full, upper(bar.us), bar.tick_us.value_or(0)});
  return full * k_headroom;
}

void add_bars(const std::vector<Bar>& bars, HtmlPage& page) {
  const double full = full_scale(bars);
  for (const Bar& bar : bars) page.markup(render_bar(bar, full));
}

/// The colour of a plan in its bar: of its backend where it has only one.
int plan_colour(const Result& result, const Plan& plan) {
  if (plan.placement.empty()) return colour_of(result, k_cpu);
  const std::string& backend = plan.placement.begin()->second;
  const bool one = plan.kind == PlanKind::single;
  return one ? colour_of(result, backend) : static_cast<int>(result.backends.size());
}

bool repeats_another(const Result& result, const Plan& plan) {
  return plan_words(result, plan).starts_with("the same as ");
}

/// What of an operation takes longest in the plan.
double weight(const OpRow& op) {
  const auto chosen = op.candidates.find(op.chosen);
  return chosen == op.candidates.end() ? 0 : chosen->second.us.median;
}

std::string op_title(const OpRow& op) {
  std::string text = "<p><b>" + escape_markup(to_string(op.op)) + "</b> " + escape_markup(op.type);
  if (!op.name.empty()) text += " <span class=\"soft\">" + escape_markup(op.name) + "</span>";
  if (op.fixed) {
    text += " <span class=\"badge\">" +
            escape_markup(*op.fixed == "pin" ? "pinned" : "no choice: " + *op.fixed) + "</span>";
  }
  return text + "</p>\n";
}

void add_operation(const Result& result, const OpRow& op, double full, HtmlPage& page) {
  page.markup("<div class=\"op\">" + op_title(op));
  for (const BackendRow& backend : result.backends) {
    const auto found = op.candidates.find(backend.name);
    if (found == op.candidates.end()) continue;
    const bool chosen = op.chosen == backend.name;
    page.markup(
        render_bar({backend.name + (chosen ? " ✓" : ""), title_of(backend.name, found->second.us),
                    render_time(found->second.us.median), "", found->second.us, std::nullopt,
                    colour_of(result, backend.name), chosen},
                   full));
  }
  page.markup("</div>\n");
}

void add_operation_table(const Result& result, HtmlPage& page) {
  std::vector<std::string> head = {"operation", "type", "first output", "chosen"};
  for (const BackendRow& backend : result.backends) {
    if (was_measured(backend)) head.push_back(backend.name);
  }
  std::vector<std::vector<std::string>> rows;
  for (const OpRow& op : result.ops) {
    std::vector<std::string> row = {to_string(op.op), op.type, op.name, op.chosen};
    for (const BackendRow& backend : result.backends) {
      if (!was_measured(backend)) continue;
      const auto found = op.candidates.find(backend.name);
      row.push_back(found == op.candidates.end() ? "–" : render_time(found->second.us.median));
    }
    rows.push_back(std::move(row));
  }
  page.open_details("All " + count_of(result.ops.size(), "operation") + " as a table");
  page.table("Operations", head, rows, 4);
  page.close_details();
}

void add_legend(const Result& result, HtmlPage& page) {
  std::string text = "<div class=\"legend\">";
  for (const BackendRow& backend : result.backends) {
    if (!was_measured(backend)) continue;
    text += "<span><svg aria-hidden=\"true\"><rect class=\"f" +
            std::to_string(colour_of(result, backend.name) % 6) +
            "\" width=\"100%\" height=\"100%\" rx=\"2\"/></svg>" + escape_markup(backend.name) +
            "</span>";
  }
  page.markup(text + "<span class=\"soft\">✓ chosen</span></div>\n");
}

std::vector<double> flat(const std::vector<std::vector<double>>& rounds) {
  std::vector<double> all;
  for (const std::vector<double>& round : rounds) all.insert(all.end(), round.begin(), round.end());
  return all;
}

/// What the samples of a histogram are of, and the samples.
struct Series {
  std::string name;
  std::vector<double> samples_us;
  int colour = 0;
};

/// The plans' own timings where they were made, else the backends' traced runs.
std::vector<Series> all_series(const Result& result) {
  std::vector<Series> series;
  for (const Plan& plan : result.plans) {
    const bool wanted =
        plan.id == result.chosen || plan.id == result.baseline || plan.kind == PlanKind::today;
    std::vector<double> samples = flat(plan.faster.samples_us);
    if (wanted && !samples.empty()) {
      series.push_back({plan_name(result, plan) + (plan.id == result.chosen ? " (chosen)" : ""),
                        std::move(samples), plan_colour(result, plan)});
    }
  }
  if (!series.empty()) return series;
  for (const BackendRow& row : result.backends) {
    const auto times = row.by_threads.find(result.threads);
    if (times == row.by_threads.end()) continue;
    std::vector<double> samples = flat(times->second.samples_us);
    if (!samples.empty())
      series.push_back({row.name + " (traced)", std::move(samples), colour_of(result, row.name)});
  }
  return series;
}

}  // namespace

void add_backends(const Result& result, HtmlPage& page) {
  if (result.backends.empty()) return;
  page.open_card("Backends");
  page.paragraph("Whole graph on each backend, traced: median and its 95 % interval.", "soft");
  add_bars(backend_bars(result), page);
  std::vector<std::vector<std::string>> rows;
  for (const BackendRow& row : result.backends) {
    if (!was_measured(row)) {
      page.markup(
          "<p class=\"soft\">" +
          escape_markup(row.name + " " + std::string(to_string(row.status)) + ": " + row.reason) +
          "</p>\n");
      continue;
    }
    for (const auto& [threads, times] : row.by_threads) {
      rows.push_back({row.name + threads_words(result, threads),
                      row.equal ? std::string(to_string(*row.equal)) : "–",
                      std::to_string(row.ops_run),
                      times.graph_us ? render_time(times.graph_us->median) : "–",
                      time_or_dash(times.sum_of_ops_us), time_or_dash(times.prepare_us),
                      times.drift_percent ? fixed_digits(*times.drift_percent, 1) + " %" : "–",
                      times.outliers ? std::to_string(*times.outliers) : "–"});
    }
  }
  page.open_details("As a table");
  page.table("Backends",
             {"backend", "outputs equal cpu's", "operations", "graph", "sum of operations",
              "prepare", "drift", "outliers"},
             rows, 2);
  page.close_details();
  page.close_card();
}

void add_plans(const Result& result, HtmlPage& page) {
  if (result.plans.empty()) return;
  page.open_card("Plans");
  std::vector<Bar> bars;
  bool measured = false;
  for (const Plan& plan : result.plans) {
    const auto estimate =
        plan.estimate ? std::optional(plan.estimate->total_us) : std::optional<double>();
    const auto us = plan.faster.median_us ? plan.faster.median_us : estimate;
    const bool chosen = plan.id == result.chosen;
    if (!us || (repeats_another(result, plan) && !chosen)) continue;
    measured = measured || plan.faster.median_us;
    const std::string name = plan_name(result, plan) + (chosen ? " ✓" : "");
    const std::string what = plan.faster.median_us ? "" : " estimated";
    bars.push_back({name, name + ": " + render_time(*us) + what, render_time(*us) + what,
                    plan_words(result, plan), Interval{*us, {}, {}},
                    plan.faster.median_us ? estimate : std::nullopt, plan_colour(result, plan),
                    chosen});
  }
  page.paragraph(measured ? "Whole inference, untraced, as measured; the dashed line is what was "
                            "estimated."
                          : "Whole inference, as estimated.",
                 "soft");
  add_bars(bars, page);
  const std::string certificate = render_certificate(result.certificate);
  if (!certificate.empty()) page.paragraph("Certificate of the optimum: " + certificate + ".");
  std::vector<std::vector<std::string>> rows;
  for (const Plan& plan : result.plans) {
    rows.push_back({plan_name(result, plan), plan_words(result, plan),
                    time_or_dash(plan.estimate ? std::optional(plan.estimate->total_us)
                                               : std::optional<double>()),
                    time_or_dash(plan.faster.median_us), std::to_string(plan.switches),
                    std::to_string(plan.copies.size())});
  }
  page.open_details("As a table");
  page.table("Plans", {"plan", "what it is", "estimated", "measured", "switches", "copies"}, rows,
             2);
  page.close_details();
  page.close_card();
}

void add_operations(const Result& result, HtmlPage& page) {
  if (result.ops.empty()) return;
  std::vector<const OpRow*> rows;
  double full = 0;
  for (const OpRow& op : result.ops) {
    rows.push_back(&op);
    for (const auto& [backend, candidate] : op.candidates)
      full = std::max(full, upper(candidate.us));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const OpRow* a, const OpRow* b) { return weight(*a) > weight(*b); });
  const std::size_t shown = std::min(rows.size(), k_most_operations);
  page.open_card("Operations");
  page.paragraph(shown < rows.size() ? "Those that take most time in the plan; all follow below."
                                     : "Each with the backends that can run it.",
                 "soft");
  add_legend(result, page);
  for (std::size_t i = 0; i < shown; ++i) add_operation(result, *rows[i], full * k_headroom, page);
  if (shown < rows.size()) {
    page.open_details("All " + count_of(rows.size(), "operation") + " in order");
    for (const OpRow& op : result.ops) add_operation(result, op, full * k_headroom, page);
    page.close_details();
  }
  add_operation_table(result, page);
  page.close_card();
}

void add_samples(const Result& result, HtmlPage& page) {
  const std::vector<Series> series = all_series(result);
  std::vector<std::vector<double>> samples;
  for (const Series& one : series) samples.push_back(one.samples_us);
  const auto scale = make_scale(samples);
  if (!scale) return;
  page.open_card("Samples");
  page.paragraph("How often an inference took how long, on one scale.", "soft");
  for (const Series& one : series) {
    const std::string middle = render_time(*median(one.samples_us));
    const std::string words =
        one.name + ": " + count_of(one.samples_us.size(), "run") + ", median " + middle;
    page.markup("<figure class=\"histogram\"><figcaption>" + escape_markup(words) +
                "</figcaption>\n");
    page.markup(render_histogram(count_samples(*scale, one.samples_us),
                                 "Histogram of " + words + ", from " + render_time(scale->low) +
                                     " to " + render_time(scale->high),
                                 one.colour));
    page.markup("<div class=\"axis\"><span>" + render_time(scale->low) + "</span><span>" +
                render_time((scale->low + scale->high) / 2) + "</span><span>" +
                render_time(scale->high) + "</span></div></figure>\n");
  }
  page.close_card();
}

void add_copies(const Result& result, HtmlPage& page) {
  const Plan* plan = result.find_plan(result.chosen);
  if (plan == nullptr) return;
  page.open_card("Copies paid");
  std::vector<std::vector<std::string>> rows;
  for (const PlanCopy& copy : plan->copies) {
    const auto tensor = std::find_if(result.tensors.begin(), result.tensors.end(),
                                     [&](const TensorRow& row) { return row.id == copy.tensor; });
    const bool sized = tensor != result.tensors.end() && tensor->bytes;
    rows.push_back({to_string(copy.tensor), copy.from + " → " + copy.to,
                    sized ? std::to_string(*tensor->bytes) : "–", render_time(copy.cost_us)});
  }
  if (rows.empty())
    page.paragraph("None: the backends of the plan hand tensors over without a copy.");
  else
    page.table("Copies paid", {"tensor", "from → to", "bytes", "cost"}, rows, 2);
  if (std::any_of(result.transfers.begin(), result.transfers.end(),
                  [](const TransferRow& row) { return row.source == "prior"; }) &&
      !rows.empty())
    page.paragraph("What a copy costs is assumed, not measured on this device.", "soft");
  page.close_card();
}

}  // namespace stab
