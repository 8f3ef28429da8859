// SPDX-License-Identifier: Apache-2.0
#include "stab/device/lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <thread>

#include "stab/core/error.h"
#include "support/devices.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

template <typename Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    return error.what();
  }
  return "";
}

class Lock : public testing::TestWithParam<test::DeviceKind> {
 protected:
  void SetUp() override {
    device_.emplace(GetParam());
    transport_ = connect();
    options_.path = (dir_.path() / "lock").string();
    options_.who = "anna@laptop:42";
  }

  std::unique_ptr<Transport> connect() { return device_->connect(); }
  LockOptions of(const char* who) const {
    LockOptions options = options_;
    options.who = who;
    return options;
  }
  bool there() const { return fs::is_symlink(options_.path); }

  test::TempDir dir_;
  std::optional<test::TestDevice> device_;
  std::unique_ptr<Transport> transport_;
  LockOptions options_;
};

TEST_P(Lock, IsHeldForTheLifeOfTheObject) {
  {
    DeviceLock lock(*transport_, options_);
    EXPECT_TRUE(lock.held());
    EXPECT_TRUE(there());
    const auto holder = look_at_lock(*transport_, options_.path);
    ASSERT_TRUE(holder.has_value());
    EXPECT_EQ(holder->who, "anna@laptop:42");
    EXPECT_FALSE(holder->stale);
    EXPECT_TRUE(holder->age.has_value());
    EXPECT_GT(holder->pid, 0);
  }
  EXPECT_FALSE(there());
  EXPECT_FALSE(look_at_lock(*transport_, options_.path).has_value());
}

TEST_P(Lock, NamesTheHolderToTheSecondOne) {
  DeviceLock lock(*transport_, options_);
  const auto other = connect();
  EXPECT_THAT(
      message_of([&] { DeviceLock second(*other, of("bob")); }),
      testing::AllOf(HasSubstr("busy"), HasSubstr("anna@laptop:42"), HasSubstr("--lock-wait")));
  EXPECT_TRUE(lock.held());
}

TEST_P(Lock, WaitsForTheHolderWithAMessage) {
  auto lock = std::make_unique<DeviceLock>(*transport_, options_);
  const auto other = connect();
  LockOptions patient = of("bob");
  patient.wait = std::chrono::seconds(60);
  std::vector<std::string> messages;
  std::latch waiting(1);
  patient.on_wait = [&](const LockHolder& holder) {
    messages.push_back(holder.who);
    waiting.count_down();
  };
  std::thread second([&] { DeviceLock waited(*other, patient); });
  waiting.wait();
  lock.reset();
  second.join();
  EXPECT_THAT(messages, testing::ElementsAre("anna@laptop:42"));
  EXPECT_FALSE(there());
}

TEST_P(Lock, GivesUpWaitingInTheEnd) {
  DeviceLock lock(*transport_, options_);
  const auto other = connect();
  LockOptions patient = of("bob");
  patient.wait = std::chrono::seconds(1);
  EXPECT_THAT(message_of([&] { DeviceLock second(*other, patient); }), HasSubstr("anna@laptop:42"));
}

TEST_P(Lock, HasOneWinnerOfTwenty) {
  std::vector<std::unique_ptr<Transport>> transports;
  for (int i = 0; i < 20; ++i) transports.push_back(connect());
  for (const bool stale : {false, true}) {
    if (stale) fs::create_symlink("otherboot:1:1:1:ghost", options_.path);
    std::atomic<int> winners = 0;
    std::latch tried(20);
    std::vector<std::thread> contenders;
    for (const auto& transport : transports) {
      contenders.emplace_back([&, this] {
        std::unique_ptr<DeviceLock> lock;
        try {
          lock = std::make_unique<DeviceLock>(*transport, options_);
          ++winners;
        } catch (const Error& error) {
          EXPECT_THAT(error.what(), HasSubstr("busy"));
        }
        tried.arrive_and_wait();
        EXPECT_TRUE(!lock || lock->held());
      });
    }
    for (std::thread& contender : contenders) contender.join();
    EXPECT_EQ(winners, 1) << (stale ? "stale" : "free");
    EXPECT_FALSE(there());
  }
}

TEST_P(Lock, OfAHolderThatIsGoneIsTakenOver) {
  DeviceLock crashed(*transport_, options_);
  const auto holder = look_at_lock(*transport_, options_.path);
  ASSERT_TRUE(holder.has_value());
  ASSERT_EQ(kill(holder->pid, SIGKILL), 0);
  while (crashed.held()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(there());
  EXPECT_TRUE(look_at_lock(*transport_, options_.path)->stale);
  const auto other = connect();
  DeviceLock second(*other, of("bob"));
  EXPECT_EQ(look_at_lock(*transport_, options_.path)->who, "bob");
  EXPECT_FALSE(fs::exists(options_.path + ".takeover"));
}

TEST_P(Lock, OfAnEarlierBootOrOfAReusedProcessNumberIsTakenOver) {
  const std::string boot = test::read_text("/proc/sys/kernel/random/boot_id").substr(0, 36);
  for (const std::string& target :
       {std::string("otherboot:1:1:5:ghost"), boot + ":" + std::to_string(getpid()) + ":1:5:ghost",
        std::string("nonsense")}) {
    fs::create_symlink(target, options_.path);
    EXPECT_TRUE(look_at_lock(*transport_, options_.path)->stale) << target;
    DeviceLock lock(*transport_, options_);
    EXPECT_TRUE(lock.held());
  }
}

TEST_P(Lock, IsNotMadeWhereSomethingElseStands) {
  dir_.write("lock", "a file");
  EXPECT_THAT(message_of([&] { DeviceLock lock(*transport_, options_); }), HasSubstr("no lock"));
  EXPECT_THAT(message_of([&] { look_at_lock(*transport_, options_.path); }), HasSubstr("no lock"));
  EXPECT_EQ(test::read_text(options_.path), "a file");
  fs::remove(options_.path);
  fs::create_directory(options_.path);
  EXPECT_THAT(message_of([&] { DeviceLock lock(*transport_, options_); }), HasSubstr("no lock"));
  EXPECT_TRUE(fs::is_empty(options_.path));
  options_.path = (dir_.path() / "absent/lock").string();
  EXPECT_THAT(message_of([&] { DeviceLock lock(*transport_, options_); }),
              HasSubstr("cannot be made"));
}

/// Waits for what another process brings about; ten seconds are far more than it takes.
bool comes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 1000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST_P(Lock, IsTakenFromALiveHolderByForceOnly) {
  DeviceLock lock(*transport_, options_);
  const auto other = connect();
  EXPECT_THAT(message_of([&] { unlock(*other, false, options_.path); }), HasSubstr("in use"));
  EXPECT_TRUE(lock.held());
  EXPECT_EQ(unlock(*other, true, options_.path)->who, "anna@laptop:42");
  EXPECT_TRUE(comes_true([&] { return !lock.held(); })) << "news of the holder's end take a moment";
  EXPECT_FALSE(there());
  EXPECT_FALSE(unlock(*other, true, options_.path).has_value());
}

TEST_P(Lock, ThatIsStaleIsRemovedByUnlock) {
  fs::create_symlink("otherboot:1:1:1:ghost", options_.path);
  const auto removed = unlock(*transport_, false, options_.path);
  ASSERT_TRUE(removed.has_value());
  EXPECT_TRUE(removed->stale);
  EXPECT_EQ(removed->who, "ghost");
  EXPECT_FALSE(there());
}

using ForeignLock = Lock;

TEST_P(ForeignLock, IsNamedWhenItIsStale) {
  const auto nobody = device_->connect_as_nobody();
  if (!nobody) GTEST_SKIP() << "only root can become another user";
  fs::permissions(dir_.path(), fs::perms(01777));
  fs::create_symlink("otherboot:1:1:1:ghost", options_.path);
  EXPECT_THAT(message_of([&] { DeviceLock lock(*nobody, options_); }),
              testing::AllOf(HasSubstr("ghost"), HasSubstr("user root"), HasSubstr("stale")));
  EXPECT_THAT(message_of([&] { unlock(*nobody, true, options_.path); }), HasSubstr("user root"));
  EXPECT_TRUE(there());
}

INSTANTIATE_TEST_SUITE_P(Devices, ForeignLock, testing::ValuesIn(test::local_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

INSTANTIATE_TEST_SUITE_P(Devices, Lock, testing::ValuesIn(test::all_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(LockHolder, IsDescribedInOneLine) {
  EXPECT_EQ(describe({"anna@laptop:4242", "pi", 812, std::chrono::seconds(125), false}),
            "anna@laptop:4242 (user pi, process 812 on the device, for 125 s)");
}

}  // namespace
}  // namespace stab
