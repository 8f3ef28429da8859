// SPDX-License-Identifier: Apache-2.0
// The same job on a terminal and in a pipe: what is drawn, what is coloured, and how wide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "stab/core/result.h"
#include "support/pty.h"
#include "support/real_world.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::StabProgram;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_relu = "input in f32[1,16]\nout = RELU(in)\noutput out\n";

/// The widest line, those aside that hold a path or a command.
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("/packages/") != std::string::npos || line.find("/out/") != std::string::npos)
      continue;
    if (line.starts_with("Run it: ") || line.find(": wrote ") != std::string::npos) continue;
    const auto columns = std::count_if(line.begin(), line.end(),
                                       [](char c) { return (c & 0xc0) != 0x80 && c != '\r'; });
    most = std::max(most, static_cast<std::size_t>(columns));
  }
  return most;
}

std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

class Terminal : public ::testing::Test {
 protected:
  test::ProcessOptions with(const test::Environment& more) const {
    test::ProcessOptions options = stab_.process_options();
    for (const auto& [name, value] : more) (*options.environment)[name] = value;
    return options;
  }
  test::Words words() const {
    return stab_.schedule_words(stab_.package("net", k_relu), "onert-1.30",
                                {"--no-verify", "--no-check"});
  }
  /// Schedules it once more from the traces that words() left.
  test::Words words_again() const {
    return stab_.schedule_again_words(stab_.folder() / "packages" / "net");
  }
  /// The same in a shell that redirects as the text says.
  ProcessResult again_redirected(const std::string& redirection) const {
    test::Words line = {"/bin/sh", "-c", "\"$@\" " + redirection, "sh"};
    for (const std::string& word : words_again()) line.push_back(word);
    return test::run_process(line, with({}));
  }

  const StabProgram stab_;
};

TEST_F(Terminal, IsDrawnOnWithProgressAndWeight) {
  const ProcessResult run = test::run_in_terminal(words(), 72, with({{"TERM", "xterm"}}));
  ASSERT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, HasSubstr("\r\033[K")) << "progress is redrawn";
  EXPECT_THAT(run.out, ContainsRegex("profile  [0-9]+ %"));
  EXPECT_THAT(run.out, HasSubstr("; so far cpu ")) << "with the current estimate";
  EXPECT_THAT(run.out, HasSubstr("\033[1mstab "));
  const std::size_t report = run.out.find("\033[1mstab ");
  EXPECT_LE(widest(run.out.substr(run.out.find('\n', report))), 72U + 8U);
}

TEST_F(Terminal, ThatWantsNoColourGetsNone) {
  const ProcessResult run =
      test::run_in_terminal(words(), 100, with({{"TERM", "xterm"}, {"NO_COLOR", "1"}}));
  ASSERT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, Not(HasSubstr("\033[1m")));
}

TEST_F(Terminal, ThatUnderstandsNothingIsNotDrawnOn) {
  const ProcessResult run = test::run_in_terminal(words(), 100, with({{"TERM", "dumb"}}));
  ASSERT_EQ(run.exit_code, 0) << run.out;
  EXPECT_THAT(run.out, Not(HasSubstr("\033")));
}

TEST_F(Terminal, IsNoPipeWhichGetsPlainTextAndALineAStage) {
  const ProcessResult run = test::run_process(words(), with({{"TERM", "xterm"}}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out + run.err, Not(HasSubstr("\033")));
  EXPECT_THAT(run.out, Not(HasSubstr("\r")));
  for (const char* stage : {"stab: check: ", "stab: profile: ", "stab: prove: ", "stab: write"})
    EXPECT_EQ(count_in(run.err, stage), 1U) << stage << "\n" << run.err;
}

TEST_F(Terminal, OrPipeIsAsWideAsColumnsSays) {
  ASSERT_EQ(test::run_process(words(), with({})).exit_code, 0);
  const test::Words again = words_again();
  const ProcessResult narrow = test::run_process(again, with({{"COLUMNS", "64"}}));
  ASSERT_EQ(narrow.exit_code, 0) << narrow.err;
  EXPECT_LE(widest(narrow.out), 64U) << narrow.out;
  const ProcessResult odd = test::run_process(again, with({{"COLUMNS", "wide"}}));
  EXPECT_EQ(odd.out, test::run_process(again, with({})).out);
}

TEST_F(Terminal, ThatIsGoneCostsTheReportAndNoMore) {
  ASSERT_EQ(test::run_process(words(), with({})).exit_code, 0);
  const fs::path record = stab_.written("net") / "metadata" / "stab.json";
  for (const char* redirection : {">&-", ">/dev/full", ">&- <&-"}) {
    fs::remove_all(stab_.written("net"));
    const ProcessResult run = again_redirected(redirection);
    EXPECT_EQ(run.exit_code, 5) << redirection;
    EXPECT_THAT(run.err, HasSubstr("cannot write the results 'standard output'")) << redirection;
    EXPECT_EQ(parse_schedule(test::read_text(record), record.string()).threads, 1);
  }
  const ProcessResult silent = again_redirected(">report 2>&-");
  EXPECT_EQ(silent.exit_code, 0);
  EXPECT_THAT(test::last_line(test::read_text(stab_.folder() / "report")), HasSubstr("wrote "));
}

}  // namespace
}  // namespace stab
