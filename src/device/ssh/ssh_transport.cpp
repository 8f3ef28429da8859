// SPDX-License-Identifier: Apache-2.0
#include "stab/device/ssh_transport.h"

#include <libssh/libssh.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "conversation.h"
#include "remote_script.h"
#include "ssh/host_key.h"
#include "ssh/io.h"
#include "ssh/login.h"
#include "ssh/route.h"
#include "ssh/session.h"
#include "ssh/settings.h"

namespace stab {
namespace {

/// Keeps SIGPIPE from this thread: a proxy that dies is an error, not the end of the process.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec now{};
    while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
};

class SshTransport : public Transport {
 public:
  SshTransport(std::unique_ptr<SshSession> session, const SshLimits& limits, std::string address,
               StopRequested stop)
      : limits_(limits),
        server_(session->banner()),
        address_(std::move(address)),
        stop_(std::move(stop)),
        io_(std::make_shared<SshIo>(std::move(session), limits)) {}

  Exit run(const Command& command) override { return begin(command)->run(); }

  std::unique_ptr<Process> start(const Command& command) override {
    std::unique_ptr<Conversation> conversation = begin(command);
    conversation->await_ready();
    return std::make_unique<HeldProcess>(io_, std::move(conversation));
  }

  void prefer_aes() override { io_->prefer_aes(); }

  LinkInfo link() const override {
    return {
        .local = false, .round_trip = io_->round_trip(), .server = server_, .address = address_};
  }

 private:
  std::unique_ptr<Conversation> begin(const Command& command) const {
    const std::string token = random_token();
    const bool with_input = static_cast<bool>(command.input);
    const Supervision how{.input = with_input, .silence = limits_.remote_silence};
    const std::string program = remote_program(command.script, token, how);
    std::shared_ptr<Relay> relay = io_->open(std::string(remote_command_line()), with_input);
    relay->put(program);
    return std::make_unique<Conversation>(std::move(relay), command, token, address_, stop_);
  }

  const SshLimits limits_;
  const std::string server_;
  const std::string address_;
  const StopRequested stop_;
  const std::shared_ptr<SshIo> io_;
};

void check_identity(const SshOptions& options) {
  if (!options.identity || access(options.identity->c_str(), R_OK) == 0) return;
  throw Error(ErrorKind::usage, "cannot read key file", *options.identity,
              std::generic_category().message(errno));
}

}  // namespace

std::unique_ptr<Transport> connect_ssh(const SshOptions& options, StopRequested stop,
                                       WarningSink warn, SecretPrompt prompt) {
  check_identity(options);
  const WithoutSigpipe guard;
  const SshSettings settings = resolve_ssh_settings(options, stop, warn);
  const std::vector<KnownHostsFile> known_hosts = read_known_hosts(settings);
  const HostName name{settings.host, settings.port, settings.host_key_alias};
  auto session = std::make_unique<SshSession>(open_route(settings, options.limits, stop), settings,
                                              known_key_types(known_hosts, name));
  session->exchange_keys(settings, options.limits, stop);
  check_host_key(session->host_key(), known_hosts, settings, warn);
  log_in(*session, settings, options.limits, stop, prompt);
  return std::make_unique<SshTransport>(std::move(session), options.limits, settings.address(),
                                        std::move(stop));
}

std::string ssh_library_version() {
  const char* version = ssh_version(0);
  const std::string text = version == nullptr ? "" : version;
  return text.substr(0, text.find('/'));
}

}  // namespace stab
