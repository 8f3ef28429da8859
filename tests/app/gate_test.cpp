// SPDX-License-Identifier: Apache-2.0
// Baselines and gates from the command line to the exit status, on a real runtime.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stab/core/sha256.h"
#include "support/real_world.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::last_line;
using test::ProcessResult;
using test::read_text;
using test::StabProgram;
using test::unwrapped;
using ::testing::HasSubstr;

/// Where ruy's convolutions take several times as long as cpu's, and the user insists on them.
const test::Words k_slow = {"--pin", "type:Conv2D=ruy", "--no-check"};

class Gate : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::host_arch() != "x86_64") test::skip_or_fail("this machine is no x86_64");
    package_ = stab_.real_package("onet", "onet.tflite");
    const ProcessResult good =
        stab_.schedule(package_, "onert-1.30", {"--no-check", "--json", "good.json"});
    ASSERT_EQ(good.exit_code, 0) << good.err;
  }

  ProcessResult schedule(test::Words words, const test::Words& more) const {
    words.insert(words.end(), more.begin(), more.end());
    return stab_.schedule(package_, "onert-1.30", words);
  }

  nlohmann::json result(const std::string& name) const {
    return nlohmann::json::parse(read_text(stab_.folder() / name));
  }

  std::string record() const { return read_text(stab_.written("onet") / "metadata/stab.json"); }

  const StabProgram stab_;
  fs::path package_;
};

TEST_F(Gate, ThatIsCrossedTonightEndsWithSixAndWritesNoPackage) {
  const std::string before = record();
  const ProcessResult slow = schedule(
      k_slow, {"--baseline", "good.json", "--max-regression", "5%", "--json", "slow.json"});
  EXPECT_EQ(slow.exit_code, 6) << slow.out << slow.err;
  EXPECT_THAT(slow.err, HasSubstr("the gate failed against 'good.json'"));
  EXPECT_EQ(last_line(slow.out), "refused: nothing was written");
  EXPECT_THAT(unwrapped(slow.out), HasSubstr("Against the baseline file good.json verdict "));
  EXPECT_EQ(record(), before) << "the package of the good night stays";
  const auto json = result("slow.json");
  EXPECT_EQ(json.at("exit_status"), 6);
  EXPECT_EQ(json.at("outcome"), "refused");
  EXPECT_EQ(json.at("written"), nullptr);
  EXPECT_EQ(json.at("error").at("kind"), "proof");
  EXPECT_EQ(json.at("comparison").at("basis"), "pairs");
  EXPECT_EQ(json.at("comparison").at("verdict"), "slower");
  EXPECT_EQ(json.at("comparison").at("gate"), "fail");
  EXPECT_GT(json.at("comparison").at("ops").size(), 10U);

  const ProcessResult files = stab_.run(
      {"compare", "good.json", "slow.json", "--max-regression", "5%", "--format", "json"});
  EXPECT_EQ(files.exit_code, 6) << files.out << files.err;
  EXPECT_EQ(nlohmann::json::parse(files.out).at("verdict"), "slower") << "four times is sure";
}

TEST_F(Gate, PassesWhereTonightsScheduleIsTheBaselines) {
  for (const char* baseline : {"good.json", "out/onet/metadata/stab.json"}) {
    SCOPED_TRACE(baseline);
    const std::string hash = sha256_hex(read_text(stab_.folder() / baseline));
    const ProcessResult again =
        schedule({"--no-check", "--backends", "cpu"},
                 {"--baseline", baseline, "--max-regression", "5%", "--json", "again.json"});
    EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
    const auto comparison = result("again.json").at("comparison");
    EXPECT_EQ(comparison.at("basis"), "same_plan");
    EXPECT_EQ(comparison.at("verdict"), "same");
    EXPECT_EQ(comparison.at("baseline_sha256"), hash);
  }
}

TEST_F(Gate, OfAVerifiedPackageIsThatOfItsPairs) {
  ASSERT_EQ(schedule(k_slow, {}).exit_code, 0);
  const test::Words words = {"verify",
                             "--nnpackage",
                             stab_.written("onet").string(),
                             "--ip",
                             "local",
                             "--runtime",
                             test::require_runtime("onert-1.30-x86_64").string(),
                             "--remote-dir",
                             (stab_.folder() / "work").string(),
                             "--lock-wait",
                             "10m",
                             "-w",
                             "1",
                             "-r",
                             "6",
                             "--rounds",
                             "3",
                             "--no-check",
                             "--baseline",
                             "good.json",
                             "--max-regression",
                             "5%",
                             "--json",
                             "verified.json"};
  const ProcessResult verified = stab_.run(words);
  EXPECT_EQ(verified.exit_code, 6) << verified.out << verified.err;
  const auto comparison = result("verified.json").at("comparison");
  EXPECT_EQ(comparison.at("basis"), "pairs");
  EXPECT_EQ(comparison.at("gate"), "fail");
}

TEST_F(Gate, ComparesFilesWithoutADevice) {
  const ProcessResult again = stab_.schedule_again(
      package_, {"--baseline", "good.json", "--max-regression", "5%", "--json", "again.json"});
  EXPECT_EQ(again.exit_code, 0) << again.out << again.err;
  const auto comparison = result("again.json").at("comparison");
  EXPECT_NE(comparison.at("basis"), "pairs");
  EXPECT_GT(comparison.at("ops").size(), 10U);
}

TEST_F(Gate, RefusesABaselineOfOtherCircumstancesBeforeItMeasures) {
  const ProcessResult threads = schedule({"-n", "2"}, {"--baseline", "good.json"});
  EXPECT_EQ(threads.exit_code, 3) << threads.out;
  EXPECT_THAT(threads.err, HasSubstr("the number of threads is 2, it was 1"));
  EXPECT_THAT(threads.err, HasSubstr("--force"));
  const ProcessResult masked = schedule({"--affinity", "0x1"}, {"--baseline", "good.json"});
  EXPECT_EQ(masked.exit_code, 3);
  EXPECT_THAT(masked.err, HasSubstr("--affinity is '0x1', it was not given"));
  stab_.dir().write("broken.json", "{\"kind\": \"result\"");
  const ProcessResult broken = schedule({}, {"--baseline", "broken.json"});
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr("'broken.json'"));
}

}  // namespace
}  // namespace stab
