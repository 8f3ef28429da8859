// SPDX-License-Identifier: Apache-2.0
#include "remote_script.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "child_process.h"
#include "support/proc_table.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// The program under one shell, fed by hand.
class Shell {
 public:
  Shell(const std::string& shell, const std::string& script, const Supervision& how,
        const std::string& setup = {}) {
    auto [far_input, near_input] = make_pipe();
    const Descriptor output(open(output_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const Descriptor error(open(error_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    std::string line(remote_command_line());
    for (std::size_t at = line.find("/bin/sh"); at != std::string::npos;
         at = line.find("/bin/sh", at + shell.size())) {
      line.replace(at, 7, shell);
    }
    child_.emplace(std::vector<std::string>{"/bin/sh", "-c", setup + line}, far_input, output,
                   error);
    input_ = std::move(near_input);
    send(remote_program(script, "TOKEN", how));
  }

  void send(const std::string& bytes) {
    EXPECT_EQ(write(input_.get(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
  }
  void end_input() { input_.close(); }
  void terminate() { child_->signal(SIGTERM); }

  /// Its exit; nothing when it goes on after `limit`.
  std::optional<Exit> wait(std::chrono::milliseconds limit) {
    const auto deadline = Clock::now() + limit;
    while (!child_->poll_exit() && Clock::now() < deadline) std::this_thread::sleep_for(5ms);
    return child_->poll_exit();
  }
  /// The process that the program announced.
  int command_pid() {
    for (int tries = 0; tries < 1000; ++tries) {
      const std::string text = test::read_text(output_);
      if (text.find('\n') != std::string::npos) return std::stoi(text.substr(6));
      std::this_thread::sleep_for(5ms);
    }
    return 0;
  }
  /// What came behind the mark.
  std::string output() const {
    const std::string text = test::read_text(output_);
    return text.substr(text.find('\n') + 1);
  }
  std::string error() const { return test::read_text(error_); }

 private:
  test::TempDir folder_;
  std::string output_ = folder_.path() / "output";
  std::string error_ = folder_.path() / "error";
  Descriptor input_;
  std::optional<ChildProcess> child_;
};

class RemoteScript : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    shell_ = "/bin/" + GetParam();
    if (GetParam() == "ash") {
      const Captured where = run_captured({"sh", "-c", "command -v busybox"}, 5s, {});
      shell_ = folder_.path() / "ash";
      const std::string busybox = where.output.substr(0, where.output.find('\n'));
      if (!busybox.empty()) std::filesystem::create_symlink(busybox, shell_);
    }
    if (!std::filesystem::exists(shell_)) test::skip_or_fail(GetParam() + " is missing");
  }

  test::TempDir folder_;
  std::string shell_;
};

TEST_P(RemoteScript, KeepsTheExitStatusAndBothStreams) {
  Shell shell(shell_, "echo out; echo err >&2; exit 7", {});
  EXPECT_EQ(shell.wait(10s).value_or(Exit{}).code, 7);
  EXPECT_EQ(shell.output(), "out\n");
  EXPECT_EQ(shell.error(), "TOKEN\nerr\n");
}

TEST_P(RemoteScript, ShowsTheDeathBySignal) {
  Shell shell(shell_, "kill -SEGV $$", {});
  EXPECT_EQ(shell.wait(10s).value_or(Exit{}).code, 139);
}

TEST_P(RemoteScript, HandsOverAnyByteOfAScript) {
  std::string text;
  for (int c = 1; c < 256; ++c) {
    if (c != '\'') text += static_cast<char>(c);
  }
  Shell shell(shell_, "printf %s '" + text + "'", {});
  EXPECT_EQ(shell.wait(10s).value_or(Exit{Exit::How::timed_out}).code, 0);
  EXPECT_EQ(shell.output(), text);
}

TEST_P(RemoteScript, TakesAScriptOfNearly100KB) {
  std::string script = "echo first\n";
  while (script.size() < 99'000) script += "# it's only a comment with \\ and \"quotes\"\n";
  Shell shell(shell_, script + "echo last", {});
  EXPECT_TRUE(shell.wait(20s));
  EXPECT_EQ(shell.output(), "first\nlast\n");
}

TEST_P(RemoteScript, GivesTheCommandItsInput) {
  Shell shell(shell_, "read -r line; wc -c; exit 4", {.input = true});
  shell.send("a line\n" + std::string(40'000, 'x'));
  shell.end_input();
  EXPECT_EQ(shell.wait(10s).value_or(Exit{}).code, 4);
  EXPECT_NE(shell.output().find("40000"), std::string::npos);
}

TEST_P(RemoteScript, GivesTheCommandNoLifeline) {
  Shell shell(shell_, "cat; echo end", {});
  shell.send("\n");
  EXPECT_EQ(shell.wait(10s).value_or(Exit{Exit::How::timed_out}).code, 0);
  EXPECT_EQ(shell.output(), "end\n");
}

TEST_P(RemoteScript, EndsTheWholeGroupAtEndOfFile) {
  Shell shell(shell_, "sleep 1000 & sleep 1001", {});
  const int pid = shell.command_pid();
  shell.end_input();
  EXPECT_TRUE(shell.wait(10s));
  EXPECT_TRUE(test::group_gone(pid));
}

TEST_P(RemoteScript, KillsWhatIgnoresTerm) {
  Shell shell(shell_, "trap '' TERM; sleep 1000; sleep 1001", {});
  const int pid = shell.command_pid();
  shell.end_input();
  EXPECT_TRUE(shell.wait(20s));
  EXPECT_TRUE(test::group_gone(pid));
}

TEST_P(RemoteScript, LetsACommandTidyUpAtEndOfFile) {
  Shell shell(shell_, "trap 'echo tidied; exit 0' TERM; sleep 1000 & wait", {});
  shell.command_pid();
  std::this_thread::sleep_for(100ms);
  shell.end_input();
  EXPECT_EQ(shell.wait(10s).value_or(Exit{}).code, 0);
  EXPECT_EQ(shell.output(), "tidied\n");
}

TEST_P(RemoteScript, EndsTheGroupWhenTheLifelineFallsSilent) {
  Shell shell(shell_, "sleep 1000", {.silence = 3s});
  const int pid = shell.command_pid();
  EXPECT_FALSE(shell.wait(2s));
  EXPECT_TRUE(shell.wait(10s));
  EXPECT_TRUE(test::group_gone(pid));
}

TEST_P(RemoteScript, GoesOnWhileTheLifelineBeats) {
  Shell shell(shell_, "sleep 5; exit 9", {.silence = 3s});
  std::optional<Exit> exit;
  for (int second = 0; second < 30 && !exit; ++second) {
    shell.send("\n");
    exit = shell.wait(1s);
  }
  EXPECT_EQ(exit.value_or(Exit{}).code, 9);
}

TEST_P(RemoteScript, EndsWhatTheCommandLeftBehind) {
  Shell shell(shell_, "sleep 1000 & exit 3", {});
  const int pid = shell.command_pid();
  EXPECT_EQ(shell.wait(10s).value_or(Exit{}).code, 3);
  EXPECT_TRUE(test::group_gone(pid));
}

TEST_P(RemoteScript, EndsACommandWithInputAtTerm) {
  Shell shell(shell_, "sleep 1000; sleep 1001", {.input = true});
  const int pid = shell.command_pid();
  shell.terminate();
  EXPECT_EQ(shell.wait(10s).value_or(Exit{}).code, 143);
  EXPECT_TRUE(test::group_gone(pid));
}

/// What `shell` knows where setsid is missing.
struct NoSetsid {
  NoSetsid() {
    for (const char* tool : {"sleep", "tar", "cat"}) {
      std::filesystem::create_symlink(std::filesystem::path("/bin") / tool, tools.path() / tool);
    }
  }
  std::string setup() const { return "PATH=" + tools.path().string() + "; "; }

  test::TempDir tools;
};

/// Ends the command's input, and sees that it and the child whose process it printed are gone.
void expect_tree_ends(Shell& shell) {
  const int pid = shell.command_pid();
  while (shell.output().empty()) std::this_thread::sleep_for(10ms);
  const int child = std::stoi(shell.output());
  shell.end_input();
  EXPECT_TRUE(shell.wait(20s));
  EXPECT_TRUE(test::process_gone(pid));
  EXPECT_TRUE(test::process_gone(child));
}

TEST_P(RemoteScript, EndsTheTreeWhereSetsidIsMissing) {
  const NoSetsid device;
  Shell shell(shell_, "(sleep 1000; true) & echo $!; sleep 1001; true", {}, device.setup());
  expect_tree_ends(shell);
}

TEST_P(RemoteScript, EndsATreeThatOutlivesTheCommandWhereSetsidIsMissing) {
  const NoSetsid device;
  Shell shell(shell_, "(trap '' TERM; sleep 1000; sleep 1001) & sleep 0.1; echo $!; sleep 1002", {},
              device.setup());
  expect_tree_ends(shell);
}

TEST_P(RemoteScript, KeepsTheExitStatusWhereSetsidIsMissing) {
  const NoSetsid device;
  Shell shell(shell_, "echo out; exit 7", {}, device.setup());
  EXPECT_EQ(shell.wait(10s).value_or(Exit{}).code, 7);
  EXPECT_EQ(shell.output(), "out\n");
}

INSTANTIATE_TEST_SUITE_P(Shells, RemoteScript, testing::Values("dash", "bash", "ash"),
                         [](const auto& shape) { return shape.param; });

}  // namespace
}  // namespace stab
