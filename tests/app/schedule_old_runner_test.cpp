// SPDX-License-Identifier: Apache-2.0
// A runtime folder with a runner of its own as ONE had it in 2021: bin/nnpackage_run, which prints
// the block alone and can neither load nor dump raw tensors. A script in front of stab-runner
// stands in for it; the runtime behind it is real.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/real_world.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::read_text;
using test::StabProgram;
using test::unwrapped;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* k_old_runner = R"(#!/bin/sh
skip=
for word in "$@"; do
  if [ -n "$skip" ]; then skip=; continue; fi
  case $word in
    -h|--help) echo "  --nnpackage arg  -r [ --num_runs ] arg  -w [ --warmup_runs ] arg  --shape_prepare arg"; exit 0 ;;
    -r|-w|--shape_prepare) skip=yes ;;
    -*) echo "unrecognised option '$word'" >&2; exit 1 ;;
  esac
done
printed=$(RUNNER "$@")
status=$?
printf '%s\n' "$printed" | grep -v '^stab-runner '
exit $status
)";

class ScheduleOldRunner : public ::testing::Test {
 protected:
  /// The libraries of the older runtime with that runner beside them.
  fs::path runtime() const {
    const fs::path folder = stab_.folder() / "out";
    const fs::path libraries = test::require_runtime("onert-1.26-" + test::host_arch());
    fs::create_directories(folder);
    fs::copy(libraries, folder / "lib", fs::copy_options::recursive);
    std::string script = k_old_runner;
    script.replace(script.find("RUNNER"), 6, test::require_runner(test::host_arch()).string());
    const fs::path runner = stab_.dir().write("out/bin/nnpackage_run", script);
    fs::permissions(runner, fs::perms::owner_all);
    return folder;
  }

  const StabProgram stab_;
};

TEST_F(ScheduleOldRunner, IsProfiledAndTimedAndItsOutputsAreNotClaimedToBeEqual) {
  const fs::path package = stab_.real_package("onet", "onet.tflite");
  const ProcessResult result =
      stab_.schedule(package, "onert-1.26",
                     {"--runtime", runtime().string(), "--runner", "own", "--pin", "0=ruy"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string report = unwrapped(result.out);
  EXPECT_THAT(report, HasSubstr("run by its own runner"));
  EXPECT_THAT(report, HasSubstr("applied pass: the package alone is enough"));
  EXPECT_THAT(report, HasSubstr("outputs cannot be compared"));
  EXPECT_THAT(report, HasSubstr("Run it: nnpackage_run "));
  EXPECT_THAT(test::last_line(result.out), StartsWith("estimated (skipped: equal): wrote "));
  const nlohmann::json record =
      nlohmann::json::parse(read_text(stab_.written("onet") / "metadata" / "stab.json"));
  EXPECT_EQ(record.at("context").at("runtime").at("runner"), "own");
  EXPECT_EQ(record.at("threads"), 1);
}

}  // namespace
}  // namespace stab
