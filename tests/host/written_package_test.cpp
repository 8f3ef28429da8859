// SPDX-License-Identifier: Apache-2.0
// A written package on real runtimes: its schedule takes effect, by config.cfg or by stab.env.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/host/package_dir.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::TempDir;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// A package around a real model, scheduled with its first operation on ruy, and written.
fs::path write_scheduled(const TempDir& dir, std::string_view earlier_config) {
  const fs::path source =
      test::make_package(dir.path(), "onet", test::require_model("onet.tflite"), earlier_config);
  const Package package = read_package(source).package;
  KeyRequest request;
  request.placement = {{{0, 0}, "ruy"}};
  request.backends = {"cpu", "ruy"};
  ScheduleTexts texts;
  texts.config = schedule_keys(request);
  texts.environment = texts.config;
  return write_package(dir.path() / "out", package, scheduled_files(package, texts), false);
}

/// Runs the package once in a shell that first does `before`; the averaged trace.
std::string trace_of(const fs::path& runtime, const fs::path& package, const TempDir& dir,
                     const std::string& before) {
  const fs::path runner = test::require_runner(test::host_arch());
  const fs::path trace = dir.path() / "trace.json";
  fs::remove(trace);
  test::ProcessOptions options;
  options.working_dir = package;
  options.environment = {{"LD_LIBRARY_PATH", runtime.string() + ":" + (runtime / "nnfw").string() +
                                                 ":" + (runtime / "nnfw" / "backend").string()},
                         {"TRACE_FILEPATH", trace.string()},
                         {"TRACING_MODE", "1"},
                         {"WORKSPACE_DIR", dir.path().string()}};
  const std::string script = before + "\"$0\" -w 0 -r 1 .";
  const test::ProcessResult result =
      test::run_process({"/bin/sh", "-c", script, runner.string()}, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return test::read_text(trace);
}

constexpr const char* k_op0_on_ruy = "\"ruy\"[^}]*\"\\$0 subgraph \\$0 Conv2D\"";

TEST(WrittenPackage, TakesEffectByItsConfigurationWhereTheRuntimeReadsIt) {
  const TempDir dir;
  const fs::path runtime = test::require_runtime("onert-1.26-x86_64");
  if (test::host_arch() != "x86_64") test::skip_or_fail("this machine is no x86_64");
  const fs::path package =
      write_scheduled(dir, "OP_BACKEND_MAP=2=ruy;\nOP_BACKEND_FullyConnected=ruy\r\n");
  const std::string trace = trace_of(runtime, package, dir, "");
  EXPECT_THAT(trace, ContainsRegex(k_op0_on_ruy));
  EXPECT_THAT(trace, Not(ContainsRegex("\"ruy\"[^}]*\\}[^}]*\"\\$0 subgraph \\$2 ")));
}

TEST(WrittenPackage, TakesEffectByItsEnvironmentWhereTheConfigurationIsIgnored) {
  const TempDir dir;
  const fs::path runtime = test::require_runtime("onert-1.30-x86_64");
  if (test::host_arch() != "x86_64") test::skip_or_fail("this machine is no x86_64");
  const fs::path package = write_scheduled(dir, "");
  EXPECT_THAT(trace_of(runtime, package, dir, ""), Not(HasSubstr("\"ruy\"")));
  EXPECT_THAT(trace_of(runtime, package, dir, ". metadata/stab.env; "),
              ContainsRegex(k_op0_on_ruy));
}

}  // namespace
}  // namespace stab
