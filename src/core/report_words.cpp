// SPDX-License-Identifier: Apache-2.0
#include "report_words.h"

#include <algorithm>
#include <cmath>

#include "stab/core/report.h"
#include "text_layout.h"

namespace stab {
namespace {

std::string percent(double ratio) {
  return fixed_digits(std::fabs(ratio - 1) * 100, std::fabs(ratio - 1) < 0.0995 ? 1 : 0) + " %";
}

/// No other plan had a smaller time that noise alone may explain.
bool is_surely_best(const Result& result, const Plan& chosen) {
  return std::none_of(result.plans.begin(), result.plans.end(), [&](const Plan& plan) {
    return plan.faster.median_us && plan.faster.median_us < chosen.faster.median_us &&
           plan.kind != PlanKind::today;
  });
}

std::string best_single_name(const Result& result) {
  return has_pins(result) ? "the best other plan with these pins" : "the best single backend";
}

}  // namespace

bool has_pins(const Result& result) {
  return std::any_of(result.ops.begin(), result.ops.end(),
                     [](const OpRow& row) { return row.fixed == "pin"; });
}

std::string interval_words(const std::optional<Interval>& interval) {
  if (!interval || !interval->low || !interval->high) return "";
  return render_time(*interval->low) + " to " + render_time(*interval->high);
}

std::string gain_words(const std::optional<Interval>& speedup, const std::string& over) {
  if (!speedup) return "";
  const bool sure = speedup->low && speedup->high && (*speedup->low > 1 || *speedup->high < 1);
  if (!sure) return "within noise of " + over;
  const bool faster = speedup->median > 1;
  const double middle = faster ? speedup->median : 1 / speedup->median;
  const double low = faster ? *speedup->low : 1 / *speedup->high;
  const double high = faster ? *speedup->high : 1 / *speedup->low;
  const std::string word = faster ? " faster than " : " slower than ";
  if (middle >= 2) {
    return fixed_digits(middle, 1) + " times" + word + over + " (" + fixed_digits(low, 1) + " to " +
           fixed_digits(high, 1) + ")";
  }
  return percent(middle) + word + over + " (" + percent(low) + " to " + percent(high) + ")";
}

std::string plan_name(const Result& result, const Plan& plan) {
  if (plan.kind == PlanKind::single) {
    const std::string backend = plan.backend.value_or(k_cpu);
    if (has_pins(result)) return "pins, then " + backend;
    // Of a backend that no list knows the heavy types alone were run, and all that it can.
    const bool part = std::any_of(result.plans.begin(), result.plans.end(), [&](const Plan& other) {
      return other.kind == PlanKind::single && other.backend == plan.backend &&
             other.placement.size() > plan.placement.size();
    });
    return (part ? "mainly on " : "all on ") + backend;
  }
  if (plan.kind == PlanKind::averse) return "noise-averse";
  return std::string(to_string(plan.kind));
}

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

bool was_measured(const BackendRow& row) {
  return row.status == BackendStatus::used || row.status == BackendStatus::measured;
}

std::string warning_subject(const Result& result, const Warning& warning) {
  const Plan* plan = result.find_plan(warning.subject);
  return plan == nullptr ? warning.subject : plan_name(result, *plan);
}

std::string warning_words(const Result& result, const Warning& warning) {
  const std::string subject = warning_subject(result, warning);
  return (subject.empty() ? "" : subject + ": ") + warning.text +
         (warning.remedy.empty() ? "" : "; try " + warning.remedy);
}

std::string applied_words(const Result& result, const Plan& plan) {
  if (plan.applied.status == ProofStatus::skipped) return "skipped: no device was asked";
  if (plan.applied.status == ProofStatus::fail) return "fail: " + plan.applied.reason;
  // The way is chosen with the plan that is written; where a later proof fails there is none.
  if (!result.delivery.works && !plan.placement.empty())
    return "pass: each operation ran on its backend";
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

std::string equal_words(const EqualProof& proof) {
  std::string text(to_string(proof.status));
  if (proof.status == ProofStatus::skipped)
    return text + (proof.reason.empty() ? "" : ": " + proof.reason);
  double largest = 0;
  std::size_t incomparable = 0;
  for (const EqualProof::Output& output : proof.outputs) {
    largest = std::max(largest, output.max_rel);
    if (!output.comparable) ++incomparable;
  }
  if (!proof.outputs.empty()) {
    text += ": " + count_of(proof.outputs.size(), "output");
    if (!proof.seeds.empty()) text += " for " + count_of(proof.seeds.size(), "seed");
    text += largest > 0 ? ", largest difference to cpu's " + significant_digits(largest, 2) +
                              " of the largest value"
                        : " identical to cpu's";
  }
  if (incomparable > 0)
    text += "; " + count_of(incomparable, "output") + " not comparable, cpu's own differ";
  if (proof.remedy) text += "; cured by " + *proof.remedy;
  if (!proof.guilty.empty()) {
    text += "; " + count_of(proof.guilty.size(), "operation") + " moved back to cpu, first " +
            to_string(proof.guilty.front());
  }
  if (!proof.reason.empty()) text += (proof.outputs.empty() ? ": " : "; ") + proof.reason;
  return text;
}

std::string faster_words(const Result& result, const Plan& plan) {
  const FasterProof& proof = plan.faster;
  if (proof.status == FasterStatus::skipped) return "skipped";
  const std::string time = proof.median_us ? render_time(*proof.median_us) : "unknown";
  const Plan* against = result.find_plan(proof.against);
  const bool itself = against == nullptr || against->placement == plan.placement;
  if (!proof.delta_us && !itself) return time + ", not compared with " + best_single_name(result);
  if (!proof.delta_us || itself) {
    return "pass: " + time +
           (has_pins(result) ? "; no other plan with these pins is surely faster"
                             : "; it is the best single backend itself");
  }
  std::string text = proof.status == FasterStatus::faster ? "pass: "
                     : proof.status == FasterStatus::same ? "pass, within noise: "
                                                          : "fail: ";
  text += time + ", " + render_time(std::fabs(proof.delta_us->median)) +
          (proof.delta_us->median <= 0 ? " less" : " more") + " than " + best_single_name(result);
  const std::string range = interval_words(proof.delta_us);
  if (!range.empty()) text += " (" + range + ")";
  return text;
}

std::string render_time(double us) {
  const double magnitude = std::fabs(us);
  double value = us;
  std::string_view unit = " us";
  if (magnitude >= 999'500) {
    value = us / 1e6;
    unit = " s";
  } else if (magnitude >= 999.5) {
    value = us / 1e3;
    unit = " ms";
  }
  const double shown = std::fabs(value);
  int decimals = shown >= 99.95 ? 0 : (shown >= 9.995 ? 1 : 2);
  if (unit == " us") decimals = shown < 9.95 && shown > 0 ? 1 : 0;
  return fixed_digits(value, decimals) + std::string(unit);
}

namespace {

/// " (skipped: faster; unsure: equal)"
std::string skipped_words(const Result& result, const Plan* plan) {
  const bool unsure = plan != nullptr && plan->equal.status == ProofStatus::unsure;
  std::string skipped;
  for (const std::string& proof : result.summary.skipped_proofs) {
    if (!unsure || proof != "equal") skipped += " " + proof;
  }
  if (skipped.empty() && !unsure) return "";
  std::string text = skipped.empty() ? "" : "skipped:" + skipped;
  if (unsure) text += (text.empty() ? "" : "; ") + std::string("unsure: equal");
  return " (" + text + ")";
}

}  // namespace

std::string render_verdict(const Result& result) {
  const Plan* plan = result.find_plan(result.chosen);
  std::string text;
  if (result.outcome == Outcome::proven)
    text = "proven";
  else if (result.outcome == Outcome::estimated)
    text = "estimated";
  else if (result.outcome == Outcome::written_only)
    text = "written only";
  else
    return std::string(to_string(result.outcome)) + ": nothing was written";
  text += skipped_words(result, plan);
  text += result.summary.package_path ? ": wrote " + *result.summary.package_path
                                      : ": " + result.context.package.name + " as it is";
  if (result.all_on_one_backend && plan != nullptr) {
    const std::string backend = plan->placement.empty() ? k_cpu : plan->placement.begin()->second;
    const std::string everything =
        backend == k_cpu ? "everything on cpu" : "everything that " + backend + " can run on it";
    text += is_surely_best(result, *plan) ? ", " + everything + " is best"
                                          : ", nothing beats " + everything + " beyond noise";
  } else {
    const std::string gain = gain_words(result.summary.speedup, best_single_name(result));
    if (!gain.empty()) text += ", " + gain;
  }
  const std::string today = gain_words(result.summary.speedup_over_today, "today");
  if (!today.empty()) text += ", " + today;
  return text;
}

}  // namespace stab
