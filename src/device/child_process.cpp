// SPDX-License-Identifier: Apache-2.0
#include "child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "stab/core/error.h"

namespace stab {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t k_captured_bytes = 1 << 20;

/// posix_spawn's two argument objects, freed together.
struct SpawnSettings {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;

  SpawnSettings() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
};

/// Appends what can be read now; false at end-of-file.
bool drain(const Descriptor& from, std::string& into) {
  std::array<char, 16384> buffer;
  const ssize_t got = read(from.get(), buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  const std::size_t room = k_captured_bytes - std::min(k_captured_bytes, into.size());
  into.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
  return got > 0;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, const Descriptor& input,
                           const Descriptor& output, const Descriptor& error) {
  SpawnSettings settings;
  posix_spawn_file_actions_adddup2(&settings.files, input.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&settings.files, output.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.files, error.get(), STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const int failure =
      posix_spawnp(&pid_, words[0], &settings.files, &settings.attributes, words.data(), environ);
  if (failure != 0) {
    pid_ = -1;
    throw Error(ErrorKind::device, "cannot start program", argv.front(),
                std::generic_category().message(failure));
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0 || exit_) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<Exit> ChildProcess::poll_exit() {
  int status = 0;
  if (!exit_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_ = WIFSIGNALED(status) ? Exit{Exit::How::signalled, 0, WTERMSIG(status)}
                                : Exit{Exit::How::exited, WEXITSTATUS(status), 0};
  }
  return exit_;
}

void ChildProcess::signal(int number) const {
  if (pid_ > 0 && !exit_) kill(pid_, number);
}

Captured run_captured(const std::vector<std::string>& argv, std::chrono::milliseconds timeout,
                      const StopRequested& stop) {
  auto [output, output_end] = make_pipe();
  auto [error, error_end] = make_pipe();
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ChildProcess child(argv, nothing, output_end, error_end);
  output_end.close();
  error_end.close();
  Captured result;
  const Clock::time_point deadline = Clock::now() + timeout;
  while (output.open() || error.open() || !child.poll_exit()) {
    if (Clock::now() >= deadline || (stop && stop())) {
      result.exit.how = Exit::How::timed_out;
      return result;
    }
    std::array<pollfd, 2> waits{pollfd{output.get(), POLLIN, 0}, pollfd{error.get(), POLLIN, 0}};
    poll(waits.data(), waits.size(), output.open() || error.open() ? 100 : 2);
    if (waits[0].revents != 0 && !drain(output, result.output)) output.close();
    if (waits[1].revents != 0 && !drain(error, result.error)) error.close();
  }
  result.exit = *child.poll_exit();
  return result;
}

}  // namespace stab
