// SPDX-License-Identifier: Apache-2.0
#include "stab/device/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "stab/core/error.h"
#include "support/devices.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

class SessionOnDevice : public testing::TestWithParam<test::DeviceKind> {
 protected:
  void SetUp() override {
    device_.emplace(GetParam());
    fs::create_directories(dir_.path() / "here");
    transport_ = device_->connect([this] { return stop_.load(); });
    options_.work_folder = (dir_.path() / "ONE").string();
    options_.lock.path = (dir_.path() / "lock").string();
    options_.lock.who = "anna@laptop:42";
    FileTree tree("rt");
    tree.add_bytes("bin/runner",
                   "#!/bin/sh\n[ \"$1\" != hang ] || while :; do sleep 1; done\ncat \"$2/model\" "
                   ">trace.json\n",
                   true);
    trees_.push_back(std::move(tree));
    FileTree package("pkg");
    package.add_bytes("model", "the model");
    trees_.push_back(std::move(package));
  }

  RunRequest request(const std::vector<std::string>& paths) const {
    RunRequest request;
    request.id = "r1";
    request.runner = paths[0] + "/bin/runner";
    request.args = {"go"};
    request.package = paths[1];
    request.traced = true;
    request.fetch = {{"trace.json", dir_.path() / "here/trace.json"}};
    return request;
  }
  bool locked() const { return fs::is_symlink(options_.lock.path); }

  test::TempDir dir_;
  std::optional<test::TestDevice> device_;
  std::atomic<bool> stop_ = false;
  std::unique_ptr<Transport> transport_;
  SessionOptions options_;
  std::vector<FileTree> trees_;
};

TEST_P(SessionOnDevice, PutsRunsFetchesAndLeavesOnlyItsCache) {
  {
    Session session(*transport_, options_);
    EXPECT_TRUE(locked());
    const std::vector<std::string> paths = session.put(trees_);
    const RunResult result = session.run(request(paths));
    EXPECT_EQ(result.status, RunStatus::ok) << result.reason;
    EXPECT_EQ(test::read_text(dir_.path() / "here/trace.json"), "the model");
  }
  EXPECT_FALSE(locked());
  EXPECT_FALSE(fs::exists(options_.work_folder + "/run"));
  Session again(*transport_, options_);
  again.put(trees_);
  EXPECT_EQ(again.uploaded().files_sent, 0);
}

TEST_P(SessionOnDevice, TidiesUpAfterAnInterrupt) {
  Session session(*transport_, options_);
  const std::vector<std::string> paths = session.put(trees_);
  RunRequest hanging = request(paths);
  hanging.args = {"hang"};
  std::thread user([&] {
    while (!fs::exists(options_.work_folder + "/run/r1"))
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop_ = true;
  });
  try {
    session.run(hanging);
    ADD_FAILURE() << "it was not interrupted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  user.join();
  session.finish();
  EXPECT_FALSE(locked());
  EXPECT_FALSE(fs::exists(options_.work_folder + "/run"));
  EXPECT_TRUE(fs::exists(paths[0]));
}

TEST_P(SessionOnDevice, TakesALostLockAgainAndSaysSo) {
  Session session(*transport_, options_);
  const std::vector<std::string> paths = session.put(trees_);
  unlock(*transport_, true, options_.lock.path);
  const auto noticed = [&] {
    const std::vector<Warning> warnings = session.warnings();
    return std::any_of(warnings.begin(), warnings.end(),
                       [](const Warning& one) { return one.id == "lock_lost"; });
  };
  do {  // that the holder ended is news that takes its time
    EXPECT_EQ(session.run(request(paths)).status, RunStatus::ok);
  } while (!noticed());
  EXPECT_TRUE(locked());
}

TEST_P(SessionOnDevice, GivesTheLockBackWhenTheWorkFolderIsRefused) {
  dir_.write("ONE", "a file");
  EXPECT_THROW(Session(*transport_, options_), Error);
  EXPECT_FALSE(locked());
}

INSTANTIATE_TEST_SUITE_P(Devices, SessionOnDevice, testing::ValuesIn(test::all_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace stab
