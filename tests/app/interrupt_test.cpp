// SPDX-License-Identifier: Apache-2.0
// A job that is interrupted, here while it measures, on a device at each of its stages: what is
// finished stays, nothing half-made does, and nothing goes on running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "stab/core/profile.h"
#include "support/real_world.h"
#include "support/ssh_server.h"
#include "support/stab_program.h"
#include "support/tcp_proxy.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::read_text;
using test::StabProgram;
using ::testing::HasSubstr;

constexpr const char* k_relu = "input in f32[1,16]\nout = RELU(in)\noutput out\n";

bool holds_finished_runs(const fs::path& profile, std::size_t least) {
  if (!fs::exists(profile)) return false;
  return parse_profile(read_text(profile), profile.string()).runs.size() >= least;
}

bool wait_for(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (std::chrono::steady_clock::now() < deadline) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return false;
}

/// Processes of this machine whose command line names a path.
std::vector<std::string> processes_with(const std::string& path) {
  std::vector<std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    try {
      if (read_text(entry.path() / "cmdline").find(path) != std::string::npos)
        found.push_back(name);
    } catch (const std::runtime_error&) {
      // It ended meanwhile.
    }
  }
  return found;
}

/// The runner's own processes: the path of the work folder is in their command lines.
void expect_nothing_left(const fs::path& work) {
  EXPECT_TRUE(wait_for([&] { return processes_with(work.string()).empty(); }))
      << "something still runs";
  const fs::path runs = work / "run";
  EXPECT_TRUE(!fs::exists(runs) || fs::is_empty(runs)) << "a half-made run was left";
}

class Interrupt : public ::testing::TestWithParam<int> {
 protected:
  const StabProgram stab_;
};

TEST_P(Interrupt, KeepsWhatIsFinishedAndLeavesNothingRunning) {
  const fs::path package = stab_.package("net", k_relu);
  ASSERT_EQ(stab_.schedule(package, "onert-1.30", {"--no-verify", "--no-check"}).exit_code, 0);
  const std::string profile = read_text(stab_.traces("net") / "profile.json");
  const std::string record = read_text(stab_.written("net") / "metadata" / "stab.json");

  // So long that it cannot end by itself.
  test::RunningProcess job(
      stab_.schedule_words(package, "onert-1.30", {"--rounds", "1000", "-r", "1000"}),
      stab_.process_options());
  const fs::path partial = stab_.traces("net.partial") / "profile.json";
  ASSERT_TRUE(wait_for([&] { return holds_finished_runs(partial, 2); }));
  kill(job.pid(), GetParam());
  const ProcessResult result = job.wait();

  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(result.err, HasSubstr("stopped while"));
  EXPECT_EQ(result.out, "");
  const Profile kept = parse_profile(read_text(partial), partial.string());
  EXPECT_FALSE(kept.complete);
  EXPECT_GE(kept.runs.size(), 2U);
  for (const ProfileRun& run : kept.runs) {
    ASSERT_TRUE(run.averaged.has_value()) << run.id;
    EXPECT_TRUE(fs::exists(stab_.traces("net.partial") / run.averaged->name));
  }
  EXPECT_EQ(read_text(stab_.traces("net") / "profile.json"), profile);
  EXPECT_EQ(read_text(stab_.written("net") / "metadata" / "stab.json"), record);
  expect_nothing_left(stab_.folder() / "work");

  EXPECT_EQ(stab_.schedule_again(package).exit_code, 0) << "the earlier measurement still serves";
  EXPECT_EQ(stab_.schedule(package, "onert-1.30", {"--no-verify", "--no-check"}).exit_code, 0)
      << "a lock was left";
  EXPECT_FALSE(fs::exists(stab_.traces("net.partial")));
}

INSTANTIATE_TEST_SUITE_P(Signals, Interrupt, ::testing::Values(SIGINT, SIGTERM),
                         [](const auto& parameter) {
                           return std::string(parameter.param == SIGINT ? "Interrupt"
                                                                        : "Terminate");
                         });

class InterruptOverSsh : public ::testing::TestWithParam<const char*> {
 protected:
  test::Words words(int port, const test::Words& more) const {
    test::Words all = {"--ip", server_.user() + "@127.0.0.1:" + std::to_string(port),
                       "--remote-dir", work_.string()};
    all.insert(all.end(), more.begin(), more.end());
    return stab_.schedule_words(package_, "onert-1.30", all);
  }
  /// Lets the server be known under the port of a proxy, too.
  void know(int port) const {
    server_.set_known_hosts("{host} {key}\n[127.0.0.1]:" + std::to_string(port) + " {key}\n");
  }
  ProcessResult interrupt_at(const std::string& stage, const test::Words& words) const {
    test::RunningProcess job(words, stab_.process_options());
    EXPECT_TRUE(wait_for([&] {
      return job.err_so_far().find("stab: " + stage + ": ") != std::string::npos;
    })) << job.err_so_far();
    // Well into the stage, not at its very start.
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    kill(job.pid(), SIGINT);
    return job.wait();
  }

  const test::SshServer server_;
  const StabProgram stab_{{{"STAB_SSH_DIR", server_.ssh_dir().string()}}};
  const fs::path package_ = stab_.package("net", k_relu);
  const fs::path work_ = stab_.folder() / "far";
};

TEST_P(InterruptOverSsh, LeavesNothingRunningAndNoLock) {
  const std::string stage = GetParam();
  // A server that says nothing; one so far away that the upload takes long; the server itself.
  const test::TcpProxy silent(0);
  const test::TcpProxy far(server_.port(), std::chrono::milliseconds(300));
  const bool is_upload = stage == "upload";
  const int port = stage == "connect" ? silent.port() : is_upload ? far.port() : server_.port();
  know(port);
  // So long that it cannot end by itself.
  const test::Words length = stage == "prove" ? test::Words{"-r", "6", "--rounds", "3"}
                                              : test::Words{"-r", "1000", "--rounds", "1000"};
  const ProcessResult result = interrupt_at(stage, words(port, length));
  EXPECT_EQ(result.exit_code, 130) << result.err;
  EXPECT_THAT(test::last_line(result.err), HasSubstr("stopped")) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_FALSE(fs::exists(stab_.written("net")));
  expect_nothing_left(work_);

  know(server_.port());
  const ProcessResult lock = stab_.run(
      {"unlock", "--ip", server_.user() + "@127.0.0.1:" + std::to_string(server_.port())});
  EXPECT_THAT(lock.out, HasSubstr("is not locked")) << lock.err;
}

INSTANTIATE_TEST_SUITE_P(Stages, InterruptOverSsh,
                         ::testing::Values("connect", "upload", "profile", "prove"),
                         [](const auto& parameter) { return std::string(parameter.param); });

}  // namespace
}  // namespace stab
