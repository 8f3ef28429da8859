// SPDX-License-Identifier: Apache-2.0
#include "support/ssh_agent.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/process.h"
#include "support/real_world.h"

namespace stab::test {

SshAgent::SshAgent() {
  const std::string program = require_program("ssh-agent").string();
  const std::string socket = (folder_.path() / "agent").string();
  process_ = fork();
  if (process_ == 0) {
    const int nothing = open("/dev/null", O_RDWR);
    for (int descriptor : {0, 1, 2}) dup2(nothing, descriptor);
    execl(program.c_str(), "ssh-agent", "-D", "-a", socket.c_str(), nullptr);
    _exit(127);
  }
  for (int wait = 0; wait < 500 && !std::filesystem::exists(socket); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
}

SshAgent::~SshAgent() {
  unsetenv("SSH_AUTH_SOCK");
  kill(process_, SIGTERM);
  waitpid(process_, nullptr, 0);
}

void SshAgent::add(const std::filesystem::path& key) const {
  const ProcessResult result =
      run_process({require_program("ssh-add").string(), "-q", key.string()});
  if (result.exit_code != 0) throw std::runtime_error("ssh-add failed: " + result.err);
}

}  // namespace stab::test
