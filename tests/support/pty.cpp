// SPDX-License-Identifier: Apache-2.0
#include "support/pty.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>

namespace stab::test {
namespace {

using Clock = std::chrono::steady_clock;

/// What a terminal shows until the program at its other side is gone.
std::string read_all(int terminal, Clock::time_point deadline) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (Clock::now() < deadline) {
    pollfd ready{terminal, POLLIN, 0};
    if (poll(&ready, 1, 100) <= 0) continue;
    const ssize_t size = read(terminal, buffer.data(), buffer.size());
    if (size <= 0) break;  // EIO: nobody has the other side open
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

}  // namespace

ProcessResult run_in_terminal(const std::vector<std::string>& argv, int columns,
                              const ProcessOptions& options) {
  winsize size{};
  size.ws_row = 40;
  size.ws_col = static_cast<unsigned short>(columns);
  const ProgramStart program(argv, options);
  int terminal = -1;
  const pid_t pid = forkpty(&terminal, nullptr, nullptr, &size);
  if (pid < 0) throw std::runtime_error("no pseudo-terminal");
  if (pid == 0) program.become();
  const auto deadline = Clock::now() + std::chrono::seconds(options.timeout_seconds);
  ProcessResult result;
  result.out = read_all(terminal, deadline);
  if (Clock::now() >= deadline) kill(pid, SIGKILL);
  int status = 0;
  waitpid(pid, &status, 0);
  close(terminal);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace stab::test
