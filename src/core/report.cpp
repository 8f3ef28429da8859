// SPDX-License-Identifier: Apache-2.0
#include "stab/core/report.h"

#include <algorithm>

#include "report_words.h"
#include "stab/core/compare_report.h"
#include "text_layout.h"
#include "utf8.h"

namespace stab {
namespace {

constexpr std::size_t k_label = 12;
constexpr std::size_t k_time = 11;
constexpr std::size_t k_most_operations = 10;
constexpr std::size_t k_before_times = 19;  ///< columns of an operation's row beside its type

class Writer {
 public:
  explicit Writer(const TextStyle& style) : style_(style) {}

  void heading(const std::string& text) {
    const bool fits = text_columns(text) <= width();
    out_ += "\n" + bold(fits ? text : shorten(text, width())) + "\n";
  }
  void line(const std::string& text) { out_ += printable_utf8(text) + "\n"; }
  void bold_line(const std::string& text) { out_ += bold(text) + "\n"; }
  /// A label and a sentence that wraps under itself.
  void field(const std::string& label, const std::string& text) {
    row("  " + pad_right(label, k_label - 2), text);
  }
  /// What stands in columns, and a sentence behind it that wraps under itself.
  void row(const std::string& columns, const std::string& text) {
    const std::string clean = printable_utf8(columns);
    std::string line = clean + wrap_text(printable_utf8(text), text_columns(clean), style_.width);
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + "\n";
  }
  std::string take() { return std::move(out_); }
  bool verbose() const { return style_.verbosity > 0; }
  std::size_t width() const { return static_cast<std::size_t>(std::max(style_.width, 0)); }

 private:
  // Names in a report come from models and devices: none of them may talk to the terminal.
  std::string bold(const std::string& text) const {
    const std::string clean = printable_utf8(text);
    return style_.colour ? "\033[1m" + clean + "\033[0m" : clean;
  }

  TextStyle style_;
  std::string out_;
};

void write_context(Writer& writer, const Result& result) {
  const Context& context = result.context;
  writer.field("Package", package_words(context));
  writer.field("Device", device_words(context));
  if (context.device) {
    writer.field(
        "Runtime",
        "ONE runtime" + (context.runtime.version ? " " + *context.runtime.version : "") +
            (context.runtime.own_runner ? ", run by stab-runner" : ", run by its own runner"));
  }
  writer.field("Settings",
               count_of(static_cast<std::size_t>(result.threads), "thread") + ", " +
                   count_of(static_cast<std::size_t>(context.settings.runs), "run") +
                   " after warm-up on each backend, in " +
                   count_of(static_cast<std::size_t>(context.settings.rounds), "round"));
  const std::string before = state_words(result.state.before);
  const std::string after = state_words(result.state.after);
  if (!before.empty()) writer.field("Before", before);
  if (!after.empty()) writer.field("After", after);
}

std::optional<double> graph_median(const BackendRow& row, int threads) {
  const auto found = row.by_threads.find(threads);
  if (found == row.by_threads.end() || !found->second.graph_us) return std::nullopt;
  return found->second.graph_us->median;
}

std::optional<double> least_median(const Result& result) {
  std::optional<double> least;
  for (const BackendRow& row : result.backends) {
    const auto median = graph_median(row, result.threads);
    if (was_measured(row) && median && (!least || *median < *least)) least = median;
  }
  return least;
}

/// How much of the graph's time its operations explain, and how many samples stand apart.
std::string inside_words(const SingleTimes& times) {
  std::string text = "operations ";
  text += times.sum_of_ops_us ? render_time(*times.sum_of_ops_us) : "unknown";
  const int outliers = times.outliers.value_or(0);
  if (outliers > 0) text += ", " + count_of(static_cast<std::size_t>(outliers), "outlier");
  return text;
}

void write_backends(Writer& writer, const Result& result) {
  if (result.backends.empty()) return;
  writer.heading("Backends (whole graph while traced; median and its 95 % interval)");
  const auto least = least_median(result);
  for (const BackendRow& row : result.backends) {
    if (!was_measured(row)) {
      writer.field(row.name, std::string(to_string(row.status)) + ": " + row.reason);
      continue;
    }
    for (const auto& [threads, times] : row.by_threads) {
      std::string text;
      if (threads != result.threads)
        text = "with " + count_of(static_cast<std::size_t>(threads), "thread");
      else if (times.graph_us && least && *least > 0)
        text = times.graph_us->median <= *least
                   ? "fastest"
                   : fixed_digits(times.graph_us->median / *least, 2) + " times the fastest";
      if (row.equal == ProofStatus::fail)
        text += (text.empty() ? "" : ", ") + std::string("wrong outputs");
      if (writer.verbose()) text += (text.empty() ? "" : ", ") + inside_words(times);
      const std::string time = times.graph_us ? render_time(times.graph_us->median) : "unknown";
      writer.row("  " + pad_right(row.name, 10) + pad_left(time, 9) + "   " +
                     pad_right(interval_words(times.graph_us), 23),
                 text);
    }
  }
}

double weight(const OpRow& row) {
  const auto chosen = row.candidates.find(row.chosen);
  return chosen == row.candidates.end() ? 0 : chosen->second.us.median;
}

/// Where an operation goes, and why when that was no choice.
std::string chosen_words(const OpRow& row) {
  if (row.fixed == "control_flow") return "builtin";
  if (row.fixed == "pin") return row.chosen + " (pin)";
  return row.chosen;
}

/// The type's column gives way so that all backends' times fit, as far as it can.
std::size_t type_columns(std::size_t width, std::size_t backends) {
  constexpr std::size_t k_most = 18;
  constexpr std::size_t k_least = 12;
  const std::size_t others = k_before_times + backends * k_time;
  return std::clamp(width > others ? width - others : k_least, k_least, k_most);
}

void write_operations(Writer& writer, const Result& result) {
  std::vector<const OpRow*> rows;
  for (const OpRow& row : result.ops) rows.push_back(&row);
  if (!writer.verbose()) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const OpRow* a, const OpRow* b) { return weight(*a) > weight(*b); });
    if (rows.size() > k_most_operations) rows.resize(k_most_operations);
  }
  if (rows.empty()) return;
  writer.heading(writer.verbose() || rows.size() == result.ops.size()
                     ? "Operations (median time on each backend that can run them)"
                     : "Operations that take most time (all of them with -v)");
  std::vector<std::string> backends;
  for (const BackendRow& backend : result.backends) {
    if (was_measured(backend)) backends.push_back(backend.name);
  }
  const std::size_t all = backends.size();
  const std::size_t type_width = type_columns(writer.width(), all);
  const std::size_t room = writer.width() - std::min(writer.width(), k_before_times + type_width);
  backends.resize(std::min(all, std::max<std::size_t>(room / k_time, 1)));
  const auto columns = [&](const std::string& op, const std::string& type,
                           const std::string& chosen) {
    return "  " + pad_right(op, 7) + pad_right(shorten(type, type_width - 1), type_width) +
           pad_right(chosen, 10);
  };
  std::string head = columns("op", "type", "chosen");
  for (const std::string& backend : backends)
    head += pad_left(shorten(backend, k_time - 1), k_time);
  writer.line(head);
  for (const OpRow* row : rows) {
    std::string text = columns(to_string(row->op), row->type, chosen_words(*row));
    for (const std::string& backend : backends) {
      const auto found = row->candidates.find(backend);
      text += pad_left(found == row->candidates.end() ? "-" : render_time(found->second.us.median),
                       k_time);
    }
    writer.line(text);
  }
  if (backends.size() < all)
    writer.row("  ", "There is room for " + count_of(backends.size(), "backend") + " of " +
                         std::to_string(all) + "; --csv has them all.");
}

void write_plans(Writer& writer, const Result& result) {
  if (result.plans.empty()) return;
  std::size_t names = 0;
  for (const Plan& plan : result.plans)
    names = std::max(names, text_columns(plan_name(result, plan)));
  writer.heading(pad_right("Plans", names + 2) + pad_left("estimated", k_time) +
                 pad_left("measured", k_time));
  for (const Plan& plan : result.plans) {
    const auto time = [](const std::optional<double>& us) {
      return pad_left(us ? render_time(*us) : "-", k_time);
    };
    const auto estimate =
        plan.estimate ? std::optional(plan.estimate->total_us) : std::optional<double>();
    writer.row((plan.id == result.chosen ? "* " : "  ") +
                   pad_right(plan_name(result, plan), names) + time(estimate) +
                   time(plan.faster.median_us) + "   ",
               plan_words(result, plan));
  }
  const std::string certificate = render_certificate(result.certificate);
  if (!certificate.empty()) writer.row("  ", "Certificate of the optimum: " + certificate + ".");
  const auto any_from = [&](const char* source) {
    return std::any_of(result.transfers.begin(), result.transfers.end(),
                       [&](const TransferRow& row) { return row.source == source; });
  };
  if (any_from("prior"))
    writer.row("  ", "What copies between backends cost is assumed, not measured on this device.");
  if (any_from("measured"))
    writer.row("  ", "What copies cost was measured with too few tensors for a fit.");
}

void write_proofs(Writer& writer, const Result& result) {
  const Plan* plan = result.find_plan(result.chosen);
  if (plan == nullptr) return;
  writer.heading("Proofs of the chosen plan (*)");
  writer.field("applied", applied_words(result, *plan));
  writer.field("equal", equal_words(plan->equal));
  writer.field("faster", faster_words(result, *plan));
}

void write_comparison(Writer& writer, const Result& result) {
  if (!result.comparison) return;
  writer.heading("Against the baseline");
  writer.field("file", result.comparison->baseline);
  const std::string gate = gate_words(*result.comparison);
  writer.field("verdict", comparison_words(*result.comparison) + (gate.empty() ? "" : "; " + gate));
}

void write_left_out(Writer& writer, const Result& result) {
  if (result.left_out.empty()) return;
  writer.heading("Left out of the schedule");
  for (const LeftOutRow& row : result.left_out)
    writer.row("  " + pad_right(to_string(row.op), k_label - 2), row.wanted + ": " + row.reason);
}

void write_warnings(Writer& writer, const Result& result) {
  if (result.warnings.empty()) return;
  writer.heading("Warnings");
  for (const Warning& warning : result.warnings) writer.row("  - ", warning_words(result, warning));
}

}  // namespace

std::string render_text(const Result& result, const TextStyle& style) {
  Writer writer(style);
  writer.bold_line("stab " + result.stab.version);
  write_context(writer, result);
  write_backends(writer, result);
  write_operations(writer, result);
  write_plans(writer, result);
  write_proofs(writer, result);
  write_comparison(writer, result);
  write_left_out(writer, result);
  write_warnings(writer, result);
  writer.line("");
  if (!result.delivery.command.empty()) writer.line("Run it: " + result.delivery.command);
  writer.bold_line(render_verdict(result));
  return writer.take();
}

}  // namespace stab
