// SPDX-License-Identifier: Apache-2.0
// Each document that stab writes is valid by its schema in docs/schema, and a broken one is not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/doctor_report.h"
#include "stab/core/compare_report.h"
#include "support/schema.h"
#include "support/simulated_job.h"

namespace stab {
namespace {

using nlohmann::json;
using test::schema_violations;
using test::simulated_job;
using ::testing::HasSubstr;

/// A result as it stands when a job ends before it knows anything.
Result early_end() {
  Result result;
  result.stab.version = "0.1.0";
  result.exit_status = 3;
  result.context.package.name = "net";
  result.error = ErrorRow{ErrorKind::input, "cannot read model", "net.tflite", "it is empty", ""};
  return result;
}

/// A comparison with an earlier night, every field in it.
Comparison comparison() {
  Comparison comparison;
  comparison.baseline_sha256 = std::string(64, 'b');
  comparison.verdict = ChangeVerdict::unsure;
  comparison.gate = GateStatus::unsure;
  comparison.changed = {"another night"};
  comparison.delta_percent = Interval{1.5, -0.5, 3.5};
  comparison.gate_percent = 5;
  comparison.ops = {{{0, 1}, "Conv2D", "cpu", "ruy", ChangeVerdict::slower, 100, 112.5, 12.5},
                    {{0, 2}, "Add", "cpu", "cpu", ChangeVerdict::unsure, {}, {}, {}}};
  return comparison;
}

TEST(Documents, OfAWholeJobAreValid) {
  const test::SimulatedJob job = simulated_job();
  EXPECT_EQ(schema_violations("profile", render_profile(job.profile)), "");
  EXPECT_EQ(schema_violations("schedule", render_schedule(job.result, true)), "");
  EXPECT_EQ(schema_violations("result", render_result(job.result)), "");
}

TEST(Documents, OfAJobWithoutADeviceAreValid) {
  Result result = test::simulated_estimate();
  result.context.device.reset();
  result.context.runtime = {};
  EXPECT_EQ(schema_violations("result", render_result(result)), "");
  EXPECT_EQ(schema_violations("schedule", render_schedule(result, true)), "");
}

TEST(Documents, OfAJobThatEndedEarlyAreValid) {
  EXPECT_EQ(schema_violations("result", render_result(early_end())), "");
}

TEST(Documents, WithAComparisonAreValid) {
  Result result = simulated_job().result;
  result.comparison = comparison();
  EXPECT_EQ(schema_violations("result", render_result(result)), "");
  ComparisonReport report;
  report.stab = result.stab;
  report.context = result.context;
  report.files = {{"monday.json", std::string(64, 'b'), "2026-01-30T12:00:00Z", 100, 10},
                  {"tuesday.json", std::string(64, 'c'), std::nullopt, std::nullopt, 0}};
  report.comparison = comparison();
  EXPECT_EQ(schema_violations("comparison", render_comparison_json(report)), "");
}

TEST(Documents, OfTheDoctorAreValid) {
  DoctorReport report;
  report.stab = {"0.1.0", ""};
  report.device = *simulated_job().result.context.device;
  report.checks = {{"arch", Verdict::ok, "aarch64", "a sentence", std::nullopt},
                   {"work_folder", Verdict::fail, "", "it is not there", "making it"}};
  EXPECT_EQ(schema_violations("doctor", render_doctor_json(report)), "");
}

TEST(Documents, ThatShipWithAProductNameNoHostAndNoBoot) {
  const json device =
      json::parse(render_schedule(simulated_job().result, true))["context"]["device"];
  EXPECT_FALSE(device.contains("host"));
  EXPECT_FALSE(device.contains("boot_id"));
  EXPECT_TRUE(device.contains("kernel"));
}

TEST(Documents, ThatAreBrokenAreRefused) {
  const json good = json::parse(render_result(simulated_job().result));
  const auto violations_after = [&](const std::function<void(json&)>& change) {
    json broken = good;
    change(broken);
    return schema_violations("result", broken.dump());
  };
  EXPECT_THAT(violations_after([](json& j) { j.erase("summary"); }), HasSubstr("'summary'"));
  EXPECT_THAT(violations_after([](json& j) { j["threads"] = "1"; }), HasSubstr("threads: "));
  EXPECT_THAT(violations_after([](json& j) { j["outcome"] = "done"; }), HasSubstr("outcome: "));
  EXPECT_THAT(violations_after([](json& j) { j["schema_version"] = 2; }),
              HasSubstr("schema_version: "));
  EXPECT_THAT(violations_after([](json& j) { j["ops"][2]["op"] = "2"; }), HasSubstr("ops.2.op: "));
  EXPECT_THAT(violations_after([](json& j) { j["ops"][0]["candidates"]["cpu"].erase("runs"); }),
              HasSubstr("ops.0.candidates.cpu: "));
  EXPECT_THAT(violations_after([](json& j) { j["plans"][0]["equal"]["status"] = nullptr; }),
              HasSubstr("plans.0.equal.status: "));
  EXPECT_THAT(violations_after([](json& j) { j["invented"] = 1; }), HasSubstr("invented"));
}

TEST(Documents, ListBackendsByName) {
  std::vector<std::string> names;
  const json document = json::parse(render_result(simulated_job().result));
  for (const json& row : document["backends"]) names.push_back(row["name"]);
  EXPECT_THAT(names, ::testing::ElementsAre("acl_neon", "cpu", "ruy", "xnnpack"));
}

}  // namespace
}  // namespace stab
