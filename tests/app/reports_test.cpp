// SPDX-License-Identifier: Apache-2.0
// The forms of a result: the same value gives the texts that are kept in tests/golden, and each
// form is what its readers expect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <locale>

#include "stab/core/report.h"
#include "support/golden.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/simulated_job.h"
#include "support/temp_dir.h"

/// Read by the leak sanitizer. glibc never frees the list that it makes of LOCPATH.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:__argz_add_sep\n";
}

namespace stab {
namespace {

using test::expect_golden;
using test::simulated_job;
using ::testing::HasSubstr;
using ::testing::Not;

TextStyle style(int width, bool colour = false, int verbosity = 0) {
  return {width, colour, verbosity};
}

/// Checks a JUnit report against the form that CI servers read; empty when it is right.
std::string junit_violations(const std::string& report) {
  const test::TempDir dir;
  const test::ProcessResult result = test::run_process(
      {test::require_program("xmllint").string(), "--noout", "--nonet", "--schema",
       std::string(STAB_TEST_DATA) + "/junit.xsd", dir.write("junit.xml", report).string()});
  return result.exit_code == 0 ? "" : result.err;
}

/// A job that ended with this error.
Result ended_with(ErrorKind kind, Outcome outcome) {
  Result result;
  result.stab.version = "0.1.0";
  result.context.package.name = "net";
  result.exit_status = exit_status(kind);
  result.outcome = outcome;
  if (kind != ErrorKind::interrupted)
    result.error = ErrorRow{kind, "cannot reach", "board <1>", "no route & no hope", "a cable"};
  return result;
}

std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The rows of a CSV text by RFC 4180.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[i++];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      ++i;
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Reports, OfARecordedJobAreAsTheyWere) {
  const Result result = simulated_job().result;
  expect_golden("report.txt", render_text(result, style(100)));
  expect_golden("report_narrow_verbose.txt", render_text(result, style(72, true, 1)));
  expect_golden("result.json", render_result(result));
  expect_golden("stab.json", render_schedule(result, true));
  expect_golden("operations.csv", render_csv(result));
  expect_golden("junit.xml", render_junit(result));
}

TEST(Reports, AreTheSameBytesForTheSameJob) {
  const Result one = simulated_job().result;
  const Result other = simulated_job().result;
  EXPECT_EQ(render_result(one), render_result(other));
  EXPECT_EQ(render_csv(one), render_csv(other));
  EXPECT_EQ(render_junit(one), render_junit(other));
}

/// German, with a decimal comma, for as long as the object lives. Built here, for few machines have
/// it.
class GermanLocale {
 public:
  GermanLocale() {
    const test::ProcessResult built =
        test::run_process({test::require_program("localedef").string(), "-i", "de_DE", "-f",
                           "UTF-8", (dir_.path() / "de_DE.UTF-8").string()});
    if (built.exit_code != 0) test::skip_or_fail("localedef: " + built.err);
    setenv("LOCPATH", dir_.path().c_str(), 1);
    std::locale::global(std::locale("de_DE.UTF-8"));
  }
  ~GermanLocale() {
    std::locale::global(std::locale::classic());
    unsetenv("LOCPATH");
  }

 private:
  const test::TempDir dir_;
};

TEST(Reports, HaveDecimalPointsWhateverTheLocale) {
  const auto all = [](const Result& result) {
    return render_text(result, style(90)) + render_explanation(result, style(90)) +
           render_result(result) + render_csv(result) + render_junit(result) + render_html(result);
  };
  const Result result = simulated_job().result;
  const std::string usual = all(result);
  const GermanLocale german;
  ASSERT_STREQ(localeconv()->decimal_point, ",");
  EXPECT_TRUE(all(result) == usual);
  EXPECT_TRUE(all(simulated_job().result) == usual);
}

TEST(Csv, HasALineForEachOperationWithEveryBackendThatWasMeasured) {
  const Result result = simulated_job().result;
  const auto rows = parse_csv(render_csv(result));
  ASSERT_EQ(rows.size(), result.ops.size() + 1);
  EXPECT_EQ(rows.front().size(), 6U + 4U * 3U) << "xnnpack was not measured and has no columns";
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows.front().size());
  EXPECT_EQ(rows[0][6], "cpu_us");
  EXPECT_EQ(rows[1][0], "0:0");
  EXPECT_EQ(rows[3][2], "block/<conv> & \"bias\"") << "quotes come back";
}

TEST(Csv, LetsNoNameOfAModelActAsAFormula) {
  const auto rows = parse_csv(render_csv(simulated_job().result));
  EXPECT_EQ(rows[5][2], "'=SUM(A1:A9), really");
}

TEST(Csv, LeavesEmptyWhatIsNotKnown) {
  Result result = simulated_job().result;
  result.ops[0].candidates.erase("ruy");
  result.ops[0].in_company_us.clear();
  const auto rows = parse_csv(render_csv(result));
  const auto column = static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), "ruy_us") -
                                               rows[0].begin());
  EXPECT_EQ(rows[1][column], "");
  EXPECT_EQ(rows[1][column + 3], "");
  EXPECT_NE(rows[2][column], "");
}

TEST(Csv, OfAJobThatEndedEarlyIsItsHeadAlone) {
  EXPECT_EQ(render_csv(ended_with(ErrorKind::device, Outcome::failed)),
            "op,type,name,fixed,chosen,chosen_us\r\n");
}

TEST(JUnit, HasTheJobAndEachProofAsATestCase) {
  const std::string report = render_junit(simulated_job().result);
  EXPECT_EQ(junit_violations(report), "");
  EXPECT_THAT(report, HasSubstr("tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"0\""));
  for (const char* name : {"job", "applied", "equal", "faster"})
    EXPECT_THAT(report, HasSubstr("<testcase name=\"" + std::string(name) + "\""));
  EXPECT_THAT(report, HasSubstr("timestamp=\"2026-01-31T12:00:00\""));
  EXPECT_THAT(report, HasSubstr("name=\"net &lt;1&gt;\""));
}

TEST(JUnit, TellsAProofThatWasLeftOutFromOneThatFailed) {
  Result result = test::simulated_estimate();
  EXPECT_THAT(render_junit(result), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"3\""));
  EXPECT_EQ(junit_violations(render_junit(result)), "");
  for (Plan& plan : result.plans) {
    plan.equal.status = ProofStatus::fail;
    plan.equal.reason = "output 0 differs";
  }
  result.outcome = Outcome::failed;
  result.exit_status = 6;
  result.error = ErrorRow{ErrorKind::proof, "cannot prove package", "net", "outputs differ", ""};
  const std::string report = render_junit(result);
  EXPECT_EQ(junit_violations(report), "");
  EXPECT_THAT(report, HasSubstr("failures=\"1\" errors=\"0\" skipped=\"2\""));
  EXPECT_THAT(report, HasSubstr("<failure message=\"fail: output 0 differs\" type=\"equal\"/>"));
}

TEST(JUnit, SaysOfAnUnsureComparisonOfOutputsNeitherPassNorFailure) {
  Result result = simulated_job().result;
  for (Plan& plan : result.plans) plan.equal.status = ProofStatus::unsure;
  EXPECT_THAT(render_junit(result), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
}

TEST(JUnit, SaysHowAJobEndedThatNeverGotToItsProofs) {
  const std::string failed = render_junit(ended_with(ErrorKind::device, Outcome::failed));
  EXPECT_EQ(junit_violations(failed), "");
  EXPECT_THAT(failed, HasSubstr("tests=\"4\" failures=\"0\" errors=\"1\" skipped=\"3\""));
  EXPECT_THAT(failed, HasSubstr("<error message=\"cannot reach &#39;board &lt;1&gt;&#39;: no route "
                                "&amp; no hope; try a cable\" type=\"device\"/>"));
  const std::string stopped =
      render_junit(ended_with(ErrorKind::interrupted, Outcome::interrupted));
  EXPECT_EQ(junit_violations(stopped), "");
  EXPECT_THAT(stopped, HasSubstr("<error message=\"interrupted\" type=\"interrupted\"/>"));
  const std::string refused = render_junit(ended_with(ErrorKind::proof, Outcome::refused));
  EXPECT_EQ(junit_violations(refused), "");
  EXPECT_THAT(refused, HasSubstr("failures=\"1\" errors=\"0\" skipped=\"3\""));
}

TEST(JUnit, HasTheGateAsATestCase) {
  Result result = simulated_job().result;
  result.comparison.emplace();
  result.comparison->verdict = ChangeVerdict::slower;
  result.comparison->delta_percent = Interval{9.5, 8, 11};
  EXPECT_THAT(render_junit(result), HasSubstr("<testcase name=\"comparison\""));
  result.comparison->gate_percent = 5;
  const auto with = [&](GateStatus gate, int exit_status) {
    result.comparison->gate = gate;
    result.exit_status = exit_status;
    EXPECT_EQ(junit_violations(render_junit(result)), "");
    return render_junit(result);
  };
  EXPECT_THAT(with(GateStatus::pass, 0), HasSubstr("tests=\"5\" failures=\"0\""));
  EXPECT_THAT(with(GateStatus::fail, 6), HasSubstr("failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(with(GateStatus::fail, 6), HasSubstr("type=\"regression\""));
  EXPECT_THAT(with(GateStatus::unsure, 0), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(with(GateStatus::unsure, 6), HasSubstr("failures=\"1\"")) << "--strict";
}

TEST(JUnit, HoldsNoCharacterThatXmlHasNoPlaceFor) {
  Result result = ended_with(ErrorKind::input, Outcome::failed);
  result.context.package.name = "net\x01\xff\xef\xbf\xbe\"<";
  result.warnings = {{"id", Severity::warning, "\x1b[31m", "]]> & <b>", ""}};
  const std::string report = render_junit(result);
  EXPECT_EQ(junit_violations(report), "");
  EXPECT_THAT(report, Not(HasSubstr("\x1b")));
  EXPECT_EQ(count_in(report, "<b>"), 0U);
}

}  // namespace
}  // namespace stab
