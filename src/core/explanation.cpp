// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stab/core/report.h"
#include "text_layout.h"
#include "utf8.h"

namespace stab {
namespace {

std::string percent_text(double value) {
  return fixed_digits(value, 1) + " %";
}

/// "+1.20 ms", "-35 us"
std::string change_text(double us) {
  return (us < 0 ? "-" : "+") + render_time(us < 0 ? -us : us);
}

/// What each other backend would change about the whole plan, least first.
std::string alternatives(const OpRow& row) {
  const auto here = row.in_company_us.find(row.chosen);
  if (here == row.in_company_us.end()) return row.fixed ? "fixed: " + *row.fixed : "no time";
  std::vector<std::pair<double, std::string>> others;
  for (const auto& [backend, us] : row.in_company_us) {
    if (backend != row.chosen) others.emplace_back(us - here->second, backend);
  }
  std::sort(others.begin(), others.end());
  std::string text;
  for (const auto& [change, backend] : others)
    text += (text.empty() ? "" : ", ") + backend + " " + change_text(change);
  if (text.empty()) text = row.fixed && *row.fixed == "pin" ? "pinned" : "nowhere else";
  return text;
}

void write_operations(const Result& result, const TextStyle& style, std::string& out) {
  out += "\nOperations, and what the whole plan would change by if only this one moved\n";
  for (const OpRow& row : result.ops) {
    const auto time = row.candidates.find(row.chosen);
    std::string line = "  " + pad_right(to_string(row.op), 8) +
                       pad_right(printable_utf8(row.type), 18) +
                       pad_right(printable_utf8(row.chosen), 10);
    line += pad_right(time == row.candidates.end() ? "-" : render_time(time->second.us.median), 10);
    const std::size_t indent = line.size();
    out += line + wrap_text(alternatives(row), indent, style.width) + "\n";
  }
}

void write_copies(const Result& result, const Plan& plan, std::string& out) {
  out += "\nCopies that it pays\n";
  if (plan.copies.empty()) out += "  none: its backends hand tensors over without a copy\n";
  for (const PlanCopy& copy : plan.copies) {
    out += "  tensor " + pad_right(to_string(copy.tensor), 8) +
           pad_right(copy.from + " to " + copy.to, 24) + render_time(copy.cost_us) + "\n";
  }
  for (const TransferRow& row : result.transfers) {
    const std::string text = fixed_digits(row.latency_us, 0) + " us + bytes / (" +
                             fixed_digits(row.bytes_per_us, 0) + " bytes per us), " + row.source;
    out += "  " + pad_right(row.from + " to " + row.to, 24) + text +
           (row.points > 0 ? ", " + std::to_string(row.points) + " points" : "") + "\n";
  }
}

void write_causes(const Result& result, std::string& out) {
  if (result.causes.empty()) return;
  out += "\nOperations that cause most switches\n";
  const std::size_t count = std::min<std::size_t>(result.causes.size(), 10);
  for (std::size_t i = 0; i < count; ++i) {
    const CauseRow& cause = result.causes[i];
    out += "  " + pad_right(to_string(cause.op), 8) + std::to_string(cause.switches) +
           (cause.switches == 1 ? " switch" : " switches") +
           (cause.copies_us > 0 ? ", copies of " + render_time(cause.copies_us) : "") + "\n";
  }
}

}  // namespace

std::string render_certificate(const CertificateRow& row) {
  if (row.status == "none" || !row.cost_us) return "";
  std::string text = row.status == "optimal" ? "optimal for the measured costs"
                                             : "within " + percent_text(100 * row.gap.value_or(0)) +
                                                   " of the optimum for the measured costs";
  text += " (" + row.method + ", width " + std::to_string(row.width) + ", " +
          std::to_string(row.states) + " states)";
  if (row.prediction_error_percent)
    text += ", prediction off by " + percent_text(*row.prediction_error_percent);
  return text;
}

std::string render_explanation(const Result& result, const TextStyle& style) {
  std::string out = "stab explain: " + printable_utf8(result.context.package.name) + ", " +
                    std::to_string(result.threads) +
                    (result.threads == 1 ? " thread" : " threads") + "\n\n";
  const Plan* plan = result.find_plan(result.chosen);
  if (plan == nullptr) return out + "no plan\n";
  out += "Plan      " + std::string(to_string(plan->kind)) + ": " +
         std::to_string(plan->placement.size()) + " operations off cpu, " +
         std::to_string(plan->switches) + " switches, " + std::to_string(plan->copies.size()) +
         " copies\n";
  if (plan->estimate) {
    out += "Estimate  " + render_time(plan->estimate->total_us) + ": operations " +
           render_time(plan->estimate->ops_us) + ", copies " +
           render_time(plan->estimate->copies_us) + ", overhead " +
           render_time(plan->estimate->overhead_us) + "\n";
  }
  const std::string certificate = render_certificate(result.certificate);
  if (!certificate.empty()) out += "Optimum   " + wrap_text(certificate, 10, style.width) + "\n";
  write_operations(result, style, out);
  write_copies(result, *plan, out);
  write_causes(result, out);
  return out;
}

}  // namespace stab
