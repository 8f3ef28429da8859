// SPDX-License-Identifier: Apache-2.0
#include "stab/host/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace stab {
namespace {

volatile sig_atomic_t g_interrupted = 0;
int g_pipe[2] = {-1, -1};

void on_signal(int signal_number) {
  if (g_interrupted != 0 && signal_number == SIGINT) _exit(130);
  const int saved = errno;
  g_interrupted = 1;
  const char byte = 1;
  [[maybe_unused]] const ssize_t written = write(g_pipe[1], &byte, 1);
  errno = saved;
}

}  // namespace

void catch_interrupts() {
  if (g_pipe[0] == -1 && pipe2(g_pipe, O_CLOEXEC | O_NONBLOCK) != 0) return;
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

bool interrupted() {
  return g_interrupted != 0;
}

int interrupt_descriptor() {
  return g_pipe[0];
}

}  // namespace stab
