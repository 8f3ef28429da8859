// SPDX-License-Identifier: Apache-2.0
#include "stab/app/cli.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "stab/core/error.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<Options> parse(std::vector<const char*> words, std::string* printed = nullptr) {
  words.insert(words.begin(), "stab");
  std::ostringstream out;
  auto options = parse_command_line(static_cast<int>(words.size()), words.data(), out);
  if (printed != nullptr) *printed = out.str();
  return options;
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    parse(words);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "accepted";
}

TEST(CommandLine, TakesTheExamplesOfTheToolItReplaces) {
  const auto options = parse({"--nnpackage", "inception_v3", "--ip", "1.2.3.4", "-n", "4", "-u",
                              "odroid", "-v", "--no-profile"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->nnpackage, "inception_v3");
  EXPECT_EQ(options->ip, "1.2.3.4");
  EXPECT_THAT(options->threads, ElementsAre(4));
  EXPECT_EQ(options->user, "odroid");
  EXPECT_EQ(options->verbosity, 1);
  EXPECT_FALSE(options->profile);
}

TEST(CommandLine, HasTheDefaultsThatTheHelpNames) {
  const auto options = parse({"--nnpackage", "x", "--ip", "local"});
  EXPECT_EQ(options->warmup, 5);
  EXPECT_EQ(options->runs, 50);
  EXPECT_EQ(options->rounds, 10);
  EXPECT_EQ(options->max_rounds, 20);
  EXPECT_TRUE(options->threads.empty());
  EXPECT_THAT(options->backends, ElementsAre("cpu", "ruy", "xnnpack"));
  EXPECT_EQ(options->output, "nnpkg_sched");
  EXPECT_TRUE(options->verify);
  EXPECT_TRUE(options->check);
}

TEST(CommandLine, ReadsLists) {
  const auto options = parse({"--nnpackage", "x", "--ip", "h", "-n", "1,2,4", "--backends",
                              "acl_neon,ruy", "--pin", "3=ruy", "--pin", "type:Conv2D=cpu", "--set",
                              "CPU_MEMORY_PLANNER=Bump", "--set", "A=b=c"});
  EXPECT_THAT(options->threads, ElementsAre(1, 2, 4));
  EXPECT_THAT(options->backends, ElementsAre("cpu", "acl_neon", "ruy"));
  EXPECT_THAT(options->pins, ElementsAre("3=ruy", "type:Conv2D=cpu"));
  EXPECT_EQ(options->set.at("A"), "b=c");
}

TEST(CommandLine, AcceptsValuesGluedToShortOptions) {
  const auto options = parse({"--nnpackage", "x", "--ip", "h", "-w1", "-r6"});
  EXPECT_EQ(options->warmup, 1);
  EXPECT_EQ(options->runs, 6);
  EXPECT_EQ(options->rounds, 6) << "no more rounds than runs";
}

TEST(CommandLine, NeedsAPackageAndAHost) {
  EXPECT_THAT(refusal({"--ip", "h"}), HasSubstr("--nnpackage"));
  EXPECT_THAT(refusal({"--nnpackage", "x"}), HasSubstr("--ip"));
  EXPECT_TRUE(parse({"--nnpackage", "x", "--no-profile"}));
}

TEST(CommandLine, RefusesWhatMakesNoSense) {
  const std::vector<const char*> base = {"--nnpackage", "x", "--ip", "h"};
  const auto with = [&](std::vector<const char*> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return refusal(more);
  };
  EXPECT_THAT(with({"-n", "0"}), HasSubstr("num_threads"));
  EXPECT_THAT(with({"-n", "2,2"}), HasSubstr("twice"));
  EXPECT_THAT(with({"--nonsense"}), HasSubstr("nonsense"));
  EXPECT_THAT(with({"--timeout", "soon"}), HasSubstr("no duration"));
  EXPECT_THAT(with({"--set", "novalue"}), HasSubstr("KEY=VALUE"));
  EXPECT_THAT(with({"--backends", "cpu,builtin"}), HasSubstr("builtin"));
  EXPECT_THAT(with({"--algorithm", "lucky"}), HasSubstr("algorithm"));
  EXPECT_THAT(with({"-p", "0"}), HasSubstr("port"));
  EXPECT_THAT(refusal({"--nnpackage", "x", "--ip=-oProxyCommand=x"}), HasSubstr("no host"));
}

TEST(CommandLine, ReadsWhatToCompareAndItsGate) {
  const auto options = parse({"compare", "a.json", "b.json", "c.json", "--max-regression", "5%",
                              "--strict", "--format", "markdown"});
  EXPECT_EQ(options->kind, JobKind::compare);
  EXPECT_THAT(options->results, ElementsAre("a.json", "b.json", "c.json"));
  EXPECT_EQ(options->max_regression, 5);
  EXPECT_TRUE(options->strict);
  EXPECT_EQ(options->format, OutputFormat::markdown);
  EXPECT_THAT(refusal({"compare", "a.json"}), HasSubstr("two files"));
  EXPECT_THAT(refusal({"compare", "a", "b", "--max-regression", "much"}), HasSubstr("number"));
  EXPECT_THAT(refusal({"compare", "a", "b", "--max-regression", "1e9"}), HasSubstr("1000 %"));
}

TEST(CommandLine, TakesABaselineAndItsGate) {
  const auto options = parse(
      {"--nnpackage", "x", "--ip", "h", "--baseline", "last.json", "--max-regression", "2.5"});
  EXPECT_EQ(options->baseline, "last.json");
  EXPECT_EQ(options->max_regression, 2.5);
  EXPECT_EQ(parse({"verify", "--nnpackage", "x", "--ip", "h", "--baseline", "b"})->baseline, "b");
  EXPECT_THAT(refusal({"--nnpackage", "x", "--ip", "h", "--max-regression", "5"}),
              HasSubstr("--baseline FILE"));
}

TEST(CommandLine, ReadsDurations) {
  EXPECT_EQ(parse_duration("90", "x"), std::chrono::seconds(90));
  EXPECT_EQ(parse_duration("10m", "x"), std::chrono::minutes(10));
  EXPECT_EQ(parse_duration("2h", "x"), std::chrono::hours(2));
  EXPECT_THROW(parse_duration("", "x"), Error);
  EXPECT_THROW(parse_duration("-1", "x"), Error);
  EXPECT_THROW(parse_duration("99999999999999999999", "x"), Error);
}

TEST(CommandLine, HelpShowsTheRequiredOptionsFirst) {
  std::string text;
  EXPECT_FALSE(parse({"--help"}, &text));
  const std::size_t required = text.find("--nnpackage");
  ASSERT_NE(required, std::string::npos);
  EXPECT_LT(required, text.find("--warmup"));
  EXPECT_LT(text.find("--ip"), text.find("--warmup"));
  EXPECT_THAT(text, HasSubstr("Exit status"));
}

TEST(CommandLine, VersionNamesCommitAndLibrary) {
  std::string text;
  EXPECT_FALSE(parse({"--version"}, &text));
  EXPECT_THAT(text, HasSubstr("stab "));
  EXPECT_THAT(text, HasSubstr("libssh"));
}

TEST(CommandLine, TakesOptionsFromAFile) {
  const test::TempDir folder;
  const std::string file =
      folder.write("board.toml", "ip = \"board\"\nrounds = 4\nnum_threads = [1, 2]\n").string();
  const auto options = parse({"--nnpackage", "x", "--config", file.c_str()});
  EXPECT_EQ(options->ip, "board");
  EXPECT_EQ(options->rounds, 4);
  EXPECT_THAT(options->threads, ElementsAre(1, 2));
}

}  // namespace
}  // namespace stab
