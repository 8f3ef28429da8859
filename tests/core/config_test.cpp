// SPDX-License-Identifier: Apache-2.0
#include "stab/core/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::string> warning_ids(const Config& config) {
  std::vector<std::string> ids;
  for (const Warning& warning : config.warnings) ids.push_back(warning.id);
  return ids;
}

Config parse(std::string_view text) {
  return parse_config(text, "a.cfg");
}

TEST(Config, ReadsKeysAsTheRuntimeDoes) {
  const Config config = parse(
      "# a comment\n"
      "\n"
      " BACKENDS =\tcpu;ruy \n"
      "OP_BACKEND_MAP=1=ruy;2=cpu;\n"
      "EXECUTOR=Linear # as ever\n"
      "RUY_THREADS=4");
  EXPECT_THAT(config.keys,
              ElementsAre(Pair("BACKENDS", "cpu;ruy"), Pair("OP_BACKEND_MAP", "1=ruy;2=cpu;"),
                          Pair("EXECUTOR", "Linear"), Pair("RUY_THREADS", "4")));
  EXPECT_THAT(config.warnings, IsEmpty());
}

TEST(Config, SkipsLinesWithoutAValueAndSaysSo) {
  const Config config = parse("OP_BACKEND_MAP=\nBACKENDS\nA=1\n");
  EXPECT_THAT(config.keys, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(warning_ids(config), ElementsAre("config_skipped_line"));
}

TEST(Config, TakesTheLastOfSeveralValuesAndABlankOneAsUnset) {
  EXPECT_THAT(parse("A=1\nB=2\nA=3\n").keys, ElementsAre(Pair("A", "3"), Pair("B", "2")));
  EXPECT_THAT(parse("A=1\nA=\n").keys, ElementsAre(Pair("A", "1")));
  EXPECT_THAT(parse("A=1\nA= \n").keys, IsEmpty());
  EXPECT_THAT(warning_ids(parse("A=1\nA=2\n")), ElementsAre("config_duplicate"));
}

TEST(Config, KeepsACarriageReturnInTheValueAndWarns) {
  const Config config = parse("BACKENDS=cpu\r\n\r\nEXECUTOR=Linear\r\n");
  EXPECT_THAT(config.keys, ElementsAre(Pair("BACKENDS", "cpu\r"), Pair("EXECUTOR", "Linear\r")));
  EXPECT_THAT(warning_ids(config), ElementsAre("config_crlf"));
  EXPECT_THAT(config.warnings.front().text, ::testing::HasSubstr("BACKENDS, EXECUTOR"));
}

TEST(Config, CutsAValueAtAHashAndWarnsOnlyWhereItWasNoComment) {
  EXPECT_THAT(parse("A=x#y\n").keys, ElementsAre(Pair("A", "x")));
  EXPECT_THAT(warning_ids(parse("A=x#y\n")), ElementsAre("config_hash"));
  EXPECT_THAT(warning_ids(parse("A=x # y\n")), IsEmpty());
}

TEST(Config, KeepsQuotesAndLetsAByteOrderMarkSpoilTheFirstKey) {
  const Config config = parse(
      "\xEF\xBB\xBF"
      "BACKENDS=\"cpu\"\nA='b'\n");
  EXPECT_THAT(config.keys, ElementsAre(Pair("\xEF\xBB\xBF"
                                            "BACKENDS",
                                            "\"cpu\""),
                                       Pair("A", "'b'")));
  EXPECT_THAT(warning_ids(config), ElementsAre("config_bom", "config_quotes"));
}

TEST(Config, NamesAtMostThreeKeysInAWarning) {
  const Config config = parse("A=1\r\nB=1\r\nC=1\r\nD=1\r\nE=1\r\n");
  EXPECT_THAT(config.warnings.front().text, ::testing::StartsWith("A, B, C and 2 more: "));
}

TEST(Config, WritesWhatReadsBackTheSame) {
  const RuntimeKeys keys = {{"OP_BACKEND_MAP", "3=ruy;5=xnnpack"}, {"A", "x \"y\" 'z'"}};
  EXPECT_EQ(render_config(keys), "OP_BACKEND_MAP=3=ruy;5=xnnpack\nA=x \"y\" 'z'\n");
  EXPECT_EQ(parse(render_config(keys)).keys, keys);
}

TEST(Config, RefusesToWriteWhatTheRuntimeWouldMisread) {
  for (const auto& [key, value] : RuntimeKeys{{"A", ""},
                                              {"A", " "},
                                              {"A", " x"},
                                              {"A", "x\t"},
                                              {"A", "x#y"},
                                              {"A", "x\ny"},
                                              {"A", "x\r"},
                                              {"", "x"},
                                              {"A=B", "x"},
                                              {"A#", "x"},
                                              {" A", "x"},
                                              {"\xEF\xBB\xBF"
                                               "A",
                                               "x"}}) {
    EXPECT_THROW(render_config({{key, value}}), Error) << key << "=" << value;
  }
}

TEST(Config, KnowsTheKeysThatBelongToStab) {
  for (const char* name : {"BACKENDS", "OP_BACKEND_MAP", "OP_BACKEND_ALLOPS", "OP_BACKEND_Conv2D",
                           "EIGEN_THREADS", "RUY_THREADS", "XNNPACK_THREADS", "NUM_THREADS",
                           "TRACE_FILEPATH", "TRACING_MODE", "WORKSPACE_DIR", "OP_SEQ_MAX_NODE"}) {
    EXPECT_TRUE(owned_key(name)) << name;
  }
  for (const char* name :
       {"EXECUTOR", "CPU_MEMORY_PLANNER", "USE_SCHEDULER", "THREADS_MAX", "BACKENDS2", ""}) {
    EXPECT_FALSE(owned_key(name)) << name;
  }
}

TEST(Config, MergingRemovesAStaleScheduleAndKeepsTheUsersOwnKeys) {
  const RuntimeKeys earlier =
      parse(
          "OP_BACKEND_Conv2D=ruy\nOP_BACKEND_MAP=0=ruy;\nFP16_ENABLE=1\nNUM_THREADS=4\n"
          "EXECUTOR=Parallel\nCPU_MEMORY_PLANNER=FirstFit\n")
          .keys;
  EXPECT_THAT(merge_config(earlier, {{"BACKENDS", "cpu"}, {"CPU_MEMORY_PLANNER", "Bump"}}),
              ElementsAre(Pair("FP16_ENABLE", "1"), Pair("BACKENDS", "cpu"),
                          Pair("CPU_MEMORY_PLANNER", "Bump")));
  EXPECT_THAT(user_keys(earlier),
              ElementsAre(Pair("FP16_ENABLE", "1"), Pair("CPU_MEMORY_PLANNER", "FirstFit")));
}

TEST(Config, MergingWritesCleanWhatItsAuthorMeant) {
  const RuntimeKeys earlier =
      parse(
          "\xEF\xBB\xBF"
          "BACKENDS=ruy\r\nFP16_ENABLE=\"1\"\r\nA=\"\"\r\nB='x'y\r\nC=mid\rdle\r\n")
          .keys;
  EXPECT_THAT(user_keys(earlier), ElementsAre(Pair("FP16_ENABLE", "1"), Pair("B", "'x'y")));
  EXPECT_EQ(render_config(merge_config(earlier, {{"BACKENDS", "cpu"}})),
            "FP16_ENABLE=1\nB='x'y\nBACKENDS=cpu\n");
}

TEST(Config, AcceptsAnyBytes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {all, "=" + all, all + "=" + all, std::string("=\n==\n#=\n")}) {
    const Config config = parse(text);
    EXPECT_NO_THROW(render_config(cleaned(config.keys)));
  }
}

}  // namespace
}  // namespace stab
