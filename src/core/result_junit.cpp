// SPDX-License-Identifier: Apache-2.0
// The result as a JUnit report, the form that CI servers show: the job itself, each proof of the
// chosen plan and the gate as test cases. Elements and attributes as the schema of Jenkins' xUnit
// plug-in has them, in its order.
#include <algorithm>

#include "core/markup.h"
#include "core/report_words.h"
#include "core/text_layout.h"
#include "stab/core/compare_report.h"
#include "stab/core/report.h"

namespace stab {
namespace {

enum class Verdict { pass, failure, error, skipped };

struct Case {
  std::string name;
  Verdict verdict = Verdict::pass;
  std::string kind;  ///< of a failure or an error
  std::string text;
  double seconds = 0;
};

std::string attribute(const std::string& name, const std::string& value) {
  return " " + name + "=\"" + escape_markup(value) + "\"";
}

std::string seconds_text(double seconds) {
  return fixed_digits(seconds, 3);
}

double stage_seconds(const Result& result, const std::string& name) {
  double sum = 0;
  for (const Stage& stage : result.stages) {
    if (name.empty() || stage.name == name) sum += stage.host_s;
  }
  return sum;
}

/// Whether the job came to its end: what it found is in the proofs then.
bool ended(const Result& result) {
  return !result.error || result.error->kind == ErrorKind::proof;
}

/// Whether it is the gate, a test case of its own, that the job failed at.
bool failed_at_gate(const Result& result) {
  return result.comparison && (result.comparison->gate == GateStatus::fail ||
                               result.comparison->gate == GateStatus::unsure);
}

Case job_case(const Result& result) {
  Case job{"job", Verdict::pass, "", "", stage_seconds(result, "")};
  if (result.outcome == Outcome::interrupted) {
    job = {"job", Verdict::error, "interrupted", "interrupted", job.seconds};
  } else if (!ended(result)) {
    const ErrorRow& error = *result.error;
    job.verdict = Verdict::error;
    job.kind = std::string(to_string(error.kind));
    job.text = Error(error.kind, error.what, error.subject, error.why, error.hint).what();
  } else if (result.outcome == Outcome::refused && !failed_at_gate(result)) {
    job.verdict = Verdict::failure;
    job.kind = "refused";
    job.text = result.error
                   ? result.error->what + " " + result.error->subject + ": " + result.error->why
                   : render_verdict(result);
  }
  return job;
}

Case proof_case(const std::string& name, std::string_view status, const std::string& words) {
  Case proof{name, Verdict::pass, "", words, 0};
  if (status == "skipped" || status == "unsure") {
    proof.verdict = Verdict::skipped;
  } else if (status == "fail" || status == "slower") {
    proof.verdict = Verdict::failure;
    proof.kind = name;
  }
  return proof;
}

std::vector<Case> proof_cases(const Result& result) {
  const Plan* plan = result.find_plan(result.chosen);
  const bool known = plan != nullptr && result.outcome != Outcome::interrupted && ended(result);
  if (!known) {
    const std::string why =
        result.outcome == Outcome::refused ? "no plan could be proven" : "the job ended before";
    return {{"applied", Verdict::skipped, "", why, 0},
            {"equal", Verdict::skipped, "", why, 0},
            {"faster", Verdict::skipped, "", why, 0}};
  }
  std::vector<Case> cases = {
      proof_case("applied", to_string(plan->applied.status), applied_words(result, *plan)),
      proof_case("equal", to_string(plan->equal.status), equal_words(plan->equal)),
      proof_case("faster", to_string(plan->faster.status), faster_words(result, *plan))};
  cases.front().seconds = stage_seconds(result, "prove");
  return cases;
}

/// The gate of --max-regression, and the comparison where there is none.
Case gate_case(const Result& result, bool proofs_hold) {
  const Comparison& comparison = *result.comparison;
  Case gate{"comparison", Verdict::pass, "", comparison_words(comparison), 0};
  if (comparison.gate == GateStatus::none) return gate;
  gate.name = "regression gate";
  gate.text += "; " + gate_words(comparison);
  const bool strict = proofs_hold && result.exit_status == exit_status(ErrorKind::proof);
  if (comparison.gate == GateStatus::fail || (comparison.gate == GateStatus::unsure && strict)) {
    gate.verdict = Verdict::failure;
    gate.kind = "regression";
  } else if (comparison.gate == GateStatus::unsure) {
    gate.verdict = Verdict::skipped;
  }
  return gate;
}

std::vector<Case> all_cases(const Result& result) {
  std::vector<Case> cases = {job_case(result)};
  const std::vector<Case> proofs = proof_cases(result);
  cases.insert(cases.end(), proofs.begin(), proofs.end());
  const bool hold = std::none_of(cases.begin(), cases.end(), [](const Case& one) {
    return one.verdict == Verdict::failure || one.verdict == Verdict::error;
  });
  if (result.comparison) cases.push_back(gate_case(result, hold));
  return cases;
}

std::string render_case(const Case& one, const std::string& suite) {
  std::string text = "    <testcase" + attribute("name", one.name) +
                     attribute("classname", "stab." + suite) +
                     attribute("time", seconds_text(one.seconds));
  if (one.verdict == Verdict::pass) {
    if (one.text.empty()) return text + "/>\n";
    return text + ">\n      <system-out>" + escape_markup(one.text) +
           "</system-out>\n    </testcase>\n";
  }
  const std::string element = one.verdict == Verdict::skipped ? "skipped"
                              : one.verdict == Verdict::error ? "error"
                                                              : "failure";
  text += ">\n      <" + element + attribute("message", one.text);
  if (one.verdict != Verdict::skipped) text += attribute("type", one.kind);
  return text + "/>\n    </testcase>\n";
}

std::string render_properties(const Result& result) {
  std::vector<std::pair<std::string, std::string>> properties = {
      {"stab", result.stab.version}, {"outcome", std::string(to_string(result.outcome))}};
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) properties.emplace_back(name, value);
  };
  add("model_sha256", result.context.model.sha256);
  add("runtime", result.context.runtime.version.value_or(""));
  if (result.context.device)
    add("device", result.context.device->name.value_or(result.context.device->id));
  if (!result.chosen.empty()) add("threads", std::to_string(result.threads));
  if (result.summary.median_us) add("median_us", fixed_digits(*result.summary.median_us, 3));
  if (result.summary.today_us) add("today_us", fixed_digits(*result.summary.today_us, 3));
  if (result.summary.speedup) add("speedup", fixed_digits(result.summary.speedup->median, 4));
  std::string text = "    <properties>\n";
  for (const auto& [name, value] : properties)
    text += "      <property" + attribute("name", name) + attribute("value", value) + "/>\n";
  return text + "    </properties>\n";
}

std::string counts(const std::vector<Case>& cases, double seconds) {
  const auto count = [&](Verdict verdict) {
    return std::to_string(std::count_if(cases.begin(), cases.end(),
                                        [&](const Case& one) { return one.verdict == verdict; }));
  };
  return attribute("tests", std::to_string(cases.size())) +
         attribute("failures", count(Verdict::failure)) +
         attribute("errors", count(Verdict::error)) +
         attribute("skipped", count(Verdict::skipped)) + attribute("time", seconds_text(seconds));
}

std::string warning_lines(const Result& result) {
  std::string text;
  for (const Warning& warning : result.warnings) text += warning_words(result, warning) + "\n";
  return text;
}

}  // namespace

std::string render_junit(const Result& result) {
  const std::vector<Case> cases = all_cases(result);
  const std::string suite = result.context.package.name;
  const std::string numbers = counts(cases, stage_seconds(result, ""));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
                     attribute("name", "stab") + numbers + ">\n";
  text += "  <testsuite" + attribute("name", suite) + numbers;
  if (result.measured_at && result.measured_at->ends_with('Z'))
    text += attribute("timestamp", result.measured_at->substr(0, result.measured_at->size() - 1));
  text += ">\n" + render_properties(result);
  for (const Case& one : cases) text += render_case(one, suite);
  if (ended(result) && result.outcome != Outcome::interrupted)
    text += "    <system-out>" + escape_markup(render_verdict(result)) + "</system-out>\n";
  const std::string warnings = warning_lines(result);
  if (!warnings.empty()) text += "    <system-err>" + escape_markup(warnings) + "</system-err>\n";
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace stab
