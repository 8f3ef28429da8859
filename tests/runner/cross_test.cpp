// SPDX-License-Identifier: Apache-2.0
// The runners for ARM, on emulated processors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "runner/runner_process.h"
#include "stab/core/runner_output.h"
#include "stab/core/sha256.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab::test {
namespace {

using testing::HasSubstr;

class RunnerCross : public testing::TestWithParam<const char*> {};

TEST_P(RunnerCross, StartsAndTellsItsOptions) {
  const ProcessResult result = run_emulated(GetParam(), {"--help"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("--shape_prepare S"));
}

TEST_P(RunnerCross, SaysWhatItCannotDo) {
  const ProcessResult bad = run_emulated(GetParam(), {"-r", "0", "/"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_THAT(bad.err, HasSubstr("option -r takes a whole number from 1 to 100000, not '0'"));
  const ProcessResult none = run_emulated(GetParam(), {"/"});
  EXPECT_EQ(none.exit_code, 255);
  EXPECT_THAT(none.err, HasSubstr("libonert.so: cannot open shared object file"));
}

TEST_P(RunnerCross, MeasuresOnInputsThatAreTheSameOnEveryMachine) {
  const std::string runtime = STAB_BUILD_DIR "/tests/copying-runtime-" + std::string(GetParam());
  const TempDir dir;
  const std::string prefix = (dir.path() / "out").string();
  const ProcessResult result = run_emulated(
      GetParam(), {"--library", runtime, "--seed", "7", "-w", "1", "-r", "3", "--output_sizes",
                   "[0,100]", "--dump:raw", prefix, dir.path().string()});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const RunnerOutput output = parse_runner_output(result.out);
  EXPECT_EQ(output.problem, "");
  EXPECT_EQ(output.version, "1.30.2");
  EXPECT_EQ(output.samples_us.value().size(), 3U);
  EXPECT_GT(output.warmup_runs.value(), 10);
  EXPECT_GT(output.cpu_time_us.value(), 0);
  ASSERT_EQ(output.outputs.size(), 1U);
  EXPECT_EQ(output.outputs[0], (RunnerTensor{0, "f32", 27648, {48, 144}}));
  // The very bytes that an input of onet gets on this machine (real_test.cpp).
  EXPECT_EQ(sha256_hex(read_text(prefix + ".0")),
            "7bdf0d60473540ce0f0e197b3b5fe3a40874aaa02d599e4bac4690db38ab4059");
}

INSTANTIATE_TEST_SUITE_P(Built, RunnerCross, testing::Values("aarch64", "armhf", "armel"),
                         [](const auto& which) { return std::string(which.param); });

TEST(RunnerCross, Aarch64RunsARealModelWithTheInputsOfAnyOtherMachine) {
  const std::filesystem::path runtime = require_runtime("onert-1.30-aarch64");
  const std::filesystem::path own_runtime = require_runtime("onert-1.30-" + host_arch());
  const TempDir dir;
  const std::string package =
      make_package(dir.path(), "onet", require_model("onet.tflite")).string();
  const auto path = [&dir](const char* name) { return (dir.path() / name).string(); };
  std::filesystem::create_directory(dir.path() / "trace");
  const ProcessResult emulated = run_emulated(
      "aarch64", {"--library", runtime.string(), "--seed", "3", "-r", "2", "--trace", path("trace"),
                  "--dump_input:raw", path("in"), "--dump:raw", path("out"), package});
  ASSERT_EQ(emulated.exit_code, 0) << emulated.err;
  const RunnerOutput output = parse_runner_output(emulated.out);
  EXPECT_EQ(output.version, "1.30.0");
  EXPECT_EQ(output.tracing, "api");
  EXPECT_THAT(read_text(path("trace/trace.json")), HasSubstr("$0 subgraph $0 Conv2D"));
  const ProcessResult own =
      run_runner({"--library", own_runtime.string(), "--seed", "3", "--dump_input:raw",
                  path("own_in"), "--dump:raw", path("own_out"), package});
  ASSERT_EQ(own.exit_code, 0) << own.err;
  EXPECT_EQ(read_text(path("in.0")), read_text(path("own_in.0")));
  for (const char* suffix : {".0", ".1", ".2"}) {
    const std::vector<float> values = read_floats(path("out") + suffix);
    const std::vector<float> own_values = read_floats(path("own_out") + suffix);
    ASSERT_EQ(values.size(), own_values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], own_values[i], 1e-3) << i;
  }
}

}  // namespace
}  // namespace stab::test
