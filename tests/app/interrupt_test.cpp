// SPDX-License-Identifier: Apache-2.0
// A job that is interrupted while it measures: what is finished stays, nothing half-made does, and
// nothing goes on running.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "stab/core/profile.h"
#include "support/real_world.h"
#include "support/stab_program.h"

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
  const std::string work = (stab_.folder() / "work").string();
  EXPECT_TRUE(wait_for([&] { return processes_with(work).empty(); })) << "something still runs";
  const fs::path runs = stab_.folder() / "work" / "run";
  EXPECT_TRUE(!fs::exists(runs) || fs::is_empty(runs)) << "a half-made run was left";

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

}  // namespace
}  // namespace stab
