// SPDX-License-Identifier: Apache-2.0
#include "stab/host/prompt.h"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <string_view>

#include "descriptor.h"

namespace stab {
namespace {

/// Turns echo off for its lifetime.
class Silence {
 public:
  explicit Silence(int terminal) : terminal_(terminal) {
    active_ = tcgetattr(terminal, &before_) == 0;
    if (!active_) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    tcsetattr(terminal, TCSAFLUSH, &quiet);
  }
  ~Silence() {
    if (active_) tcsetattr(terminal_, TCSAFLUSH, &before_);
  }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  int terminal_;
  bool active_ = false;
  termios before_{};
};

std::optional<std::string> read_line(int terminal) {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t got = read(terminal, &c, 1);
    if (got <= 0) return std::nullopt;
    if (c == '\n' || c == '\r') return line;
    line += c;
  }
}

}  // namespace

bool can_prompt() {
  return isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
}

std::optional<std::string> prompt_on_terminal(const std::string& question, bool echo) {
  const FileDescriptor terminal(open("/dev/tty", O_RDWR | O_CLOEXEC));
  if (!terminal.open()) return std::nullopt;
  if (!write_all(terminal.get(), question + " ")) return std::nullopt;
  if (echo) return read_line(terminal.get());
  std::optional<std::string> answer;
  {
    const Silence silence(terminal.get());
    answer = read_line(terminal.get());
  }
  [[maybe_unused]] const bool shown = write_all(terminal.get(), "\n");
  return answer;
}

}  // namespace stab
