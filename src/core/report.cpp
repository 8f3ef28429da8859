// SPDX-License-Identifier: Apache-2.0
#include "stab/core/report.h"

#include <algorithm>

#include "report_words.h"
#include "stab/core/compare_report.h"
#include "text_layout.h"

namespace stab {
namespace {

constexpr std::size_t k_label = 12;
constexpr std::size_t k_time = 11;
constexpr std::size_t k_most_operations = 10;

class Writer {
 public:
  explicit Writer(const TextStyle& style) : style_(style) {}

  void heading(const std::string& text) { out_ += "\n" + bold(text) + "\n"; }
  void line(const std::string& text) { out_ += text + "\n"; }
  /// A label and a sentence that wraps under itself.
  void field(const std::string& label, const std::string& text) {
    row("  " + pad_right(label, k_label - 2), text);
  }
  /// What stands in columns, and a sentence behind it that wraps under itself.
  void row(const std::string& columns, const std::string& text) {
    std::string line = columns + wrap_text(text, text_columns(columns), style_.width);
    line.erase(line.find_last_not_of(' ') + 1);
    out_ += line + "\n";
  }
  std::string bold(const std::string& text) const {
    return style_.colour ? "\033[1m" + text + "\033[0m" : text;
  }
  std::string take() { return std::move(out_); }
  bool verbose() const { return style_.verbosity > 0; }

 private:
  TextStyle style_;
  std::string out_;
};

std::string device_words(const Context& context) {
  if (!context.device) return "unknown (recorded traces)";
  const DeviceInfo& device = *context.device;
  int cores = 0;
  for (const CoreGroup& group : device.cores) cores += group.count;
  std::string text = device.name ? *device.name + ", " : "";
  text += device.transport == "local" ? "this machine" : device.host;
  text += ", " + device.arch;
  if (cores > 0) text += ", " + count_of(static_cast<std::size_t>(cores), "core");
  if (device.soc) text += ", " + *device.soc;
  if (device.emulated) text += " (emulated: its timings are the emulator's)";
  return text;
}

std::string package_words(const Context& context) {
  std::size_t operations = 0;
  for (const int count : context.model.op_counts) operations += static_cast<std::size_t>(count);
  std::string text = context.package.name + ": " + std::string(to_string(context.model.format)) +
                     ", " + count_of(operations, "operation");
  if (context.model.op_counts.size() > 1)
    text += " in " + std::to_string(context.model.op_counts.size()) + " subgraphs";
  return text;
}

/// What a device was doing; empty where it does not tell.
std::string state_words(const std::optional<DeviceState>& state) {
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (!state) return text;
  if (state->governor) add("governor " + *state->governor);
  if (!state->khz.empty()) {
    const auto [low, high] = std::minmax_element(state->khz.begin(), state->khz.end());
    const std::string fastest = std::to_string(*high / 1000) + " MHz";
    add(*low == *high ? fastest : std::to_string(*low / 1000) + " to " + fastest);
  }
  if (state->temperature_mc) add(std::to_string(*state->temperature_mc / 1000) + " °C");
  if (state->throttled) add(*state->throttled ? "throttled" : "not throttled");
  if (state->load1) add("load " + fixed_digits(*state->load1, 1));
  return text;
}

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

bool was_measured(const BackendRow& row) {
  return row.status == BackendStatus::used || row.status == BackendStatus::measured;
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
  const auto columns = [](const std::string& op, const std::string& type,
                          const std::string& chosen) {
    return "  " + pad_right(op, 7) + pad_right(shorten(type, 17), 18) + pad_right(chosen, 10);
  };
  std::string head = columns("op", "type", "chosen");
  for (const BackendRow& backend : result.backends) {
    if (was_measured(backend)) head += pad_left(backend.name, k_time);
  }
  writer.line(head);
  for (const OpRow* row : rows) {
    std::string text = columns(to_string(row->op), row->type, chosen_words(*row));
    for (const BackendRow& backend : result.backends) {
      if (!was_measured(backend)) continue;
      const auto found = row->candidates.find(backend.name);
      text += pad_left(found == row->candidates.end() ? "-" : render_time(found->second.us.median),
                       k_time);
    }
    writer.line(text);
  }
}

/// What a plan is, in words.
std::string plan_words(const Result& result, const Plan& plan) {
  if (plan.kind == PlanKind::today) return "the package as it is";
  for (const Plan& other : result.plans) {
    if (&other == &plan) break;
    if (other.placement == plan.placement && other.keys == plan.keys)
      return "the same as " + plan_name(result, other);
  }
  std::string text = plan.placement.empty() ? "everything on cpu"
                                            : count_of(plan.placement.size(), "operation") +
                                                  " off cpu, " + std::to_string(plan.switches) +
                                                  (plan.switches == 1 ? " switch" : " switches");
  if (!plan.copies.empty())
    text +=
        ", " + std::to_string(plan.copies.size()) + (plan.copies.size() == 1 ? " copy" : " copies");
  if (plan.applied.status == ProofStatus::fail) text += ", not applied";
  if (plan.equal.status == ProofStatus::fail) text += ", wrong outputs";
  if (plan.equal.remedy) text += ", with " + *plan.equal.remedy;
  return text;
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
  const bool assumed = std::any_of(result.transfers.begin(), result.transfers.end(),
                                   [](const TransferRow& row) { return row.source == "prior"; });
  if (assumed)
    writer.row("  ", "What copies between backends cost is assumed, not measured on this device.");
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
  writer.field("verdict", comparison_words(*result.comparison));
  const std::string gate = gate_words(*result.comparison);
  if (!gate.empty()) writer.field("gate", gate);
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
  for (const Warning& warning : result.warnings) {
    std::string text = (warning.subject.empty() ? "" : warning.subject + ": ") + warning.text;
    if (!warning.remedy.empty()) text += "; try " + warning.remedy;
    writer.row("  - ", text);
  }
}

}  // namespace

std::string render_text(const Result& result, const TextStyle& style) {
  Writer writer(style);
  writer.line(writer.bold("stab " + result.stab.version));
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
  writer.line(writer.bold(render_verdict(result)));
  return writer.take();
}

}  // namespace stab
