// SPDX-License-Identifier: Apache-2.0
// hold_command USER@HOST:PORT SCRIPT: runs SCRIPT there and waits for it, until somebody kills this
// program. A program of its own, since a fork of a test with threads may find locks held for ever.
#include <cstdio>
#include <exception>

#include "stab/device/ssh_transport.h"

int main(int count, char** words) {
  if (count != 3) return 2;
  try {
    stab::SshOptions options;
    options.host = words[1];
    stab::connect_ssh(options, {}, {}, {})->run(stab::Command{.script = words[2]});
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hold_command: %s\n", error.what());
    return 1;
  }
}
