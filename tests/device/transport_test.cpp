// SPDX-License-Identifier: Apache-2.0
// What a transport promises, whatever carries it.
#include "stab/device/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "stab/core/error.h"
#include "stab/device/shell.h"
#include "stab/device/ssh_transport.h"
#include "support/proc_table.h"
#include "support/ssh_server.h"

namespace stab {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

struct Outcome {
  Exit exit;
  std::string output;
  std::string error;
};

class TransportTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const StopRequested stop = [this] { return stop_.load(); };
    if (GetParam() == "local") {
      transport_ = make_local_transport(stop);
      return;
    }
    test::SshServerOptions options;
    if (GetParam() == "dropbear") {
      options.kind = test::SshServerOptions::Kind::dropbear;
      options.busybox = true;
    }
    server_.emplace(options);
    transport_ = connect_ssh(server_->options(), stop, {}, {});
  }

  Outcome run(Command command) {
    Outcome outcome;
    command.output = [&](std::string_view bytes) { outcome.output += bytes; };
    command.error = [&](std::string_view bytes) { outcome.error += bytes; };
    outcome.exit = transport_->run(command);
    return outcome;
  }
  Outcome run(const std::string& script) { return run(Command{.script = script}); }

  static ByteSource bytes(std::size_t count, char fill = 'x') {
    return [left = count, fill](std::span<char> into) mutable {
      const std::size_t now = std::min(left, into.size());
      std::memset(into.data(), fill, now);
      left -= now;
      return now;
    };
  }

  std::atomic<bool> stop_ = false;
  std::optional<test::SshServer> server_;
  std::unique_ptr<Transport> transport_;
};

TEST_P(TransportTest, BringsBothStreamsAndTheStatus) {
  const Outcome outcome = run("echo out; echo err >&2; exit 7");
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.error, "err\n");
  EXPECT_EQ(outcome.exit.how, Exit::How::exited);
  EXPECT_EQ(outcome.exit.code, 7);
}

TEST_P(TransportTest, KeepsEachWordWhole) {
  const std::string odd = "a;b 'c' \"d\" $HOME `id` \\n !x *\n~ BACKENDS=cpu;ruy \xc3\xa9\xc5\x81";
  EXPECT_EQ(run("printf %s " + shell_quote(odd)).output, odd);
}

TEST_P(TransportTest, RunsInTheCLocaleWithNothingToRead) {
  EXPECT_EQ(run("echo $LC_ALL; cat; echo end").output, "C\nend\n");
}

TEST_P(TransportTest, SendsInputAndEndsItWithEndOfFile) {
  const Outcome outcome = run(Command{.script = "wc -c; echo done", .input = bytes(20'000'000)});
  EXPECT_EQ(outcome.exit.code, 0);
  EXPECT_THAT(outcome.output, HasSubstr("20000000"));
  EXPECT_THAT(outcome.output, HasSubstr("done"));
}

TEST_P(TransportTest, BringsBackWhatItSends) {
  std::size_t received = 0;
  Command command{.script = "cat", .input = bytes(30'000'000)};
  command.output = [&](std::string_view some) { received += some.size(); };
  EXPECT_TRUE(transport_->run(command).ok());
  EXPECT_EQ(received, 30'000'000U);
}

TEST_P(TransportTest, DrainsStandardErrorWhileTheOutputIsQuiet) {
  for (const int count : {1'400'000, 100'000'000}) {
    std::size_t received = 0;
    Command command{.script = "head -c " + std::to_string(count) + " /dev/zero >&2; echo done"};
    std::string output;
    command.output = [&](std::string_view some) { output += some; };
    command.error = [&](std::string_view some) { received += some.size(); };
    EXPECT_TRUE(transport_->run(command).ok());
    EXPECT_EQ(received, std::size_t(count));
    EXPECT_EQ(output, "done\n");
  }
}

TEST_P(TransportTest, Drains100MBFromBothStreams) {
  std::size_t output = 0, error = 0;
  Command command{.script = "head -c 50000000 /dev/zero >&2 & head -c 50000000 /dev/zero; wait"};
  command.output = [&](std::string_view some) { output += some.size(); };
  command.error = [&](std::string_view some) { error += some.size(); };
  EXPECT_TRUE(transport_->run(command).ok());
  EXPECT_EQ(output, 50'000'000U);
  EXPECT_EQ(error, 50'000'000U);
}

TEST_P(TransportTest, WaitsForASlowSinkWithoutKeepingEverything) {
  std::size_t received = 0;
  Command command{.script = "head -c 5000000 /dev/zero"};
  command.output = [&](std::string_view some) {
    EXPECT_LE(some.size(), 4U << 20);
    received += some.size();
    std::this_thread::sleep_for(50ms);
  };
  EXPECT_TRUE(transport_->run(command).ok());
  EXPECT_EQ(received, 5'000'000U);
}

TEST_P(TransportTest, ReportsACommandThatFailsInTheMiddleOfItsInput) {
  const Outcome outcome =
      run(Command{.script = "head -c 1000 >/dev/null; echo 'No space' >&2; exit 3",
                  .input = bytes(100'000'000)});
  EXPECT_EQ(outcome.exit.code, 3);
  EXPECT_EQ(outcome.error, "No space\n");
}

TEST_P(TransportTest, DoesNotCallItSuccessWhenInputWasLeftOver) {
  try {
    run(Command{.script = "head -c 1000 >/dev/null; exit 0", .input = bytes(100'000'000)});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("before it had read all of its input"));
  }
}

TEST_P(TransportTest, ShowsACrash) {
  const Exit crash = run("kill -SEGV $$").exit;
  EXPECT_TRUE(crash.code == 139 || (crash.how == Exit::How::signalled && crash.signal == SIGSEGV));
  const Exit killed = run("sh -c 'kill -KILL $$'; exit $?").exit;
  EXPECT_EQ(killed.code, 137);
  EXPECT_EQ(run("no-such-command-here").exit.code, 127);
}

TEST_P(TransportTest, EndsAHangAtTheTimeout) {
  const Outcome outcome = run(Command{.script = "echo $$; sleep 1000 & sleep 1001", .timeout = 3s});
  EXPECT_EQ(outcome.exit.how, Exit::How::timed_out);
  EXPECT_TRUE(test::process_gone(std::stoi(outcome.output)));
}

TEST_P(TransportTest, EndsACommandWithInputAtTheTimeout) {
  const Outcome outcome = run(
      Command{.script = "echo $$; sleep 1001; exit 0", .input = bytes(100'000'000), .timeout = 3s});
  EXPECT_EQ(outcome.exit.how, Exit::How::timed_out);
  EXPECT_TRUE(test::process_gone(std::stoi(outcome.output)));
}

TEST_P(TransportTest, EndsWhatIsSilentForTooLong) {
  const Outcome outcome = run(
      Command{.script = "for i in 1 2 3 4; do echo $i; sleep 0.3; done; sleep 1000", .idle = 1s});
  EXPECT_EQ(outcome.exit.how, Exit::How::timed_out);
  EXPECT_EQ(outcome.output, "1\n2\n3\n4\n");
}

TEST_P(TransportTest, EndsTheRemoteCommandWhenTheUserStops) {
  int pid = 0;
  Command command{.script = "trap '' TERM; echo $$; sleep 1000; sleep 1001"};
  command.output = [&](std::string_view text) {
    pid = std::stoi(std::string(text));
    stop_ = true;
  };
  try {
    transport_->run(command);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  EXPECT_TRUE(test::process_gone(pid));
  EXPECT_EQ(run(Command{.script = "echo tidy", .timeout = 10s, .cleanup = true}).output, "tidy\n");
}

TEST_P(TransportTest, EndsTheRemoteCommandWhenASinkThrows) {
  int pid = 0;
  Command command{.script = "echo $$; sleep 1000"};
  command.output = [&](std::string_view text) {
    pid = std::stoi(std::string(text));
    throw Error(ErrorKind::output, "cannot write", "x", "disk full");
  };
  EXPECT_THROW(transport_->run(command), Error);
  EXPECT_TRUE(test::process_gone(pid));
  EXPECT_EQ(run("echo next").output, "next\n");
}

TEST_P(TransportTest, HoldsAProcessWhileOthersRun) {
  std::string output;
  Command command{
      .script = "trap 'echo dropped; exit 5' TERM; echo first; echo ready; sleep 1000 & wait"};
  command.output = [&](std::string_view text) { output += text; };
  const std::unique_ptr<Process> holder = transport_->start(command);
  EXPECT_EQ(output, "first\n");
  EXPECT_TRUE(holder->running());
  EXPECT_EQ(run("echo between").output, "between\n");
  EXPECT_TRUE(run(Command{.script = "cat >/dev/null", .input = bytes(30'000'000)}).exit.ok());
  EXPECT_TRUE(holder->running());
  EXPECT_EQ(holder->stop().code, 5);
  EXPECT_EQ(output, "first\ndropped\n");
  EXPECT_FALSE(holder->running());
}

TEST_P(TransportTest, ReturnsAProcessThatEndedBeforeItWasReady) {
  std::string output;
  Command command{.script = "echo busy; printf 'not ready'; exit 75"};
  command.output = [&](std::string_view text) { output += text; };
  const std::unique_ptr<Process> holder = transport_->start(command);
  EXPECT_FALSE(holder->running());
  EXPECT_EQ(holder->stop().code, 75);
  EXPECT_EQ(output, "busy\nnot ready");
}

TEST_P(TransportTest, EndsAProcessThatIsDropped) {
  std::string output;
  Command command{.script = "echo $$; echo ready; sleep 1000"};
  command.output = [&](std::string_view text) { output += text; };
  transport_->start(command).reset();
  EXPECT_TRUE(test::process_gone(std::stoi(output)));
}

TEST_P(TransportTest, KeepsAProcessThroughAPauseOfItsCaller) {
  const std::unique_ptr<Process> holder =
      transport_->start(Command{.script = "echo ready; sleep 1000"});
  std::this_thread::sleep_for(6s);
  EXPECT_TRUE(holder->running());
}

INSTANTIATE_TEST_SUITE_P(All, TransportTest, testing::Values("local", "sshd", "dropbear"),
                         [](const auto& shape) { return shape.param; });

}  // namespace
}  // namespace stab
