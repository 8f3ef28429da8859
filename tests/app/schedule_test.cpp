// SPDX-License-Identifier: Apache-2.0
// The main job from its command line to the written package, on real runtimes and real models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "stab/core/config.h"
#include "stab/core/result.h"
#include "stab/core/sha256.h"
#include "support/real_world.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::last_line;
using test::placement_in_a_run;
using test::ProcessResult;
using test::read_text;
using test::StabProgram;
using test::unwrapped;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::set<std::string> files_of(const fs::path& folder) {
  std::set<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.insert(entry.path().lexically_relative(folder).string());
  }
  return files;
}

RuntimeKeys config_of(const fs::path& package) {
  const fs::path file = package / "metadata" / "config.cfg";
  return parse_config(read_text(file), file.string()).keys;
}

Schedule record_of(const fs::path& package) {
  const fs::path file = package / "metadata" / "stab.json";
  return parse_schedule(read_text(file), file.string());
}

std::string environment_of(const fs::path& package) {
  return read_text(package / "metadata" / "stab.env");
}

std::string contents(const fs::path& folder) {
  std::string all;
  for (const std::string& file : files_of(folder)) all += file + "\n" + read_text(folder / file);
  return sha256_hex(all);
}

/// Only what a runtime takes from a package whose configuration comes too late for backends.
void expect_late_keys_only(const fs::path& package) {
  for (const auto& [key, value] : config_of(package)) {
    EXPECT_TRUE(key.ends_with("_THREADS") || key == "CPU_MEMORY_PLANNER") << key << "=" << value;
  }
}

/// onet's first convolution and its four FullyConnected.
const Placement k_pinned = {
    {{0, 0}, "ruy"}, {{0, 31}, "ruy"}, {{0, 38}, "ruy"}, {{0, 39}, "ruy"}, {{0, 40}, "ruy"}};

const test::Words k_pins = {"--pin", "0=ruy", "--pin", "type:FullyConnected=ruy", "--no-verify"};

class ScheduleReal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::host_arch() != "x86_64") test::skip_or_fail("this machine is no x86_64");
  }

  const StabProgram stab_;
};

TEST_F(ScheduleReal, ProvesThatEverythingOnCpuIsBestWhereItIs) {
  const fs::path package = stab_.real_package("onet", "onet.tflite");
  const std::string before = contents(package);
  const ProcessResult result = stab_.schedule(package, "onert-1.30");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(last_line(result.out), StartsWith("proven: wrote "));
  EXPECT_THAT(last_line(result.out), HasSubstr("everything on cpu is best"));
  EXPECT_THAT(result.out, HasSubstr("xnnpack   missing: ")) << "what is missing costs only itself";

  const fs::path written = stab_.written("onet");
  EXPECT_THAT(files_of(written),
              UnorderedElementsAre("metadata/MANIFEST", "metadata/config.cfg", "metadata/stab.env",
                                   "metadata/stab.json", "onet.tflite"));
  EXPECT_THAT(config_of(written), Contains(Pair("NUM_THREADS", "1")));
  expect_late_keys_only(written);
  EXPECT_THAT(environment_of(written), HasSubstr("BACKENDS='cpu'; export BACKENDS\n"));
  const Schedule record = record_of(written);
  EXPECT_EQ(record.model_sha256, sha256_hex(read_text(package / "onet.tflite")));
  EXPECT_TRUE(record.chosen.placement.empty());
  EXPECT_TRUE(placement_in_a_run(written, "onert-1.30", true).empty());
  EXPECT_EQ(contents(package), before) << "the source package was touched";
}

TEST_F(ScheduleReal, DeliversByThePackageAloneWhereTheRuntimeReadsIt) {
  const fs::path package = stab_.real_package("onet", "onet.tflite");
  const ProcessResult result = stab_.schedule(package, "onert-1.26", k_pins);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("applied   pass: the package alone is enough"));
  EXPECT_THAT(last_line(result.out), StartsWith("estimated (skipped: faster): wrote "));
  const fs::path written = stab_.written("onet");
  EXPECT_EQ(record_of(written).works, "config");
  EXPECT_EQ(record_of(written).chosen.placement, k_pinned);
  EXPECT_EQ(placement_in_a_run(written, "onert-1.26", false), k_pinned);
}

TEST_F(ScheduleReal, DeliversByTheEnvironmentWhereThePackageIsNotRead) {
  const fs::path package = stab_.real_package("onet", "onet.tflite");
  const ProcessResult result = stab_.schedule(package, "onert-1.30", k_pins);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("applied   pass: by the environment of metadata/stab.env"));
  EXPECT_THAT(result.out, HasSubstr("Run it: . "));
  const fs::path written = stab_.written("onet");
  EXPECT_EQ(record_of(written).works, "env");
  expect_late_keys_only(written);
  EXPECT_TRUE(placement_in_a_run(written, "onert-1.30", false).empty());
  EXPECT_EQ(placement_in_a_run(written, "onert-1.30", true), k_pinned);
}

TEST_F(ScheduleReal, CatchesWrongOutputsAndShipsWhatCuresThem) {
  for (const char* runtime : {"onert-1.26", "onert-1.30"}) {
    SCOPED_TRACE(runtime);
    const StabProgram stab;
    const fs::path package = stab.real_package("hand", "hand_landmark.tflite");
    // All that ruy can run is pinned to it: whatever the times, there is one plan, which needs the
    // cure.
    const ProcessResult result =
        stab.schedule(package, runtime,
                      {"--backends", "cpu,ruy", "--set", "CPU_MEMORY_PLANNER=FirstFit", "--pin",
                       "type:Conv2D=ruy", "--pin", "type:FullyConnected=ruy", "--no-verify"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(unwrapped(result.out), HasSubstr("equal pass: "));
    EXPECT_THAT(unwrapped(result.out), HasSubstr("cured by CPU_MEMORY_PLANNER=Bump"));
    EXPECT_THAT(config_of(stab.written("hand")), Contains(Pair("CPU_MEMORY_PLANNER", "Bump")));
    EXPECT_THAT(environment_of(stab.written("hand")), HasSubstr("CPU_MEMORY_PLANNER='Bump'"));
    EXPECT_FALSE(record_of(stab.written("hand")).chosen.placement.empty());
  }
}

TEST_F(ScheduleReal, ProfilesAPackageScheduledYesterdayLikeAFreshOne) {
  const char* yesterday =
      "OP_BACKEND_MAP=0=ruy;2=ruy;\nBACKENDS=cpu;ruy\nMY_APP_KEY=kept\nEXECUTOR=Dataflow\n";
  const fs::path package = stab_.real_package("rnet", "rnet.tflite", yesterday);
  const ProcessResult result = stab_.schedule(package, "onert-1.26", {"--no-verify", "--no-check"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string cpu = read_text(stab_.traces("rnet") / "cpu_1.0.json");
  EXPECT_THAT(cpu, Not(HasSubstr("\"ruy\""))) << "the earlier map took part in cpu's own run";
  const fs::path written = stab_.written("rnet");
  EXPECT_THAT(config_of(written), Contains(Pair("MY_APP_KEY", "kept")));
  EXPECT_THAT(config_of(written), Contains(Pair("EXECUTOR", "Linear")));
  EXPECT_THAT(config_of(written), Not(Contains(Key("OP_BACKEND_MAP"))));
  EXPECT_TRUE(placement_in_a_run(written, "onert-1.26", false).empty());
}

TEST_F(ScheduleReal, TakesSeveralThreadsAMaskAndTheUsersOwnInputs) {
  const fs::path package = stab_.package("small", R"(
    input in f32[1,8,8,3]
    const w f32[4,3,3,3]
    const b f32[4]
    out f32[1,8,8,4] = CONV_2D(in, w, b) padding=SAME
    output out
  )");
  const std::string tensor(8 * 8 * 3 * sizeof(float), '\0');
  const fs::path input = stab_.dir().write("input.raw", tensor);
  const fs::path result_file = stab_.folder() / "result.json";
  const ProcessResult result = stab_.schedule(package, "onert-1.30",
                                              {"-n", "1,2", "--affinity", "0x1", "--input",
                                               input.string(), "--json", result_file.string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(unwrapped(result.out), HasSubstr("equal pass: 1 output identical to cpu"));
  const nlohmann::json document = nlohmann::json::parse(read_text(result_file));
  const nlohmann::json& cpu = document.at("backends").at(0);
  EXPECT_EQ(cpu.at("name"), "cpu");
  EXPECT_TRUE(cpu.at("by_threads").contains("1"));
  EXPECT_TRUE(cpu.at("by_threads").contains("2"));
  const nlohmann::json& settings = document.at("context").at("settings");
  EXPECT_EQ(settings.at("affinity"), "0x1");
  EXPECT_EQ(settings.at("inputs").at(0), sha256_hex(tensor));
  EXPECT_TRUE(settings.at("seeds").is_null());
  const std::string threads = std::to_string(document.at("threads").get<int>());
  EXPECT_THAT(config_of(stab_.written("small")), Contains(Pair("NUM_THREADS", threads)));
  EXPECT_TRUE(fs::exists(stab_.traces("small") / "cpu_2.0.chrome.json"));
}

TEST_F(ScheduleReal, GivesDynamicDimensionsTheShapeThatIsAskedFor) {
  const fs::path package = stab_.package("rows", R"(
    input in f32[-1,16]
    const w f32[16,16]
    const b f32[16]
    out f32[-1,16] = FULLY_CONNECTED(in, w, b)
    output out
  )");
  const ProcessResult result = stab_.schedule(
      package, "onert-1.30", {"--shape", "0:4,16", "--no-verify", "--json", "result.json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(read_text(stab_.folder() / "result.json"));
  EXPECT_EQ(document.at("context").at("settings").at("shapes").at("in"), (std::vector<int>{4, 16}));
  EXPECT_EQ(document.at("proofs").at("equal"), "pass");
}

TEST_F(ScheduleReal, PlacesTheOperationsAroundControlFlow) {
  const fs::path package = stab_.package("branch", R"(
    input c bool[1]
    input a f32[1,16]
    const k f32[1,16] = 2
    const w f32[16,16]
    const b f32[16]
    d f32[1,16] = IF(c, a) then=yes else=no
    e f32[1,16] = FULLY_CONNECTED(d, w, b)
    output e
    graph yes
    input x f32[1,16]
    const m f32[1,16] = 2
    y = MUL(x, m)
    output y
    graph no
    input x f32[1,16]
    const m f32[1,16] = 3
    y = ADD(x, m)
    output y
  )");
  const ProcessResult result =
      stab_.schedule(package, "onert-1.30", {"--pin", "1=ruy", "--no-verify"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(unwrapped(result.out), HasSubstr("applied pass"));
  EXPECT_EQ(record_of(stab_.written("branch")).chosen.placement, (Placement{{{0, 1}, "ruy"}}));
}

TEST_F(ScheduleReal, VerifiesWhatIsStillTrueAndEndsWith6WhereItIsNot) {
  const fs::path package = stab_.real_package("onet", "onet.tflite");
  const auto verify = [&](const std::string& runtime) {
    return stab_.run({"verify", "--nnpackage", stab_.written("onet").string(), "--ip", "local",
                      "--runtime", test::require_runtime(runtime + "-x86_64").string(),
                      "--remote-dir", (stab_.folder() / "work").string(), "-w", "1", "-r", "6",
                      "--rounds", "3"});
  };
  ASSERT_EQ(stab_.schedule(package, "onert-1.26", {"--no-verify"}).exit_code, 0);
  const std::string record = read_text(stab_.written("onet") / "metadata" / "stab.json");
  const ProcessResult good = verify("onert-1.26");
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_THAT(last_line(good.out), StartsWith("proven: "));
  EXPECT_EQ(read_text(stab_.written("onet") / "metadata" / "stab.json"), record);

  // A schedule in the package is worth nothing where the runtime reads no packages.
  fs::remove_all(stab_.written("onet"));
  ASSERT_EQ(stab_.schedule(package, "onert-1.26", k_pins).exit_code, 0);
  const ProcessResult elsewhere = verify("onert-1.30");
  EXPECT_EQ(elsewhere.exit_code, 6) << elsewhere.out;
  EXPECT_THAT(elsewhere.err, HasSubstr("it is not applied: it was to be delivered by config"));
}

TEST_F(ScheduleReal, WritesTheSameScheduleEachTime) {
  const fs::path package = stab_.real_package("onet", "onet.tflite");
  std::set<std::string> configs;
  std::set<std::string> environments;
  for (int repeat = 0; repeat < 10; ++repeat) {
    const ProcessResult result =
        stab_.schedule(package, "onert-1.30", {"--no-verify", "--no-check"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    configs.insert(read_text(stab_.written("onet") / "metadata" / "config.cfg"));
    environments.insert(environment_of(stab_.written("onet")));
  }
  EXPECT_EQ(configs.size(), 1U);
  EXPECT_EQ(environments.size(), 1U);
}

}  // namespace
}  // namespace stab
