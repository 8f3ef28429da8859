// SPDX-License-Identifier: Apache-2.0
#include "core/comparison_json.h"

#include "stab/core/compare_report.h"

namespace stab {
namespace {

Json json_of(const OpChange& change) {
  return {{"op", to_string(change.op)},
          {"verdict", to_string(change.verdict)},
          {"delta_percent", json_or_null(change.delta_percent)},
          {"type", change.type},
          {"then", change.then},
          {"now", change.now},
          {"then_us", json_or_null(change.then_us)},
          {"now_us", json_or_null(change.now_us)}};
}

Json json_of(const ComparedFile& file, bool newest) {
  return {{"role", newest ? "new" : "baseline"},
          {"name", file.name},
          {"sha256", file.sha256},
          {"measured_at", json_or_null(file.measured_at)},
          {"median_us", json_or_null(file.median_us)},
          {"rounds", file.rounds}};
}

}  // namespace

Json json_of(const Comparison& comparison) {
  Json ops = Json::array();
  for (const OpChange& change : comparison.ops) ops.push_back(json_of(change));
  return {{"baseline", json_unless_empty(comparison.baseline)},
          {"baseline_sha256", comparison.baseline_sha256},
          {"basis", to_string(comparison.basis)},
          {"verdict", to_string(comparison.verdict)},
          {"then_us", json_or_null(comparison.then_us)},
          {"now_us", json_or_null(comparison.now_us)},
          {"delta_percent",
           comparison.delta_percent ? json_of(*comparison.delta_percent) : Json(nullptr)},
          {"gate_percent", json_or_null(comparison.gate_percent)},
          {"gate",
           comparison.gate == GateStatus::none ? Json(nullptr) : Json(to_string(comparison.gate))},
          {"moved_percent",
           comparison.moved_percent ? json_of(*comparison.moved_percent) : Json(nullptr)},
          {"night_percent", json_or_null(comparison.night_percent)},
          {"nights", comparison.nights},
          {"changed", comparison.changed},
          {"ops", std::move(ops)}};
}

std::string render_comparison_json(const ComparisonReport& report) {
  Json json = {{"schema_version", 1}, {"kind", "comparison"}, {"stab", json_of(report.stab)}};
  json["context"] = json_of(report.context);
  json["threads"] = report.threads;
  json["exit_status"] = report.exit_status;
  json["files"] = Json::array();
  for (std::size_t i = 0; i < report.files.size(); ++i)
    json["files"].push_back(json_of(report.files[i], i + 1 == report.files.size()));
  const Json comparison = json_of(report.comparison);
  for (const auto& [name, value] : comparison.items()) json[name] = value;
  return render_document(json);
}

}  // namespace stab
