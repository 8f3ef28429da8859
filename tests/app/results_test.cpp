// SPDX-License-Identifier: Apache-2.0
// What a job leaves for people and for CI: every document and file of real runs, and of jobs that
// fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/chrome_trace.h"
#include "support/real_world.h"
#include "support/schema.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::ProcessResult;
using test::read_text;
using test::schema_violations;
using test::StabProgram;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* k_relu = "input in f32[1,16]\nout = RELU(in)\noutput out\n";

class Results : public ::testing::Test {
 protected:
  /// The options for every file.
  static test::Words all_files() {
    return {"--json",  "r/result.json", "--csv",  "r/ops.csv",
            "--junit", "r/junit.xml",   "--html", "r/report.html"};
  }
  std::string file(const std::string& name) const { return read_text(stab_.folder() / "r" / name); }

  const StabProgram stab_;
};

TEST_F(Results, OfARealJobAreValidAndWhole) {
  const fs::path package = stab_.real_package("rnet", "rnet.tflite");
  const ProcessResult run = stab_.schedule(package, "onert-1.30", all_files());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(schema_violations("result", file("result.json")), "");
  EXPECT_EQ(schema_violations("profile", read_text(stab_.traces("rnet") / "profile.json")), "");
  EXPECT_EQ(
      schema_violations("schedule", read_text(stab_.written("rnet") / "metadata" / "stab.json")),
      "");
  EXPECT_THAT(file("ops.csv"), StartsWith("op,type,name,fixed,chosen,chosen_us,cpu_us,"));
  EXPECT_THAT(file("junit.xml"), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(file("report.html"), HasSubstr("verdict\">proven: wrote"));

  std::size_t traces = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(stab_.traces("rnet"))) {
    if (!entry.path().string().ends_with(".chrome.json")) continue;
    ++traces;
    EXPECT_EQ(test::chrome_trace_violations(read_text(entry.path())), "") << entry.path();
  }
  EXPECT_GE(traces, 6U) << "three rounds of two backends";

  const ProcessResult again = stab_.schedule_again(package, all_files());
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(schema_violations("result", file("result.json")), "");
  EXPECT_EQ(json::parse(file("result.json"))["outcome"], "estimated");
  EXPECT_THAT(file("junit.xml"), HasSubstr("failures=\"0\" errors=\"0\" skipped=\"3\""));

  test::Words verify = {"verify",
                        "--nnpackage",
                        stab_.written("rnet").string(),
                        "--ip",
                        "local",
                        "--runtime",
                        test::require_runtime("onert-1.30-" + test::host_arch()).string(),
                        "--remote-dir",
                        (stab_.folder() / "work").string(),
                        "--lock-wait",
                        "10m",
                        "-w",
                        "1",
                        "-r",
                        "6",
                        "--rounds",
                        "3"};
  for (const std::string& word : all_files()) verify.push_back(word);
  const ProcessResult verified = stab_.run(verify);
  EXPECT_EQ(schema_violations("result", file("result.json")), "") << verified.err;
  EXPECT_EQ(json::parse(file("result.json"))["exit_status"], verified.exit_code);
  EXPECT_THAT(file("junit.xml"), HasSubstr("tests=\"4\""));
}

TEST_F(Results, GoToStandardOutputWhereTheFileIsADash) {
  const fs::path package = stab_.package("net", k_relu);
  const test::Words quick = {"--no-verify", "--no-check"};
  ASSERT_EQ(stab_.schedule(package, "onert-1.30", quick).exit_code, 0);
  EXPECT_THAT(stab_.schedule_again(package, {"--csv", "-"}).out, StartsWith("op,type,name,"));
  EXPECT_THAT(stab_.schedule_again(package, {"--junit", "-"}).out, StartsWith("<?xml "));
  EXPECT_EQ(schema_violations("result", stab_.schedule_again(package, {"--json", "-"}).out), "");
  const ProcessResult two = stab_.schedule_again(package, {"--csv", "-", "--format", "json"});
  EXPECT_EQ(two.exit_code, 2);
  EXPECT_THAT(two.err, HasSubstr("standard output carries one result"));
}

TEST_F(Results, SayHowAJobFailedThatNeverStarted) {
  test::Words words = {"--nnpackage", "no_such_package", "--ip", "local", "--format", "json"};
  for (const std::string& word : all_files()) words.push_back(word);
  const ProcessResult run = stab_.run(words);
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_EQ(run.out, file("result.json"));
  EXPECT_EQ(schema_violations("result", run.out), "");
  const json result = json::parse(run.out);
  EXPECT_EQ(result["outcome"], "failed");
  EXPECT_EQ(result["error"]["kind"], "input");
  EXPECT_EQ(result["context"]["model"], nullptr);
  EXPECT_EQ(result["exit_status"], 3);
  EXPECT_THAT(file("junit.xml"), HasSubstr("errors=\"1\" skipped=\"3\""));
}

TEST_F(Results, AreRefusedBeforeAnythingIsMeasuredWhereTheyCannotBeWritten) {
  const fs::path package = stab_.package("net", k_relu);
  const ProcessResult run = stab_.schedule(package, "onert-1.30", {"--junit", "."});
  EXPECT_EQ(run.exit_code, 5);
  EXPECT_THAT(run.err, HasSubstr("it is a folder"));
  EXPECT_FALSE(fs::exists(stab_.folder() / "traces"));
}

TEST_F(Results, OfTheDoctorAreValid) {
  const ProcessResult run = stab_.run({"doctor", "--ip", "local", "--format", "json",
                                       "--remote-dir", (stab_.folder() / "work").string()});
  EXPECT_EQ(schema_violations("doctor", run.out), "") << run.err;
}

}  // namespace
}  // namespace stab
