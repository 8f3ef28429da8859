// SPDX-License-Identifier: Apache-2.0
#include "support/real_world.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "support/process.h"
#include "support/temp_dir.h"

namespace stab::test {
namespace {

TEST(RealWorld, LooksInTheNamedCacheFirst) {
  const TempDir dir;
  const std::string own = dir.path().string();
  setenv("STAB_CACHE", own.c_str(), 1);
  EXPECT_EQ(cache_dir(), dir.path());
  EXPECT_FALSE(runtime_dir("onert-1.30-x86_64"));
  EXPECT_FALSE(model_file("onet.tflite"));
  dir.write("models/onet.tflite", "model");
  std::filesystem::create_directories(dir.path() / "runtime" / "onert-1.30-x86_64");
  EXPECT_EQ(runtime_dir("onert-1.30-x86_64"), dir.path() / "runtime" / "onert-1.30-x86_64");
  EXPECT_EQ(model_file("onet.tflite"), dir.path() / "models" / "onet.tflite");
}

TEST(RealWorld, WrapsAModelIntoAPackage) {
  const TempDir dir;
  const std::filesystem::path model = dir.write("m.tflite", "bytes");
  const std::filesystem::path package = make_package(dir.path(), "net", model, "BACKENDS=cpu\n");
  EXPECT_EQ(read_text(package / "m.tflite"), "bytes");
  EXPECT_EQ(read_text(package / "metadata" / "config.cfg"), "BACKENDS=cpu\n");
  EXPECT_NE(read_text(package / "metadata" / "MANIFEST").find("\"models\": [\"m.tflite\"]"),
            std::string::npos);
}

// Run as children of the test below only: they end without reaching their last line.
TEST(RealWorldEnding, DISABLED_LacksARuntime) {
  require_runtime("none-such");
  std::exit(99);
}

TEST(RealWorld, EndsATestThatLacksSomething) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::vector<std::string> command = {self, "--gtest_also_run_disabled_tests",
                                            "--gtest_filter=RealWorldEnding.*"};
  ProcessOptions options;
  options.environment = Environment{{"HOME", "/nowhere"}};
  const ProcessResult skipped = run_process(command, options);
  EXPECT_EQ(skipped.exit_code, 0);
  EXPECT_NE(skipped.out.find("SKIPPED"), std::string::npos) << skipped.out;
  EXPECT_NE(skipped.out.find("scripts/fetch gets it"), std::string::npos) << skipped.out;
  (*options.environment)["CI"] = "true";
  const ProcessResult failed = run_process(command, options);
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_NE(failed.out.find("FAILED"), std::string::npos) << failed.out;
}

TEST(Process, KeepsOutputExitStatusAndSignal) {
  const ProcessResult result = run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(run_process({"sh", "-c", "kill -9 $$"}).signal, 9);
}

TEST(Process, GivesExactlyTheEnvironmentAsked) {
  ProcessOptions options;
  options.environment = Environment{{"ONE", "1"}};
  options.working_dir = "/";
  const ProcessResult result = run_process({"/usr/bin/env"}, options);
  EXPECT_EQ(result.out, "ONE=1\n");
}

TEST(Process, EndsAProgramThatHangs) {
  ProcessOptions options;
  options.timeout_seconds = 0;
  EXPECT_EQ(run_process({"sleep", "60"}, options).signal, 9);
}

}  // namespace
}  // namespace stab::test
