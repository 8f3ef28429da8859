// SPDX-License-Identifier: Apache-2.0
#include "stab/app/connect.h"

#include <pwd.h>
#include <unistd.h>

#include "stab/device/ssh_transport.h"
#include "stab/host/prompt.h"

namespace stab {
namespace {

std::string user_name() {
  const passwd* entry = getpwuid(getuid());
  return entry == nullptr ? std::to_string(getuid()) : entry->pw_name;
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

}  // namespace

std::unique_ptr<Transport> connect(const Options& options, Progress& progress, StopRequested stop,
                                   std::vector<Warning>& warnings) {
  if (options.ip == "local") return make_local_transport(std::move(stop));
  progress.update("connect", 0, 0, options.ip);
  SshOptions ssh;
  ssh.host = options.ip;
  ssh.user = options.user;
  ssh.port = options.port;
  if (options.identity) ssh.identity = options.identity->string();
  ssh.accept_new_host_key = options.accept_new_host_key;
  SecretPrompt prompt;
  if (can_prompt()) {
    prompt = [&progress](const std::string& question, bool echo) {
      progress.clear();
      return prompt_on_terminal(question, echo);
    };
  }
  return connect_ssh(
      ssh, std::move(stop), [&warnings](const Warning& warning) { warnings.push_back(warning); },
      prompt);
}

LockOptions lock_options(const Options& options, Progress& progress) {
  LockOptions lock;
  lock.who = user_name() + "@" + host_name() + ":" + std::to_string(getpid());
  lock.wait = options.lock_wait.value_or(std::chrono::seconds(0));
  lock.on_wait = [&progress](const LockHolder& holder) {
    progress.update("wait for the device", 0, 0, "it is used by " + describe(holder));
  };
  return lock;
}

std::string work_folder_of(const Options& options, const Transport& transport) {
  if (!options.remote_dir.empty()) return options.remote_dir;
  return transport.link().local ? "/tmp/ONE-" + std::to_string(getuid()) : "/tmp/ONE";
}

}  // namespace stab
