// SPDX-License-Identifier: Apache-2.0
// A job without a device from the flat trace files of the tool that came first: no runtime takes
// part, so that all of it also runs under the sanitizers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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
using ::testing::StartsWith;

constexpr const char* k_model = R"(
  input in f32[1,8,8,3]
  const w f32[4,3,3,3]
  const v f32[4,3,3,4]
  const b f32[4]
  first f32[1,8,8,4] = CONV_2D(in, w, b) padding=SAME
  second f32[1,8,8,4] = CONV_2D(first, v, b) padding=SAME
  out = RELU(second)
  output out
)";

std::string entry(int index, const std::string& type, const std::string& backend, int us) {
  return "\"$0 subgraph $" + std::to_string(index) + " " + type +
         "\":{\"Avg_Time\":" + std::to_string(us) + ",\"Max_Time\":" + std::to_string(us) +
         ",\"Min_Time\":" + std::to_string(us) + ",\"Runtime\":\"" + backend + "\"}";
}

/// What a run with both convolutions on `backend` leaves.
std::string averaged(const std::string& backend, int first, int second,
                     const std::string& last_type = "ReLU") {
  const std::string on_cpu = entry(2, last_type, "cpu", 5);
  const std::string convolutions =
      entry(0, "Conv2D", backend, first) + "," + entry(1, "Conv2D", backend, second);
  const std::string ops =
      backend == "cpu" ? "\"cpu\":{" + convolutions + "," + on_cpu + "}"
                       : "\"cpu\":{" + on_cpu + "},\"" + backend + "\":{" + convolutions + "}";
  const std::string total = std::to_string(first + second + 5);
  return "{\"Execution_Data\":{" + ops +
         ",\"memory\":{},\"runtime\":{\"Graph\":{\"Avg_Time\":" + total + ",\"Max_Time\":" + total +
         ",\"Min_Time\":" + total + ",\"Runtime\":\"runtime\"}}},\"version\":\"2\"}";
}

class FromTraces : public ::testing::Test {
 protected:
  void SetUp() override {
    package_ = stab_.package("net", k_model);
    write("cpu_1", averaged("cpu", 900, 300));
    write("ruy_1", averaged("ruy", 400, 800));
  }

  void write(const std::string& name, const std::string& text) const {
    stab_.dir().write("traces/" + name, text);
  }

  std::string config() const { return read_text(stab_.written("net") / "metadata" / "config.cfg"); }

  const StabProgram stab_;
  fs::path package_;
};

TEST_F(FromTraces, PutsEachOperationOnItsFastestBackend) {
  const ProcessResult result = stab_.schedule_again(package_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(last_line(result.out),
              StartsWith("estimated (skipped: applied equal faster): wrote "));
  EXPECT_THAT(config(), HasSubstr("OP_BACKEND_MAP=0=ruy\n"));
  EXPECT_THAT(config(), HasSubstr("BACKENDS=cpu;ruy\n"));
}

TEST_F(FromTraces, ExplainsTheSameDecision) {
  const ProcessResult result =
      stab_.run({"explain", "--nnpackage", package_.string(), "--trace-dir", "traces"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string text = unwrapped(result.out);
  EXPECT_THAT(text, HasSubstr("0:0 Conv2D"));
  EXPECT_THAT(text, HasSubstr("optimal for the measured costs"));
  EXPECT_FALSE(fs::exists(stab_.written("net"))) << "explaining writes nothing";
}

TEST_F(FromTraces, RefusesTracesWhoseOperationsAreNotTheModels) {
  write("ruy_1", averaged("ruy", 400, 800, "Softmax"));
  const ProcessResult result = stab_.schedule_again(package_);
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_THAT(result.err, HasSubstr("Softmax"));
  EXPECT_THAT(result.err, HasSubstr("ReLU"));
  EXPECT_FALSE(fs::exists(stab_.written("net")));
}

TEST_F(FromTraces, GoesOnWithoutATraceThatIsCutOff) {
  write("ruy_1", averaged("ruy", 400, 800).substr(0, 120));
  const ProcessResult result = stab_.schedule_again(package_);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(unwrapped(result.out), HasSubstr("ruy"));
  EXPECT_THAT(config(), ::testing::Not(HasSubstr("OP_BACKEND_MAP")));
}

TEST_F(FromTraces, EndsWhenNothingUsableIsLeft) {
  write("cpu_1", "{");
  write("ruy_1", "");
  const ProcessResult result = stab_.schedule_again(package_);
  EXPECT_EQ(result.exit_code, 3) << result.out;
  EXPECT_THAT(result.err, HasSubstr("no run in them can be used"));
}

TEST_F(FromTraces, TakesOtherThreadsOnlyWhenForced) {
  EXPECT_EQ(stab_.schedule_again(package_, {"-n", "4"}).exit_code, 3);
  const ProcessResult forced = stab_.schedule_again(package_, {"-n", "4", "--force"});
  ASSERT_EQ(forced.exit_code, 0) << forced.err;
  EXPECT_THAT(config(), HasSubstr("NUM_THREADS=4\n"));
  EXPECT_THAT(unwrapped(forced.out), HasSubstr("its times are those of 1 threads"));
}

TEST_F(FromTraces, RecordsThePlanTheStringsForTheApiAndTheInterval) {
  ASSERT_EQ(stab_.schedule_again(package_).exit_code, 0);
  const auto record =
      nlohmann::json::parse(read_text(stab_.written("net") / "metadata" / "stab.json"));
  EXPECT_EQ(record.at("delivery").at("api").at("available_backends"), "cpu;ruy");
  EXPECT_EQ(record.at("delivery").at("api").at("per_operation"), "0=ruy");
  EXPECT_TRUE(record.at("context").at("device").is_null());
  EXPECT_EQ(record.at("certificate").at("status"), "optimal");
  EXPECT_EQ(record.at("ops").size(), 3U);
}

TEST_F(FromTraces, QuotesTheCommandThatRunsIt) {
  const ProcessResult result = stab_.schedule_again(package_, {"-o", "my out; echo"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("/my out; echo/net'"));
}

}  // namespace
}  // namespace stab
