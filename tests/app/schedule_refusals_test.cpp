// SPDX-License-Identifier: Apache-2.0
// Jobs that cannot be done end with one line that says why, and with the status of their kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/model_builder.h"
#include "support/real_world.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::StabProgram;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* k_relu = "input in f32[1,16]\nout = RELU(in)\noutput out\n";

class ScheduleRefusals : public ::testing::Test {
 protected:
  ProcessResult schedule(const fs::path& package, const test::Words& more = {}) const {
    return stab_.schedule(package, "onert-1.30", more);
  }

  /// The one line of a job that ended with `status`.
  static std::string error_of(const ProcessResult& result, int status) {
    EXPECT_EQ(result.exit_code, status) << result.out << result.err;
    EXPECT_THAT(result.out, "");
    const std::string line = test::last_line(result.err);
    EXPECT_THAT(line, StartsWith("stab: "));
    return line;
  }

  const StabProgram stab_;
};

TEST_F(ScheduleRefusals, OfUsage) {
  const fs::path package = stab_.package("net", k_relu);
  EXPECT_THAT(error_of(stab_.run({"--nonsense"}), 2), HasSubstr("nonsense"));
  EXPECT_THAT(error_of(stab_.run({"--nnpackage", package.string()}), 2), HasSubstr("--ip"));
  EXPECT_THAT(error_of(schedule(package, {"--set", "BACKENDS=ruy"}), 2), HasSubstr("BACKENDS"));
  EXPECT_THAT(error_of(schedule(package, {"-o", package.parent_path().string()}), 2),
              HasSubstr("the package that is read"));
}

TEST_F(ScheduleRefusals, OfTracesWhereTheyWouldReplaceAPackage) {
  const fs::path package = stab_.package("net", k_relu);
  const std::string model = test::read_text(package / "net.tflite");
  const std::string beside = package.parent_path().string();
  EXPECT_THAT(error_of(schedule(package, {"--trace-dir", beside}), 2),
              HasSubstr("the package that is read"));
  EXPECT_THAT(error_of(schedule(package, {"--trace-dir", "out"}), 2),
              HasSubstr("the scheduled package goes there"));
  stab_.dir().write("traces/net/thesis.txt", "mine");
  EXPECT_THAT(error_of(schedule(package), 5), HasSubstr("stab did not make it"));
  EXPECT_EQ(test::read_text(package / "net.tflite"), model);
  EXPECT_EQ(test::read_text(stab_.folder() / "traces/net/thesis.txt"), "mine");
}

TEST_F(ScheduleRefusals, OfBadInput) {
  const fs::path package = stab_.package("net", k_relu);
  EXPECT_THAT(error_of(schedule(stab_.folder() / "absent"), 3), HasSubstr("absent"));
  fs::create_directories(stab_.folder() / "empty");
  EXPECT_THAT(error_of(schedule(stab_.folder() / "empty"), 3), HasSubstr("metadata/MANIFEST"));
  EXPECT_THAT(error_of(schedule(package, {"--runtime", stab_.folder() / "empty"}), 3),
              HasSubstr("empty"));
  EXPECT_THAT(error_of(schedule(package, {"--pin", "7=ruy"}), 3), HasSubstr("7"));
  EXPECT_THAT(error_of(schedule(package, {"--runner", "own"}), 3),
              HasSubstr("the folder has no bin/onert_run or bin/nnpackage_run"));
  fs::resize_file(package / "net.tflite", 40);
  EXPECT_THAT(error_of(schedule(package), 3), HasSubstr("net.tflite"));
}

TEST_F(ScheduleRefusals, OfWhatTheRuntimeCannotRunInItsOwnWords) {
  const fs::path package = stab_.package(
      "odd", "input in f32[1,16]\nout f32[1,16] = CUSTOM:NobodyKnowsIt(in)\noutput out\n");
  const std::string line = error_of(schedule(package), 4);
  EXPECT_THAT(line, HasSubstr("cannot run the model on 'cpu'"));
  EXPECT_THAT(line, HasSubstr("rror during model"));
}

TEST_F(ScheduleRefusals, OfWhatCannotBeWritten) {
  const fs::path package = stab_.package("net", k_relu);
  stab_.dir().write("file", "here first");
  EXPECT_THAT(error_of(schedule(package, {"-o", "file"}), 5), HasSubstr("file"));
  EXPECT_THAT(error_of(schedule(package, {"--trace-dir", "file"}), 5), HasSubstr("file"));
  stab_.dir().write("out/net/notes.txt", "mine");
  EXPECT_THAT(error_of(schedule(package), 5), HasSubstr("--force"));
  EXPECT_EQ(test::read_text(stab_.folder() / "out/net/notes.txt"), "mine");
  EXPECT_EQ(test::read_text(stab_.folder() / "file"), "here first");
}

TEST_F(ScheduleRefusals, LeaveNothingBehind) {
  const fs::path package = stab_.package(
      "odd", "input in f32[1,16]\nout f32[1,16] = CUSTOM:NobodyKnowsIt(in)\noutput out\n");
  error_of(schedule(package), 4);
  EXPECT_FALSE(fs::exists(stab_.written("odd")));
  EXPECT_FALSE(fs::exists(stab_.traces("odd")));
  EXPECT_TRUE(fs::exists(stab_.traces("odd.partial"))) << "what was measured stays for reading";
  EXPECT_TRUE(!fs::exists(stab_.folder() / "work/run") ||
              fs::is_empty(stab_.folder() / "work/run"));
}

}  // namespace
}  // namespace stab
