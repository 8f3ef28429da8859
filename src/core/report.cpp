// SPDX-License-Identifier: Apache-2.0
#include "stab/core/report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace stab {
namespace {

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

/// Columns that a UTF-8 text takes; all our characters are one column wide.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string pad(std::string text, std::size_t width) {
  const std::size_t used = columns(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t used = columns(text);
  return used < width ? std::string(width - used, ' ') + text : text;
}

class Writer {
 public:
  explicit Writer(const TextStyle& style) : style_(style) {}

  void heading(const std::string& text) { out_ += "\n" + bold(text) + "\n"; }
  void line(const std::string& text) { out_ += text + "\n"; }
  /// A label and a sentence that wraps under itself.
  void field(const std::string& label, const std::string& text) {
    constexpr std::size_t k_label = 12;
    out_ += "  " + pad(label, k_label - 2) + wrap_text(text, k_label, style_.width) + "\n";
  }
  std::string bold(const std::string& text) const {
    return style_.colour ? "\033[1m" + text + "\033[0m" : text;
  }
  std::string take() { return std::move(out_); }
  const TextStyle& style() const { return style_; }

 private:
  TextStyle style_;
  std::string out_;
};

std::string render_interval(const std::optional<Interval>& interval) {
  if (!interval || !interval->low || !interval->high) return "";
  return render_time(*interval->low) + " to " + render_time(*interval->high);
}

std::string percent(double ratio) {
  return fixed(std::fabs(ratio - 1) * 100, std::fabs(ratio - 1) < 0.0995 ? 1 : 0) + " %";
}

std::string device_text(const Context& context) {
  if (!context.device) return "unknown (recorded traces)";
  const DeviceInfo& device = *context.device;
  int cores = 0;
  for (const CoreGroup& group : device.cores) cores += group.count;
  std::string text = device.name ? *device.name + ", " : "";
  text += device.transport == "local" ? "this machine" : device.host;
  text += ", " + device.arch;
  if (cores > 0) text += ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
  if (device.soc && !device.emulated) text += ", " + *device.soc;
  if (device.emulated) text += " (emulated: its timings are the emulator's)";
  return text;
}

void write_context(Writer& writer, const Result& result) {
  const Context& context = result.context;
  int operations = 0;
  for (const int count : context.model.op_counts) operations += count;
  std::string package = context.package.name + ": " + std::string(to_string(context.model.format)) +
                        ", " + std::to_string(operations) + " operations";
  if (context.model.op_counts.size() > 1)
    package += " in " + std::to_string(context.model.op_counts.size()) + " subgraphs";
  writer.field("Package", package);
  writer.field("Device", device_text(context));
  if (context.device) {
    std::string runtime =
        "ONE runtime" + (context.runtime.version ? " " + *context.runtime.version : std::string());
    runtime += context.runtime.own_runner ? ", run by stab-runner" : ", run by its own runner";
    writer.field("Runtime", runtime);
  }
  writer.field("Settings",
               std::to_string(result.threads) + (result.threads == 1 ? " thread, " : " threads, ") +
                   std::to_string(context.settings.rounds) + " rounds, " +
                   std::to_string(context.settings.runs) + " runs after warm-up on each backend");
}

const BackendRow* best_single(const Result& result) {
  const Plan* plan = result.find_plan(result.baseline);
  if (plan == nullptr) return nullptr;
  const std::string name = plan->backend.value_or(k_cpu);
  for (const BackendRow& row : result.backends) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::optional<double> graph_median(const BackendRow& row, int threads) {
  const auto found = row.by_threads.find(threads);
  if (found == row.by_threads.end() || !found->second.graph_us) return std::nullopt;
  return found->second.graph_us->median;
}

void write_backends(Writer& writer, const Result& result) {
  writer.heading("Backends (whole graph while traced)");
  const BackendRow* best = best_single(result);
  const auto reference = best != nullptr ? graph_median(*best, result.threads) : std::nullopt;
  for (const BackendRow& row : result.backends) {
    if (row.status == BackendStatus::missing || row.status == BackendStatus::failed ||
        row.status == BackendStatus::refused) {
      writer.field(row.name, std::string(to_string(row.status)) + ": " + row.reason);
      continue;
    }
    for (const auto& [threads, times] : row.by_threads) {
      std::string text =
          times.graph_us ? pad(render_time(times.graph_us->median), 10) : pad("unknown", 10);
      text += pad(render_interval(times.graph_us), 24);
      if (threads != result.threads)
        text += "with " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
      else if (best == &row)
        text += "best single backend";
      else if (times.graph_us && reference && *reference > 0) {
        const double ratio = times.graph_us->median / *reference;
        text +=
            ratio >= 1 ? fixed(ratio, 2) + " times the best" : "less than the best while traced";
      }
      writer.line("  " + pad(row.name, 10) + text);
    }
  }
}

double weight(const OpRow& row) {
  const auto chosen = row.candidates.find(row.chosen);
  return chosen == row.candidates.end() ? 0 : chosen->second.us.median;
}

void write_operations(Writer& writer, const Result& result) {
  std::vector<const OpRow*> rows;
  for (const OpRow& row : result.ops) rows.push_back(&row);
  const bool all = writer.style().verbosity > 0;
  if (!all) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const OpRow* a, const OpRow* b) { return weight(*a) > weight(*b); });
    if (rows.size() > 10) rows.resize(10);
  }
  if (rows.empty()) return;
  writer.heading(all ? "Operations" : "Operations that take most time");
  std::string head = "  " + pad("op", 8) + pad("type", 18) + pad("chosen", 10);
  for (const BackendRow& row : result.backends) {
    if (row.status == BackendStatus::used || row.status == BackendStatus::measured)
      head += pad_left(row.name, 12);
  }
  writer.line(head);
  for (const OpRow* row : rows) {
    std::string text =
        "  " + pad(to_string(row->op), 8) + pad(row->type, 18) + pad(row->chosen, 10);
    for (const BackendRow& backend : result.backends) {
      if (backend.status != BackendStatus::used && backend.status != BackendStatus::measured)
        continue;
      const auto found = row->candidates.find(backend.name);
      text +=
          pad_left(found == row->candidates.end() ? "-" : render_time(found->second.us.median), 12);
    }
    if (row->fixed && *row->fixed != "no_candidate") text += "  fixed: " + *row->fixed;
    writer.line(text);
  }
}

std::string plan_name(const Plan& plan) {
  if (plan.kind == PlanKind::single) return "all on " + plan.backend.value_or(k_cpu);
  if (plan.kind == PlanKind::optimum) return "optimum";
  if (plan.kind == PlanKind::averse) return "noise-averse";
  return std::string(to_string(plan.kind));
}

void write_plans(Writer& writer, const Result& result) {
  if (result.plans.empty()) return;
  writer.heading("Plans");
  for (const Plan& plan : result.plans) {
    std::string text =
        pad(plan.faster.median_us
                ? render_time(*plan.faster.median_us)
                : (plan.estimate ? render_time(plan.estimate->total_us) : std::string("-")),
            10);
    text += pad(plan.faster.median_us ? "measured" : (plan.estimate ? "estimated" : ""), 11);
    text += std::to_string(plan.placement.size()) + " ops off cpu, " +
            std::to_string(plan.switches) + " switches";
    if (!plan.copies.empty()) text += ", " + std::to_string(plan.copies.size()) + " copies";
    if (plan.applied.status == ProofStatus::fail) text += ", not applied";
    if (plan.equal.status == ProofStatus::fail) text += ", wrong outputs";
    if (plan.equal.remedy) text += ", with " + *plan.equal.remedy;
    if (plan.id == result.chosen) text += "  <- chosen";
    writer.line("  " + pad(plan_name(plan), 16) + text);
  }
}

std::string applied_text(const Result& result, const Plan& plan) {
  if (plan.applied.status == ProofStatus::skipped) return "skipped";
  if (plan.applied.status == ProofStatus::fail) return "fail: " + plan.applied.reason;
  const std::string works = result.delivery.works.value_or("none_needed");
  if (works == "config")
    return "pass: the package alone is enough (the runtime reads its config.cfg)";
  if (works == "env")
    return "pass: by the environment of metadata/stab.env (this runtime ignores backends in the "
           "package's config)";
  if (works == "api")
    return "pass: by the C API only (this runtime ignores the package's config and the "
           "environment)";
  return "pass: nothing has to be delivered, cpu is the runtime's own default";
}

std::string equal_text(const Plan& plan) {
  const EqualProof& proof = plan.equal;
  std::string text(to_string(proof.status));
  if (proof.status == ProofStatus::skipped)
    return text + (proof.reason.empty() ? "" : ": " + proof.reason);
  double largest = 0;
  for (const EqualProof::Output& output : proof.outputs)
    largest = std::max(largest, output.max_rel);
  text += ": " + std::to_string(proof.outputs.size()) +
          (proof.outputs.size() == 1 ? " output" : " outputs");
  if (!proof.seeds.empty()) text += ", " + std::to_string(proof.seeds.size()) + " seeds";
  std::array<char, 32> number{};
  std::snprintf(number.data(), number.size(), "%.2g", largest);
  text += ", largest difference to cpu " + std::string(number.data()) + " of the largest value";
  if (proof.remedy) text += "; cured by " + *proof.remedy;
  if (!proof.guilty.empty())
    text += "; " + std::to_string(proof.guilty.size()) + " operations moved back to cpu";
  if (!proof.reason.empty()) text += "; " + proof.reason;
  return text;
}

std::string faster_text(const Plan& plan) {
  const FasterProof& proof = plan.faster;
  if (proof.status == FasterStatus::skipped) return "skipped";
  std::string text(to_string(proof.status));
  if (proof.median_us) text += ": " + render_time(*proof.median_us);
  if (proof.delta_us && !proof.against.empty() && proof.against != plan.id) {
    text += ", " + render_time(std::fabs(proof.delta_us->median)) +
            (proof.delta_us->median <= 0 ? " less" : " more") + " than the best single backend";
    const std::string range = render_interval(proof.delta_us);
    if (!range.empty()) text += " (" + range + ")";
  } else {
    text += ", it is the best single backend";
  }
  return text;
}

void write_proofs(Writer& writer, const Result& result) {
  const Plan* plan = result.find_plan(result.chosen);
  if (plan == nullptr) return;
  writer.heading("Proofs");
  const std::string certificate = render_certificate(result.certificate);
  if (!certificate.empty()) writer.field("optimum", certificate);
  writer.field("applied", applied_text(result, *plan));
  writer.field("equal", equal_text(*plan));
  writer.field("faster", faster_text(*plan));
}

void write_warnings(Writer& writer, const Result& result) {
  if (result.warnings.empty()) return;
  writer.heading("Warnings");
  for (const Warning& warning : result.warnings) {
    std::string text = (warning.subject.empty() ? "" : warning.subject + ": ") + warning.text;
    if (!warning.remedy.empty()) text += "; try " + warning.remedy;
    writer.line("  - " + wrap_text(text, 4, writer.style().width));
  }
}

/// "12.3 % faster than X (10.1 % to 14.0 %)", "3.2 times slower than X (…)", "within noise of X".
std::string gain_text(const std::optional<Interval>& speedup, const std::string& over) {
  if (!speedup) return "";
  const bool sure = speedup->low && speedup->high && (*speedup->low > 1 || *speedup->high < 1);
  if (!sure) return "within noise of " + over;
  const bool faster = speedup->median > 1;
  const double middle = faster ? speedup->median : 1 / speedup->median;
  const double low = faster ? *speedup->low : 1 / *speedup->high;
  const double high = faster ? *speedup->high : 1 / *speedup->low;
  const std::string word = faster ? " faster than " : " slower than ";
  if (middle >= 2) {
    return fixed(middle, 1) + " times" + word + over + " (" + fixed(low, 1) + " to " +
           fixed(high, 1) + ")";
  }
  return percent(middle) + word + over + " (" + percent(low) + " to " + percent(high) + ")";
}

}  // namespace

std::string wrap_text(const std::string& text, std::size_t indent, int width) {
  const std::size_t limit = std::max<std::size_t>(static_cast<std::size_t>(width), indent + 20);
  std::string out;
  std::size_t column = indent;
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = text.find(' ', start);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(start, end - start);
    if (column > indent && column + 1 + columns(word) > limit) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns(word);
    start = end + 1;
  }
  return out;
}

std::string render_time(double us) {
  const double magnitude = std::fabs(us);
  double value = us;
  const char* unit = " us";
  if (magnitude >= 1e6) {
    value = us / 1e6;
    unit = " s";
  } else if (magnitude >= 1e3) {
    value = us / 1e3;
    unit = " ms";
  }
  const double shown = std::fabs(value);
  const int decimals = shown >= 99.95 || (unit == std::string_view(" us"))
                           ? (shown < 9.95 && shown > 0 ? 1 : 0)
                           : (shown >= 9.995 ? 1 : 2);
  return fixed(value, decimals) + unit;
}

std::string render_verdict(const Result& result) {
  const Plan* plan = result.find_plan(result.chosen);
  const std::string where = result.summary.package_path.value_or("nothing");
  std::string text;
  if (result.outcome == Outcome::proven)
    text = "proven";
  else if (result.outcome == Outcome::estimated)
    text = "estimated";
  else if (result.outcome == Outcome::written_only)
    text = "written only";
  else
    return std::string(to_string(result.outcome)) + ": nothing was written";
  if (!result.summary.skipped_proofs.empty()) {
    text += " (skipped:";
    for (const std::string& proof : result.summary.skipped_proofs) text += " " + proof;
    text += ")";
  }
  text += ": wrote " + where;
  const Plan* single = result.find_plan(result.baseline);
  if (result.all_on_one_backend && plan != nullptr) {
    const std::string backend =
        plan->placement.empty()
            ? k_cpu
            : (single != nullptr ? single->backend.value_or(k_cpu) : "one backend");
    text += backend == k_cpu ? ", everything on cpu is best"
                             : ", everything that " + backend + " can run on it is best";
  } else {
    const std::string gain = gain_text(result.summary.speedup, "the best single backend");
    if (!gain.empty()) text += ", " + gain;
  }
  const std::string today = gain_text(result.summary.speedup_over_today, "today");
  if (!today.empty()) text += ", " + today;
  return text;
}

std::string render_text(const Result& result, const TextStyle& style) {
  Writer writer(style);
  writer.line(writer.bold("stab " + result.stab.version));
  write_context(writer, result);
  write_backends(writer, result);
  write_operations(writer, result);
  write_plans(writer, result);
  write_proofs(writer, result);
  write_warnings(writer, result);
  writer.line("");
  if (!result.delivery.command.empty()) writer.line("Run it: " + result.delivery.command);
  writer.line(writer.bold(render_verdict(result)));
  return writer.take();
}

}  // namespace stab
