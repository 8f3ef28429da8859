// SPDX-License-Identifier: Apache-2.0
// What is left, here and there, when the link breaks or goes silent during an upload, a run or a
// download.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "stab/core/error.h"
#include "stab/device/session.h"
#include "support/devices.h"
#include "support/tcp_proxy.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class BrokenJob : public testing::TestWithParam<test::DeviceKind> {
 protected:
  void SetUp() override {
    device_.emplace(GetParam());
    proxy_.emplace(device_->port());
    SshLimits limits;
    limits.heartbeat = 500ms;
    limits.keepalive = 500ms;
    limits.silence = 3s;
    limits.remote_silence = 3s;
    transport_ = device_->connect_by(proxy_->port(), limits);
    options_.work_folder = (dir_.path() / "ONE").string();
    options_.lock.path = (dir_.path() / "lock").string();
    fs::create_directories(dir_.path() / "here");
  }

  RunRequest request(const std::string& script) {
    RunRequest request;
    request.id = "r1";
    request.runner = dir_.write("runner", "#!/bin/sh\n" + script + "\n").string();
    fs::permissions(request.runner, fs::perms::owner_all);
    return request;
  }

  static void expect_device_error(const std::function<void()>& work) {
    try {
      work();
      ADD_FAILURE() << "the broken link was not noticed";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device) << error.what();
    }
  }

  // The device needs a while to notice; CTest's own limit ends a test that waits in vain.
  static void wait_until(const std::function<bool()>& done) {
    while (!done()) std::this_thread::sleep_for(50ms);
  }

  // Breaks the link in its way once the runner of a run is at work.
  std::thread once_running(std::function<void()> break_link) {
    return std::thread([this, break_link = std::move(break_link)] {
      wait_until([this] { return fs::exists(dir_.path() / "started"); });
      break_link();
    });
  }

  void expect_everything_ended_there() {
    wait_until([this] { return !fs::exists(options_.work_folder + "/run/r1"); });
    wait_until([this] { return !fs::is_symlink(options_.lock.path); });
    // The runner touches this file all the time: it is gone for good when it does not come back.
    wait_until([this] {
      fs::remove(dir_.path() / "alive");
      std::this_thread::sleep_for(300ms);
      return !fs::exists(dir_.path() / "alive");
    });
  }

  std::string endless() {
    return ": >" + (dir_.path() / "started").string() + "\nwhile :; do : >" +
           (dir_.path() / "alive").string() + "; sleep 0.1; done";
  }

  test::TempDir dir_;
  std::optional<test::TestDevice> device_;
  std::optional<test::TcpProxy> proxy_;
  std::unique_ptr<Transport> transport_;
  SessionOptions options_;
};

TEST_P(BrokenJob, LosesNothingOfAnUploadThatIsWhole) {
  FileTree tree("rt");
  std::string noise(1'000'000, '\0');
  std::uint32_t state = 1;
  for (int file = 0; file < 8; ++file) {
    for (char& byte : noise)
      byte = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24);
    tree.add_bytes("f" + std::to_string(file), noise);
  }
  proxy_->cut_after_sent(6'000'000);
  expect_device_error([&] {
    Session session(*transport_, options_);
    session.put({tree});
  });
  const auto direct = device_->connect();
  wait_until([this] { return !fs::is_symlink(options_.lock.path); });
  Session session(*direct, options_);
  const std::string there = session.put({tree}).at(0);
  EXPECT_GT(session.uploaded().files_sent, 0);
  EXPECT_LT(session.uploaded().files_sent, 8);
  for (const TreeFile& file : tree.files()) {
    EXPECT_EQ(test::read_text(there + "/" + file.path), std::get<std::string>(file.content));
  }
}

TEST_P(BrokenJob, EndsTheRunnerAndFreesTheDeviceWhenTheLinkIsCut) {
  Session session(*transport_, options_);
  std::thread breaker = once_running([this] { proxy_->cut(); });
  expect_device_error([&] { session.run(request(endless())); });
  breaker.join();
  session.finish();
  expect_everything_ended_there();
}

TEST_P(BrokenJob, EndsTheRunnerAndFreesTheDeviceWhenTheLinkFallsSilent) {
  Session session(*transport_, options_);
  std::thread breaker = once_running([this] { proxy_->stall(); });
  expect_device_error([&] { session.run(request(endless())); });
  breaker.join();
  session.finish();
  expect_everything_ended_there();
}

TEST_P(BrokenJob, LeavesNoHalfFileHereAfterADownload) {
  Session session(*transport_, options_);
  RunRequest large =
      request("dd if=/dev/urandom bs=1000 count=4000 of=out.0 2>/dev/null; echo done >out.1");
  large.fetch = {{"out.*", dir_.path() / "here"}};
  proxy_->cut_after_received(500'000);
  expect_device_error([&] { session.run(large); });
  EXPECT_TRUE(fs::is_empty(dir_.path() / "here"));
}

INSTANTIATE_TEST_SUITE_P(Devices, BrokenJob, testing::ValuesIn(test::far_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace stab
