// SPDX-License-Identifier: Apache-2.0
#include "stab/core/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stab/core/compare_report.h"
#include "stab/core/error.h"
#include "support/nights.h"

namespace stab {
namespace {

using test::Night;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string refusal(const std::string& text) {
  try {
    parse_earlier_result(text, "old.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "";
}

TEST(EarlierResult, IsReadFromAResultAndFromAScheduledPackagesRecord) {
  const Result result = Night(1).result(1000);
  const EarlierResult full = parse_earlier_result(render_result(result), "old.json");
  EXPECT_EQ(full.plan.placement, (Placement{{{0, 1}, "ruy"}}));
  EXPECT_EQ(full.plan.faster.round_medians_us, result.plans[0].faster.round_medians_us);
  EXPECT_EQ(full.ops.at(1).backend, "ruy");
  EXPECT_EQ(full.ops.at(1).rounds_us, result.ops[1].candidates.at("ruy").round_medians_us);
  EXPECT_EQ(full.best_single, "cpu");
  EXPECT_EQ(full.singles_us.at("cpu").size(), 10U);
  EXPECT_EQ(full.measured_at, result.measured_at);
  const EarlierResult record = parse_earlier_result(render_schedule(result, true), "stab.json");
  EXPECT_EQ(record.plan.faster.round_medians_us, full.plan.faster.round_medians_us);
  EXPECT_EQ(record.ops.at(1).rounds_us, full.ops.at(1).rounds_us);
  EXPECT_THAT(record.singles_us, IsEmpty());
}

TEST(EarlierResult, RefusesWhatIsNoneWithFileAndPlace) {
  EXPECT_THAT(refusal(""), HasSubstr("'old.json': it is empty"));
  EXPECT_THAT(refusal("{\"kind\": \"result\""), HasSubstr("cut off"));
  EXPECT_THAT(refusal(R"({"kind": "profile", "schema_version": 1})"),
              HasSubstr("kind 'result' or 'schedule'"));
  EXPECT_THAT(refusal(R"({"kind": "result", "schema_version": 2})"), HasSubstr("is newer"));
  Result result = Night(1).result(1000);
  result.chosen.clear();
  EXPECT_THAT(refusal(render_result(result)), HasSubstr("refused or failed"));
  result.chosen = "p9";
  EXPECT_THAT(refusal(render_result(result)), HasSubstr("chosen: no plan has this id"));
  result = Night(1).result(1000);
  result.plans[0].faster.round_medians_us[3] = -1;
  EXPECT_THAT(refusal(render_result(result)), HasSubstr("plans[0].faster.round_medians_us"));
  result = Night(1).result(1000);
  result.ops.push_back(result.ops[0]);
  EXPECT_THAT(refusal(render_result(result)), HasSubstr("twice"));
}

TEST(WhyNotComparable, NamesEverythingThatMakesTimesDiffer) {
  const EarlierResult a = Night(1).read(1000);
  EarlierResult b = a;
  EXPECT_THAT(why_not_comparable({&a.context, 1}, {&b.context, 1}), IsEmpty());
  b.context.model.sha256 = "ffffffffffffffff";
  b.context.device->id = "dddd";
  b.context.device->name = "pi5";
  b.context.settings.affinity = "0xf0";
  b.context.settings.warmup = 9;
  b.context.settings.shapes["image"] = {1, 2};
  b.context.settings.set["EXECUTOR"] = "Parallel";
  b.context.settings.rounds = 40;
  EXPECT_THAT(
      why_not_comparable({&a.context, 1}, {&b.context, 4}),
      ElementsAre("the model is ffffffffffff…, it was aaaa",
                  "the device is 'pi5' (dddd), it was eeee", "the number of threads is 4, it was 1",
                  "--affinity is '0xf0', it was not given", "--warmup is 9, it was 5",
                  "--shape is 'image:1,2', it was not given",
                  "--set is 'EXECUTOR=Parallel', it was not given"));
}

TEST(CompareNights, IsUnsureWithOneBaselineAndSureWithMany) {
  std::vector<EarlierResult> earlier;
  for (unsigned i = 1; i <= 20; ++i) earlier.push_back(Night(i, 0.5).read(1000));
  const EarlierResult now = Night(99, 0.5).read(1100);
  const Comparison one = compare_nights(std::span(earlier).first(1), now, 5);
  EXPECT_EQ(one.verdict, ChangeVerdict::unsure);
  EXPECT_EQ(one.gate, GateStatus::unsure);
  EXPECT_EQ(gate_status(one, false), 0);
  EXPECT_EQ(gate_status(one, true), 6);
  const Comparison many = compare_nights(earlier, now, 5);
  EXPECT_EQ(many.verdict, ChangeVerdict::slower);
  EXPECT_EQ(many.gate, GateStatus::fail);
  EXPECT_EQ(gate_status(many, false), 6);
  EXPECT_EQ(many.basis, ComparisonBasis::proofs);
  EXPECT_NEAR(many.delta_percent->median, 10, 3);
  EXPECT_EQ(compare_nights(earlier, Night(77, 0.5).read(1000), 5).verdict, ChangeVerdict::same);
}

TEST(CompareNights, JudgesEachOperationWhereItsScheduleHadIt) {
  std::vector<EarlierResult> earlier;
  for (unsigned i = 1; i <= 20; ++i) earlier.push_back(Night(i, 0.5).read(1000));
  Result result = Night(50, 0.5).result(1000);
  for (double& us : result.ops[2].candidates["cpu"].round_medians_us) us *= 1.5;
  const EarlierResult now = parse_earlier_result(render_result(result), "new.json");
  const Comparison comparison = compare_nights(earlier, now, std::nullopt);
  ASSERT_EQ(comparison.ops.size(), 3U);
  EXPECT_EQ(comparison.ops[1].now, "ruy");
  EXPECT_EQ(comparison.ops[1].verdict, ChangeVerdict::same);
  EXPECT_EQ(comparison.ops[2].verdict, ChangeVerdict::slower);
  EXPECT_NEAR(*comparison.ops[2].delta_percent, 50, 5);
}

TEST(CompareNights, UsesTracedRoundsWhereTimingProofsAreMissing) {
  const auto without_proof = [](unsigned seed) {
    Result result = Night(seed).result(1000);
    result.plans[0].placement.clear();
    result.plans[0].faster = {};
    return parse_earlier_result(render_result(result), "r" + std::to_string(seed));
  };
  const std::vector<EarlierResult> earlier = {without_proof(1)};
  const Comparison comparison = compare_nights(earlier, without_proof(2), 5);
  EXPECT_EQ(comparison.basis, ComparisonBasis::traced);
  EXPECT_TRUE(comparison.delta_percent);
  const std::vector<EarlierResult> mixed = {Night(3).read(1000)};
  EXPECT_EQ(compare_nights(mixed, without_proof(2), 5).basis, ComparisonBasis::none)
      << "what was traced for the one and not for the other is no measure";
  EXPECT_EQ(compare_nights(mixed, without_proof(2), 5).gate, GateStatus::unsure);
}

TEST(CompareNights, RefusesOneNightAsTwoBaselines) {
  const EarlierResult a = Night(1).read(1000);
  EarlierResult renamed = a;
  renamed.sha256 = "other";
  for (const EarlierResult& twin : {a, renamed}) {
    const std::vector<EarlierResult> earlier = {a, Night(2).read(1000), twin};
    EXPECT_THROW(compare_nights(earlier, Night(3).read(1000), 5), Error);
  }
}

TEST(CompareNights, SaysWhatElseChanged) {
  const std::vector<EarlierResult> earlier = {Night(1).read(1000)};
  EarlierResult now = Night(2).read(1000);
  now.context.runtime.version = "1.31.0";
  now.context.runtime.sha256 = "rrrr";
  now.plan.placement.clear();
  EXPECT_THAT(
      compare_nights(earlier, now, 5).changed,
      ElementsAre("the runtime is 1.31.0 (rrrr), it was 1.30.0 (cccc)", "the schedule is another"));
}

TEST(CompareTonight, JudgesByPairsWhateverTheNightsWere) {
  const EarlierResult baseline = Night(1).read(1000);
  const EarlierResult now = Night(2).read(1000);
  Plan then = now.plan;
  for (double& us : then.faster.round_medians_us) us *= 0.99;
  then.placement.clear();
  const Comparison comparison = compare_tonight(baseline, now, then, 5);
  EXPECT_EQ(comparison.basis, ComparisonBasis::pairs);
  EXPECT_EQ(comparison.gate, GateStatus::pass);
  EXPECT_NEAR(comparison.delta_percent->median, 1.01, 0.1);
}

TEST(CompareTonight, KnowsThatOneScheduleIsAsFastAsItself) {
  const EarlierResult baseline = Night(1).read(1000);
  const EarlierResult now = Night(2).read(1000);
  Plan then = now.plan;
  std::reverse(then.keys.begin(), then.keys.end());
  const Comparison comparison = compare_tonight(baseline, now, then, 5);
  EXPECT_EQ(comparison.basis, ComparisonBasis::same_plan);
  EXPECT_EQ(comparison.verdict, ChangeVerdict::same);
  EXPECT_EQ(comparison.gate, GateStatus::pass);
}

TEST(CompareTonight, IsUnsureOfItsGateWhereTheBaselinesOwnScheduleGotSlower) {
  const EarlierResult baseline = Night(1).read(1000);
  const EarlierResult now = Night(2).read(1500);
  const Comparison comparison = compare_tonight(baseline, now, now.plan, 5);
  EXPECT_EQ(comparison.verdict, ChangeVerdict::same);
  EXPECT_EQ(comparison.gate, GateStatus::unsure);
  EXPECT_THAT(gate_words(comparison), HasSubstr("the baseline's own schedule takes "));
}

TEST(CompareTonight, IsUnsureWhereTheBaselinesPlanCouldNotRun) {
  const EarlierResult baseline = Night(1).read(1000);
  Plan then = baseline.plan;
  then.placement.clear();
  then.faster = {};
  const Comparison comparison = compare_tonight(baseline, Night(2).read(1000), then, 5);
  EXPECT_EQ(comparison.verdict, ChangeVerdict::unsure);
  EXPECT_EQ(comparison.gate, GateStatus::unsure);
}

ComparisonReport report_of(double now_us, unsigned baselines) {
  std::vector<EarlierResult> earlier;
  for (unsigned i = 1; i <= baselines; ++i) earlier.push_back(Night(i, 0.5).read(1000));
  const EarlierResult now = Night(99, 0.5).read(now_us);
  ComparisonReport report = make_comparison_report(earlier, now, compare_nights(earlier, now, 5));
  report.stab = {"0.1.0", "abc"};
  report.exit_status = gate_status(report.comparison, false);
  return report;
}

TEST(ComparisonReport, EndsWithVerdictAndGateOnTheTerminal) {
  const std::string slower = render_comparison_text(report_of(1100, 20), {80, false, 0});
  EXPECT_THAT(slower, HasSubstr(" slower ("));
  EXPECT_THAT(slower, HasSubstr("; gate of 5 % crossed\n"));
  EXPECT_THAT(slower, HasSubstr("20 baselines: nights differ by some "));
  const std::string unsure = render_comparison_text(report_of(1030, 1), {80, false, 1});
  EXPECT_THAT(unsure, HasSubstr("net: unsure, +"));
  EXPECT_THAT(unsure, HasSubstr("; gate of 5 %: too noisy to say"));
  EXPECT_THAT(unsure, HasSubstr("one baseline does not show how nights"));
  EXPECT_THAT(unsure, HasSubstr("0:1    Conv2D          ruy"));
  for (const std::string& text : {slower, unsure}) {
    std::size_t start = 0;
    while (start < text.size()) {
      const std::size_t end = text.find('\n', start);
      EXPECT_LE(end - start, 90U) << text.substr(start, end - start);
      start = end + 1;
    }
  }
}

TEST(ComparisonReport, LetsNothingInAPullRequestActAsMarkup) {
  ComparisonReport report = report_of(1100, 20);
  report.context.package.name = "a|b<script>@team";
  report.files[0].name = "x`|y.json";
  const std::string text = render_comparison_markdown(report);
  EXPECT_THAT(text, HasSubstr("### stab: a\\|b\\<script\\>\\@team\n"));
  EXPECT_THAT(text, HasSubstr("| baseline | x\\`\\|y.json |"));
  EXPECT_THAT(text, HasSubstr("% slower ("));
  EXPECT_THAT(text, Not(HasSubstr("<script>")));
}

TEST(ComparisonReport, IsADocumentOfItsOwnKind) {
  const auto json = nlohmann::json::parse(render_comparison_json(report_of(1100, 20)));
  EXPECT_EQ(json.at("schema_version"), 1);
  EXPECT_EQ(json.at("kind"), "comparison");
  EXPECT_EQ(json.at("exit_status"), 6);
  EXPECT_EQ(json.at("verdict"), "slower");
  EXPECT_EQ(json.at("gate"), "fail");
  EXPECT_EQ(json.at("files").size(), 21U);
  EXPECT_EQ(json.at("files").back().at("role"), "new");
  EXPECT_EQ(json.at("ops").at(1).at("op"), "0:1");
  EXPECT_TRUE(json.at("delta_percent").at("low").is_number());
}

}  // namespace
}  // namespace stab
