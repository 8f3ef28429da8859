// SPDX-License-Identifier: Apache-2.0
// The main job over OpenSSH's server on this machine, with real runtimes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/elf_builder.h"
#include "support/far_job.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/ssh_server.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::FarDevice;
using test::ProcessResult;
using test::StabProgram;
using test::unwrapped;
using test::Words;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* k_foreign_key =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

class ScheduleOverSsh : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::host_arch() != "x86_64") test::skip_or_fail("this machine is no x86_64");
    device_.ip = server_.user() + "@127.0.0.1:" + std::to_string(server_.port());
    device_.ssh_dir = server_.ssh_dir();
    device_.work_folder = (dir_.path() / "ONE").string();
    device_.processor = "x86_64";
    device_.shell = [](const std::string& command) {
      return test::run_process({"/bin/sh", "-c", command}).out;
    };
  }

  /// onet on the device with a runtime's folder, as short as it can be and without proofs.
  ProcessResult schedule(const StabProgram& stab, const fs::path& runtime,
                         const Words& more = {}) const {
    Words words = test::words_for(device_);
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--runtime", runtime.string(), "--no-check", "--no-verify"});
    return stab.schedule(stab.real_package("onet", "onet.tflite"), "", words);
  }

  /// A build's `out` folder around the libraries of a fetched runtime; its runner is the script.
  fs::path build_with_runner(const std::string& runtime, const std::string& script) const {
    const fs::path out = dir_.path() / "out";
    fs::create_directories(out);
    fs::copy(test::require_runtime(runtime), out / "lib", fs::copy_options::recursive);
    const fs::path runner = dir_.write("out/bin/onert_run", script);
    fs::permissions(runner, fs::perms::owner_all);
    return out;
  }

  test::TempDir dir_;
  test::SshServer server_;
  FarDevice device_;
};

TEST_F(ScheduleOverSsh, WritesAProvenPackageAndLeavesNothingButItsCache) {
  test::expect_whole_job(device_, "onert-1.30-x86_64", "env");
}

TEST_F(ScheduleOverSsh, LosesOnlyTheBackendThatCannotMakeSenseOfTheProcessor) {
  const std::string own_runner = test::require_runner("x86_64").string();
  const fs::path build = build_with_runner(
      "onert-1.26-x86_64",
      "#!/bin/sh\ncase $BACKENDS in *xnnpack*)\n"
      "  echo 'Error during model prepare : failed to initialize XNNPACK' >&2; exit 1 ;;\nesac\n"
      "exec " +
          own_runner + " \"$@\"\n");
  fs::copy(build / "lib/libbackend_ruy.so", build / "lib/libbackend_xnnpack.so");
  const StabProgram stab = test::stab_for(device_);
  const ProcessResult result = schedule(stab, build, {"--runner", "own"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(unwrapped(result.out),
              AllOf(HasSubstr("xnnpack failed: "), HasSubstr("failed to initialize XNNPACK"),
                    HasSubstr("cannot make sense of this device's processor")));
  EXPECT_THAT(test::read_text(stab.traces("onet") / "profile.json"), HasSubstr("\"ruy"));
}

TEST_F(ScheduleOverSsh, NamesALibraryThatTheDeviceLacksBeforeAnythingIsSent) {
  dir_.write(
      "lacking/libonert_core.so",
      test::ElfBuilder("x86_64").needs("libc.so.6").needs("libhdf5_nobody_has_it.so.103").bytes());
  dir_.write("lacking/libnnfw-dev.so", test::ElfBuilder("x86_64").needs("libc.so.6").bytes());
  dir_.write("lacking/libbackend_cpu.so", test::ElfBuilder("x86_64").needs("libc.so.6").bytes());
  const ProcessResult result = schedule(test::stab_for(device_), dir_.path() / "lacking");
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(test::last_line(result.err),
              AllOf(HasSubstr("'libonert_core.so' needs 'libhdf5_nobody_has_it.so.103'"),
                    HasSubstr("looked in "), HasSubstr("/usr/lib")));
  EXPECT_EQ(device_.shell("ls -d " + device_.work_folder + "/rt-* 2>/dev/null"), "");
}

TEST_F(ScheduleOverSsh, PrintsTheLineThatRepairsAChangedHostKey) {
  server_.set_known_hosts("{host} " + std::string(k_foreign_key) + "\n");
  const StabProgram stab = test::stab_for(device_);
  const ProcessResult refused = stab.run({"doctor", "--ip", device_.ip});
  EXPECT_EQ(refused.exit_code, 4);
  const std::size_t start = refused.err.find("ssh-keygen -f ");
  ASSERT_NE(start, std::string::npos) << refused.err;
  const std::string command = refused.err.substr(start, refused.err.find("  (once", start) - start);
  ASSERT_EQ(test::run_process({"/bin/sh", "-c", command}).exit_code, 0) << command;
  EXPECT_EQ(stab.run({"doctor", "--ip", device_.ip, "--accept-new-host-key"}).exit_code, 0);
}

}  // namespace
}  // namespace stab
