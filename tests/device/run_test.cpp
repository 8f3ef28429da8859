// SPDX-License-Identifier: Apache-2.0
#include "stab/device/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "stab/core/error.h"
#include "stab/core/sha256.h"
#include "support/devices.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Optional;

// A "runner" is a shell script here: it may do whatever a real one does on its worst day.
class Run : public testing::TestWithParam<test::DeviceKind> {
 protected:
  void SetUp() override {
    device_.emplace(GetParam());
    fs::create_directories(dir_.path() / "work");
    fs::create_directories(dir_.path() / "here");
    transport_ = device_->connect();
    request_.id = "r0001";
  }

  void runner(const std::string& script) {
    const fs::path file = dir_.write("runner", "#!/bin/sh\n" + script + "\n");
    fs::permissions(file, fs::perms::owner_all);
    request_.runner = file.string();
  }

  RunResult run() { return run_once(*transport_, work(), request_); }
  std::string work() const { return (dir_.path() / "work").string(); }
  fs::path here(const char* name) const { return dir_.path() / "here" / name; }
  bool run_folder_is_gone() const { return fs::is_empty(dir_.path() / "work" / "run"); }

  test::TempDir dir_;
  std::optional<test::TestDevice> device_;
  std::unique_ptr<Transport> transport_;
  RunRequest request_;
};

TEST_P(Run, GivesOutputErrorsAndStatusOfAGoodRun) {
  runner("echo \"args: $*\"; echo talk >&2");
  request_.args = {"-w", "5", "a b"};
  request_.package = "/p/x y";
  std::string live;
  request_.live_output = [&](std::string_view bytes) { live += bytes; };
  const RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::ok);
  EXPECT_THAT(result.exit, Optional(0));
  EXPECT_EQ(result.output, "args: -w 5 a b /p/x y\n");
  EXPECT_EQ(live, result.output);
  EXPECT_EQ(result.errors, "talk\n");
  EXPECT_TRUE(run_folder_is_gone());
}

TEST_P(Run, StartsWithNothingButTheEnvironmentAskedFor) {
  setenv("BACKENDS", "left;over", 1);
  runner("unset PWD OLDPWD SHLVL _; export -p | grep -v -e PWD -e SHLVL -e ' _='");
  request_.environment = {{"BACKENDS", "cpu;ruy"}, {"ODD", "it's $HOME `x` \"q\"\n\\n*"}};
  request_.library_folders = {"/a/lib", "/a/lib/nnfw"};
  const RunResult result = run();
  unsetenv("BACKENDS");
  EXPECT_THAT(result.output, HasSubstr("BACKENDS='cpu;ruy'"));
  EXPECT_THAT(result.output, HasSubstr("LD_LIBRARY_PATH='/a/lib:/a/lib/nnfw'"));
  EXPECT_THAT(result.output, HasSubstr("LC_ALL='C'"));
  EXPECT_THAT(result.output, testing::Not(HasSubstr("HOME=")));
  EXPECT_THAT(result.output, testing::Not(HasSubstr("TRACING")));
  runner("printf %s \"$ODD\"");
  EXPECT_EQ(run().output, "it's $HOME `x` \"q\"\n\\n*");
}

TEST_P(Run, ReadsTheEnvironmentFileOfAPackageFirst) {
  request_.environment_file =
      dir_.write("my file/stab.env", "export BACKENDS='cpu;xnnpack'\nexport OTHER=1\n").string();
  request_.environment = {{"OTHER", "2"}};
  runner("echo \"$BACKENDS $OTHER $# $1\"");
  request_.args = {"a b"};
  EXPECT_EQ(run().output, "cpu;xnnpack 2 1 a b\n");
  request_.environment_file = "/nowhere/stab.env";
  EXPECT_EQ(run().status, RunStatus::failed);
}

TEST_P(Run, CarriesAnEnvironmentThatIsTooLongForACommandLine) {
  std::string map;
  for (int i = 0; map.size() < 120'000; ++i) map += std::to_string(i) + "=xnnpack;";
  request_.environment = {{"OP_BACKEND_MAP", map}};
  runner("printf %s \"$OP_BACKEND_MAP\"");
  EXPECT_EQ(run().output, map);
  EXPECT_TRUE(run_folder_is_gone());
}

TEST_P(Run, BringsTracesBackAndTellsTheSwitchesToBothGenerations) {
  runner(
      "echo \"$TRACING_MODE $TRACE_FILEPATH $WORKSPACE_DIR\"; echo '{}' "
      ">$WORKSPACE_DIR/trace.json\n"
      "i=0; while [ $i -lt 5000 ]; do echo \"event $i\"; i=$((i + 1)); done >trace.chrome.json; "
      "echo secret >.hidden");
  request_.traced = true;
  request_.fetch = {{"trace.json", here("cpu_1.0.json")},
                    {"trace.chrome.json", here("cpu_1.0.chrome.json")},
                    {"*", dir_.path() / "here"}};
  const RunResult result = run();
  const std::string folder = work() + "/run/r0001";
  EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  EXPECT_EQ(result.output, "1 " + folder + "/trace.json " + folder + "\n");
  EXPECT_EQ(test::read_text(here("cpu_1.0.json")), "{}\n");
  EXPECT_THAT(test::read_text(here("cpu_1.0.chrome.json")), testing::EndsWith("event 4999\n"));
  ASSERT_GE(result.files.size(), 2);
  EXPECT_EQ(result.files[0].sha256, sha256_hex(std::string_view("{}\n")));
  EXPECT_EQ(result.files[0].verified, GetParam().complete());
  EXPECT_FALSE(fs::exists(here(".hidden")));
  EXPECT_TRUE(run_folder_is_gone());
}

TEST_P(Run, RemovesAStaleTraceBeforeTheRun) {
  fs::create_directories(work() + "/run/r0001");
  dir_.write("work/run/r0001/trace.json", "yesterday");
  runner("exit 0");
  request_.traced = true;
  request_.fetch = {{"trace.json", here("t.json")}};
  const RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::no_trace);
  EXPECT_TRUE(result.files.empty());
  EXPECT_FALSE(fs::exists(here("t.json")));
}

TEST_P(Run, CallsAnEmptyTraceNoTrace) {
  runner(": >trace.json");
  request_.traced = true;
  EXPECT_EQ(run().status, RunStatus::no_trace);
}

TEST_P(Run, ReportsAFailureWithTheRuntimesOwnLastWords) {
  runner(
      "echo 'Error during model prepare : Fail to find backend for Conv2D operation' >&2; echo bye "
      ">&2; exit 255");
  const RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_THAT(result.exit, Optional(255));
  EXPECT_EQ(result.reason,
            "Error during model prepare : Fail to find backend for Conv2D operation");
}

TEST_P(Run, ReportsACrashAndAKillAsSignals) {
  runner("echo before >&2; kill -SEGV $$");
  RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::signal);
  EXPECT_THAT(result.signal, Optional(11));
  EXPECT_FALSE(result.exit.has_value());
  EXPECT_THAT(result.reason, HasSubstr("segmentation fault"));
  EXPECT_THAT(result.reason, HasSubstr("before"));
  runner("kill -KILL $$");
  result = run();
  EXPECT_THAT(result.signal, Optional(9));
  EXPECT_THAT(result.reason, HasSubstr("memory"));
}

TEST_P(Run, EndsARunnerThatHangs) {
  runner("echo started; echo waiting >&2; while :; do sleep 1; done");
  request_.timeout = std::chrono::seconds(1);
  const RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::timeout);
  EXPECT_EQ(result.output, "started\n");
  EXPECT_THAT(result.reason, HasSubstr("did not end within 1 s"));
  EXPECT_TRUE(run_folder_is_gone());
}

TEST_P(Run, EndsARunnerThatHangsAndIgnoresBeingAsked) {
  runner("trap '' TERM; while :; do sleep 1; done");
  request_.timeout = std::chrono::seconds(1);
  EXPECT_EQ(run().status, RunStatus::timeout);
}

TEST_P(Run, SurvivesAFloodOfOutput) {
  runner(
      "dd if=/dev/zero bs=65536 count=800 2>/dev/null | tr '\\0' x; dd if=/dev/zero bs=65536 "
      "count=800 2>/dev/null | tr '\\0' y >&2; echo last; echo words >&2");
  const RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::ok);
  EXPECT_EQ(result.output_bytes, 800 * 65536 + 5);
  EXPECT_LE(result.output.size(), 1U << 20);
  EXPECT_THAT(result.output, testing::EndsWith("xlast\n"));
  EXPECT_THAT(result.errors, testing::EndsWith("ywords\n"));
}

TEST_P(Run, IsNotFooledByARunnerThatPrintsMarks) {
  runner("printf '\\n@0123456789abcdef endraw\\nstatus 0\\n@x end\\n'; exit 3");
  EXPECT_THAT(run().exit, Optional(3));
}

TEST_P(Run, PutsInputsIntoTheRunsFolder) {
  request_.inputs = {{"in.0", dir_.write("input", std::string("\0\1binary", 8))}};
  request_.args = {"--load:raw", std::string(k_run_folder) + "/in"};
  request_.fetch = {{"out.?", dir_.path() / "here"}};
  runner("[ \"$2\" = \"$PWD/in\" ] && cat $2.0 $2.0 >out.0");
  const RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
  EXPECT_EQ(test::read_text(here("out.0")), std::string("\0\1binary\0\1binary", 16));
  EXPECT_TRUE(run_folder_is_gone());
}

TEST_P(Run, SaysWhenTheRunnerIsNotThere) {
  request_.runner = "/nowhere/runner";
  const RunResult result = run();
  EXPECT_EQ(result.status, RunStatus::failed);
  EXPECT_THAT(result.exit, Optional(127));
  EXPECT_THAT(result.reason, HasSubstr("/nowhere/runner"));
}

TEST_P(Run, KeepsTheProcessOnTheCoresAskedFor) {
  request_.affinity = "1";
  runner("grep Cpus_allowed: /proc/self/status | tr -d '\\t '");
  if (!GetParam().complete()) {
    EXPECT_THROW(run(), Error);
    return;
  }
  EXPECT_THAT(run().output, testing::ContainsRegex("Cpus_allowed:0*1\n"));
}

TEST_P(Run, ReportsWhatTheDeviceWasDoing) {
  dir_.write("root/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "schedutil\n");
  dir_.write("root/sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1800000\n");
  dir_.write("root/sys/devices/system/cpu/cpufreq/policy4/scaling_governor", "performance\n");
  dir_.write("root/sys/devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "2400000\n");
  dir_.write("root/sys/class/thermal/thermal_zone0/type", "battery\n");
  dir_.write("root/sys/class/thermal/thermal_zone0/temp", "99000\n");
  dir_.write("root/sys/class/thermal/thermal_zone1/type", "cpu-thermal\n");
  dir_.write("root/sys/class/thermal/thermal_zone1/temp", "61250\n");
  dir_.write("root/sys/class/thermal/cooling_device0/type", "thermal-cpufreq-0\n");
  dir_.write("root/sys/class/thermal/cooling_device0/cur_state", "2\n");
  dir_.write("root/proc/loadavg", "0.25 0.10 0.05 1/100 4242\n");
  request_.system_root = (dir_.path() / "root").string();
  runner("exit 0");
  const RunResult result = run();
  EXPECT_THAT(result.before.governor, Optional(std::string("schedutil,performance")));
  EXPECT_THAT(result.before.khz, testing::ElementsAre(1800000, 2400000));
  EXPECT_THAT(result.after.temperature_mc, Optional(61250));
  EXPECT_THAT(result.after.throttled, Optional(true));
  EXPECT_THAT(result.after.load1, Optional(0.25));
}

TEST_P(Run, LeavesUnknownWhatTheDeviceDoesNotTell) {
  request_.system_root = (dir_.path() / "nothing").string();
  runner("exit 0");
  const RunResult result = run();
  EXPECT_FALSE(result.before.governor || result.before.temperature_mc || result.before.throttled ||
               result.before.load1);
  EXPECT_TRUE(result.before.khz.empty());
}

TEST_P(Run, RefusesAWorkFolderThatIsALink) {
  fs::create_directory_symlink(dir_.path() / "work", dir_.path() / "link");
  runner("exit 0");
  EXPECT_THROW(run_once(*transport_, (dir_.path() / "link").string(), request_), Error);
}

TEST_P(Run, RefusesToBringBackMoreThanTheLimit) {
  runner("dd if=/dev/zero of=out.0 bs=1000 count=11 2>/dev/null");
  request_.fetch = {{"out.0", here("out.0")}};
  request_.most_fetched_bytes = 10'000;
  EXPECT_THROW(run(), Error);
  EXPECT_FALSE(fs::exists(here("out.0")));
}

INSTANTIATE_TEST_SUITE_P(Devices, Run, testing::ValuesIn(test::all_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(RunRequest, RefusesWhatCouldBreakOutOfTheScript) {
  const auto transport = make_local_transport([] { return false; });
  const auto refused = [&](auto change) {
    RunRequest request;
    request.id = "r1";
    request.runner = "/bin/true";
    change(request);
    EXPECT_THROW(run_once(*transport, "/nonexistent", request), Error);
  };
  refused([](RunRequest& r) { r.id = "../x"; });
  refused([](RunRequest& r) { r.id = "a b"; });
  refused([](RunRequest& r) { r.runner = "bin/true"; });
  refused([](RunRequest& r) { r.affinity = "1;reboot"; });
  refused([](RunRequest& r) { r.fetch = {{"$(reboot)", "x"}}; });
  refused([](RunRequest& r) { r.fetch = {{"../../etc/passwd", "x"}}; });
  refused([](RunRequest& r) { r.environment = {{"A B", "x"}}; });
  refused([](RunRequest& r) { r.environment = {{"A", std::string(131'071, 'x')}}; });
  refused([](RunRequest& r) { r.inputs = {{"../x", "/dev/null"}}; });
}

}  // namespace
}  // namespace stab
