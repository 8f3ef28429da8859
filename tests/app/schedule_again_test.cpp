// SPDX-License-Identifier: Apache-2.0
// What a second job makes of the traces and the schedule of the first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "stab/core/result.h"
#include "stab/core/sha256.h"
#include "support/real_world.h"
#include "support/recorded.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::last_line;
using test::ProcessResult;
using test::read_text;
using test::StabProgram;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Convolutions whose weights are a pattern, or all one value.
std::string convolutions(const std::string& weights) {
  return R"(
    input in f32[1,16,16,3]
    const w f32[8,3,3,3])" +
         weights + R"(
    const b f32[8]
    const v f32[8,3,3,8]
    first f32[1,16,16,8] = CONV_2D(in, w, b) padding=SAME
    second f32[1,16,16,8] = CONV_2D(first, v, b) padding=SAME
    out = RELU(second)
    output out
  )";
}

Placement placement_of(const fs::path& written) {
  const fs::path record = written / "metadata" / "stab.json";
  return parse_schedule(read_text(record), record.string()).chosen.placement;
}

class ScheduleAgain : public ::testing::Test {
 protected:
  void SetUp() override {
    package_ = stab_.package("net", convolutions(""));
    const ProcessResult result = schedule({});
    ASSERT_EQ(result.exit_code, 0) << result.err;
  }

  ProcessResult schedule(test::Words more) const {
    more.insert(more.end(), {"--no-verify", "--no-check"});
    return stab_.schedule(package_, "onert-1.30", more);
  }

  /// Another model in a package of the same name.
  fs::path other_package() const {
    const fs::path model = stab_.dir().write(
        "others/net.tflite",
        test::read_text(stab_.package("other", convolutions(" = 0.5")) / "other.tflite"));
    return test::make_package(stab_.folder() / "others", "net", model);
  }

  const StabProgram stab_;
  fs::path package_;
};

TEST_F(ScheduleAgain, FromTheTracesWithoutADevice) {
  const ProcessResult result = stab_.schedule_again(package_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(last_line(result.out),
              StartsWith("estimated (skipped: applied equal faster): wrote "));
  EXPECT_THAT(test::unwrapped(result.out), HasSubstr("Runtime ONE runtime 1.30.0"));
}

TEST_F(ScheduleAgain, WithOtherPins) {
  const ProcessResult result = stab_.schedule_again(package_, {"--pin", "1=ruy"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(placement_of(stab_.written("net")), (Placement{{{0, 1}, "ruy"}}));
  const std::string config = read_text(stab_.written("net") / "metadata" / "config.cfg");
  EXPECT_THAT(config, HasSubstr("OP_BACKEND_MAP=1=ruy\n"));
}

TEST_F(ScheduleAgain, ButNotFromTracesOfAnotherModel) {
  const fs::path other = other_package();
  const std::string old_hash = sha256_hex(read_text(package_ / "net.tflite"));
  const std::string new_hash = sha256_hex(read_text(other / "net.tflite"));
  ASSERT_NE(old_hash, new_hash);
  // An output of its own: the schedule of the first model is not to be replaced either.
  const ProcessResult refused = stab_.schedule_again(other, {"-o", "out2"});
  EXPECT_EQ(refused.exit_code, 3) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr(old_hash.substr(0, 12)));
  EXPECT_THAT(refused.err, HasSubstr(new_hash.substr(0, 12)));
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_FALSE(fs::exists(stab_.folder() / "out2" / "net"));
  EXPECT_EQ(stab_.schedule_again(other, {"-o", "out2", "--force"}).exit_code, 0);
}

TEST_F(ScheduleAgain, ButNotOverTheScheduleOfAnotherModel) {
  const std::string before = read_text(stab_.written("net") / "metadata" / "stab.json");
  const ProcessResult refused = stab_.schedule_again(other_package());
  EXPECT_EQ(refused.exit_code, 5) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("another model"));
  EXPECT_EQ(read_text(stab_.written("net") / "metadata" / "stab.json"), before);
}

TEST_F(ScheduleAgain, ButNotWithThreadsThatWereNotMeasured) {
  const ProcessResult result = stab_.schedule_again(package_, {"-n", "2"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("-n"));
}

TEST_F(ScheduleAgain, ButNotForAnotherDevice) {
  const ProcessResult far = stab_.schedule_again(package_, {"--ip", "pi@kitchen"});
  EXPECT_EQ(far.exit_code, 3) << far.out;
  EXPECT_THAT(far.err, HasSubstr("made with --ip local, and asked for is pi@kitchen"));
  const ProcessResult named = stab_.schedule_again(package_, {"--device-name", "kitchen"});
  EXPECT_EQ(named.exit_code, 3) << named.out;
  EXPECT_THAT(named.err, HasSubstr("(without a name) and asked for is kitchen"));
  EXPECT_EQ(stab_.schedule_again(package_, {"--device-name", "kitchen", "--force"}).exit_code, 0);
  EXPECT_EQ(stab_.schedule_again(package_, {"--ip", "local"}).exit_code, 0);
}

TEST_F(ScheduleAgain, ButNotForADeviceOfAnotherName) {
  const fs::path file = stab_.traces("net") / "profile.json";
  auto profile = nlohmann::json::parse(read_text(file));
  profile["context"]["device"]["transport"] = "ssh";
  profile["context"]["device"]["host"] = "pi@kitchen:2222";
  stab_.dir().write("traces/net/profile.json", profile.dump());
  EXPECT_EQ(stab_.schedule_again(package_, {"--ip", "root@kitchen"}).exit_code, 0);
  const ProcessResult attic = stab_.schedule_again(package_, {"--ip", "pi@attic"});
  EXPECT_EQ(attic.exit_code, 3) << attic.out;
  EXPECT_THAT(attic.err, HasSubstr("the device pi@kitchen:2222 and asked for is pi@attic"));
}

TEST_F(ScheduleAgain, ButNotForOtherShapes) {
  const ProcessResult result = stab_.schedule_again(package_, {"--shape", "0:2,16,16,3"});
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_THAT(result.err, HasSubstr("those of the model and asked for is in 2x16x16x3"));
}

TEST_F(ScheduleAgain, WithoutWhatIsDamaged) {
  for (int round = 0; round < 3; ++round) {
    const std::string name = "ruy_1." + std::to_string(round);
    fs::resize_file(stab_.traces("net") / (name + ".json"), 10);
    fs::remove(stab_.traces("net") / (name + ".chrome.json"));
  }
  const ProcessResult result = stab_.schedule_again(package_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(test::unwrapped(result.out), HasSubstr("it is not what was measured"));
  EXPECT_THAT(test::unwrapped(result.out), HasSubstr("it is missing"));
  EXPECT_TRUE(placement_of(stab_.written("net")).empty());
}

TEST_F(ScheduleAgain, ButNotFromNothing) {
  fs::remove_all(stab_.traces("net"));
  fs::create_directories(stab_.folder() / "traces" / "net.partial");
  const ProcessResult result = stab_.schedule_again(package_);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("net.partial"));
}

/// The tool that came first wrote the recorded configuration from the same traces.
TEST(ScheduleGreedy, WritesTheMapOfTheFirstToolByteForByte) {
  const StabProgram stab;
  const fs::path package = stab.real_package("hand_landmark", "hand_landmark.tflite");
  for (const char* backend : {"cpu", "ruy", "xnnpack"}) {
    stab.dir().write(std::string("traces/") + backend + "_1",
                     test::recorded_run("onert-1.26-armv7", "hand_landmark", backend).averaged);
  }
  const ProcessResult result = stab.schedule_again(package, {"--algorithm", "greedy"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string first =
      read_text(fs::path(STAB_TEST_DATA) / "greedy" / "onert-1.26-armv7.hand_landmark.cfg");
  const auto line_of = [](const std::string& text, const std::string& key) {
    const std::size_t at = text.find(key + "=");
    return at == std::string::npos ? "" : text.substr(at, text.find('\n', at) - at);
  };
  const std::string ours = read_text(stab.written("hand_landmark") / "metadata" / "config.cfg");
  EXPECT_GT(line_of(first, "OP_BACKEND_MAP").size(), 20U);
  EXPECT_EQ(line_of(ours, "OP_BACKEND_MAP"), line_of(first, "OP_BACKEND_MAP"));
}

/// The op list has no types for it, so that nothing but the map can name its operations.
TEST(ScheduleGreedy, MapsTheOperationsOfADefaultThatTheOpListDoesNotKnow) {
  const StabProgram stab;
  const fs::path package = stab.real_package("onet", "onet.tflite");
  for (const char* backend : {"cpu", "acl_neon"}) {
    stab.dir().write(std::string("traces/") + backend + "_1",
                     test::recorded_run("onert-1.26-armv7", "onet", backend).averaged);
  }
  const ProcessResult result =
      stab.schedule_again(package, {"--algorithm", "greedy", "--backends", "cpu,acl_neon"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const fs::path written = stab.written("onet");
  const auto placement = placement_of(written);
  ASSERT_GT(placement.size(), 1U);
  const std::string config = read_text(written / "metadata" / "config.cfg");
  for (const auto& [op, backend] : placement) {
    EXPECT_EQ(backend, "acl_neon");
    EXPECT_THAT(config, testing::ContainsRegex("[=;]" + std::to_string(op.index) + "=acl_neon;"));
  }
}

}  // namespace
}  // namespace stab
