// SPDX-License-Identifier: Apache-2.0
#include "stab/core/runner_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

constexpr const char* k_block =
    "Package Filename ./model\n"
    "===================================\n"
    "MODEL_LOAD   takes 4.250 ms\n"
    "PREPARE      takes 18.007 ms\n"
    "EXECUTE      takes 12.300 ms\n"
    "- MEAN     :  12.300 ms\n"
    "- MAX      :  14.910 ms\n"
    "- MIN      :  12.011 ms\n"
    "- GEOMEAN  :  12.288 ms\n"
    "===================================\n";

std::string own_line(const std::string& json) {
  return std::string(k_block) + "stab-runner " + json + "\n";
}

TEST(RunnerOutput, ReadsTheBlockThatAllRunnersPrint) {
  const RunnerOutput out = parse_runner_output(k_block);
  EXPECT_DOUBLE_EQ(out.load_us.value(), 4250);
  EXPECT_DOUBLE_EQ(out.prepare_us.value(), 18007);
  EXPECT_DOUBLE_EQ(out.mean_us.value(), 12300);
  EXPECT_DOUBLE_EQ(out.max_us.value(), 14910);
  EXPECT_DOUBLE_EQ(out.min_us.value(), 12011);
  EXPECT_DOUBLE_EQ(out.geomean_us.value(), 12288);
  EXPECT_FALSE(out.stab_runner);
  EXPECT_FALSE(out.samples_us.has_value());
}

TEST(RunnerOutput, ReadsStabRunnersOwnLine) {
  const RunnerOutput out = parse_runner_output(own_line(
      R"({"samples_us":[12.5,11],"warmup_runs":41,"cpu_time_us":23000,"peak_rss_kb":19800,"load_us":4251.5,)"
      R"("prepare_us":18000,"version":"1.30.0","tracing":"api","outputs":[{"index":0,"dtype":"f32","bytes":8,)"
      R"("shape":[1,2]}],"inputs":[],"later":true})"));
  EXPECT_TRUE(out.stab_runner);
  EXPECT_EQ(out.problem, "");
  EXPECT_THAT(out.samples_us.value(), ElementsAre(12.5, 11));
  EXPECT_THAT(out.warmup_runs, Optional(41));
  EXPECT_DOUBLE_EQ(out.load_us.value(), 4251.5);
  EXPECT_THAT(out.peak_rss_kb, Optional(19800));
  EXPECT_THAT(out.version, Optional(std::string("1.30.0")));
  EXPECT_THAT(out.outputs, ElementsAre(RunnerTensor{0, "f32", 8, {1, 2}}));
}

TEST(RunnerOutput, LeavesAnUnknownVersionAbsent) {
  EXPECT_FALSE(parse_runner_output(own_line(R"({"version":null})")).version.has_value());
}

TEST(RunnerOutput, RefusesWrongMembersAndKeepsTheRest) {
  for (const char* json :
       {R"({"samples_us":[1,-1],"peak_rss_kb":7})", R"({"samples_us":[1,"2"],"peak_rss_kb":7})",
        R"({"samples_us":[1e300],"peak_rss_kb":7})", R"({"samples_us":{},"peak_rss_kb":7})"}) {
    const RunnerOutput out = parse_runner_output(own_line(json));
    EXPECT_FALSE(out.samples_us.has_value()) << json;
    EXPECT_THAT(out.problem, HasSubstr("samples_us")) << json;
    EXPECT_THAT(out.peak_rss_kb, Optional(7)) << json;
  }
  EXPECT_FALSE(parse_runner_output(own_line(R"({"peak_rss_kb":18446744073709551615})"))
                   .peak_rss_kb.has_value());
  EXPECT_FALSE(parse_runner_output(own_line(R"({"warmup_runs":1.5})")).warmup_runs.has_value());
  EXPECT_FALSE(
      parse_runner_output(own_line(R"({"version":"1.30.0\n\u001b[31m"})")).version.has_value());
}

TEST(RunnerOutput, SaysWhyALineIsLeftOut) {
  EXPECT_THAT(parse_runner_output(own_line(R"({"samples_us":[1,2)")).problem,
              HasSubstr("not a JSON object"));
  EXPECT_THAT(parse_runner_output(own_line("[]")).problem, HasSubstr("not a JSON object"));
  EXPECT_FALSE(parse_runner_output(own_line("[]")).stab_runner);
}

TEST(RunnerOutput, TakesNoTimeFromOddLines) {
  const RunnerOutput out = parse_runner_output(
      "EXECUTE      takes nan ms\n- MIN      :  -1.0 ms\n- MAX : 1e5 ms\nPREPARE takes 3 "
      "s\nMODEL_LOAD takes 2.000 ms x\n");
  EXPECT_FALSE(out.mean_us.has_value());
  EXPECT_FALSE(out.min_us.has_value());
  EXPECT_FALSE(out.max_us.has_value());
  EXPECT_FALSE(out.prepare_us.has_value());
  EXPECT_FALSE(out.load_us.has_value());
}

TEST(RunnerOutput, KnowsNothingFromNothing) {
  const RunnerOutput out = parse_runner_output("");
  EXPECT_FALSE(out.mean_us.has_value());
  EXPECT_EQ(out.problem, "");
}

}  // namespace
}  // namespace stab
