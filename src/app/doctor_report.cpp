// SPDX-License-Identifier: Apache-2.0
#include "app/doctor_report.h"

#include <algorithm>

#include "core/document.h"
#include "stab/core/report.h"

namespace stab {
namespace {

constexpr std::size_t k_verdict_column = 9;

}  // namespace

std::string render_doctor_json(const DoctorReport& report) {
  Context context;
  context.device = report.device;
  Json json = {{"schema_version", 1}, {"kind", "doctor"}, {"stab", json_of(report.stab)}};
  json["context"] = {{"device", json_of(context)["device"]}};
  json["checks"] = Json::array();
  for (const Check& check : report.checks) {
    json["checks"].push_back({{"id", check.id},
                              {"verdict", to_string(check.verdict)},
                              {"value", check.value},
                              {"text", check.text},
                              {"remedy", json_or_null(check.remedy)}});
  }
  return render_document(json);
}

std::string render_doctor_text(const DoctorReport& report, int width) {
  std::size_t ids = 0;
  for (const Check& check : report.checks) ids = std::max(ids, check.id.size());
  const std::size_t indent = 2 + k_verdict_column + ids + 2;
  std::string out = "stab doctor: " + report.device.host + "\n\n";
  int failures = 0;
  int warnings = 0;
  for (const Check& check : report.checks) {
    failures += check.verdict == Verdict::fail ? 1 : 0;
    warnings += check.verdict == Verdict::warning ? 1 : 0;
    std::string line = "  " + std::string(to_string(check.verdict));
    line.resize(2 + k_verdict_column, ' ');
    line += check.id;
    line.resize(indent, ' ');
    out += line +
           wrap_text(check.value.empty() ? check.text : check.value + ": " + check.text, indent,
                     width) +
           "\n";
    if (check.remedy)
      out += std::string(indent, ' ') + wrap_text("try " + *check.remedy, indent, width) + "\n";
  }
  out +=
      "\n" + (failures > 0 ? std::to_string(failures) + " of " +
                                 std::to_string(report.checks.size()) + " checks failed"
                           : "stab can work there" +
                                 (warnings > 0 ? ", with " + std::to_string(warnings) + " warnings"
                                               : std::string()));
  return out + "\n";
}

}  // namespace stab
