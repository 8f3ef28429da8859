// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "child_process.h"
#include "conversation.h"
#include "descriptor.h"
#include "relay.h"
#include "remote_script.h"
#include "stab/device/transport.h"

namespace stab {
namespace {

using Clock = Relay::Clock;
constexpr std::chrono::seconds k_heartbeat{5};
constexpr std::chrono::seconds k_leftover_limit{2};  // for the output of a command that has ended

/// A /bin/sh on this machine that carries one exchange, with a thread for its pipes.
class LocalShell {
 public:
  explicit LocalShell(bool with_input);
  ~LocalShell();
  LocalShell(const LocalShell&) = delete;
  LocalShell& operator=(const LocalShell&) = delete;

  const std::shared_ptr<Relay>& relay() const { return relay_; }

 private:
  void loop();
  bool over();
  void wait();
  void send();
  void send_heartbeat();
  void receive(Descriptor& from, Relay::Stream stream);

  const bool with_input_;
  Descriptor wake_ = make_event();
  Descriptor input_;
  std::array<Descriptor, 2> outputs_;
  std::unique_ptr<ChildProcess> child_;
  std::shared_ptr<Relay> relay_;
  Clock::time_point next_beat_ = Clock::now() + k_heartbeat;
  Clock::time_point exited_ = Clock::time_point::max();
  bool signalled_ = false;
  std::thread thread_;
};

LocalShell::LocalShell(bool with_input) : with_input_(with_input) {
  auto [far_input, near_input] = make_pipe();
  auto [near_output, far_output] = make_pipe();
  auto [near_error, far_error] = make_pipe();
  const std::string words = std::string(remote_command_line());
  child_ = std::make_unique<ChildProcess>(std::vector<std::string>{"/bin/sh", "-c", words},
                                          far_input, far_output, far_error);
  input_ = std::move(near_input);
  outputs_ = {std::move(near_output), std::move(near_error)};
  set_non_blocking(input_);
  set_non_blocking(outputs_[0]);
  set_non_blocking(outputs_[1]);
  relay_ = std::make_shared<Relay>([this] { raise_event(wake_); });
  thread_ = std::thread([this] { loop(); });
}

LocalShell::~LocalShell() {
  relay_->abandon(0);
  thread_.join();
}

void LocalShell::loop() {
  // A write to a command that has gone is an error, not a signal.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  while (!over()) {
    wait();
    clear_event(wake_);
    send();
    receive(outputs_[0], Relay::output);
    receive(outputs_[1], Relay::error);
  }
}

/// Whether the shell is gone, or must go now.
bool LocalShell::over() {
  if (relay_->abandoned()) {
    if (relay_->group() > 1) kill(-relay_->group(), SIGKILL);
    child_.reset();
    relay_->finish({Exit{Exit::How::signalled, 0, SIGKILL}, {}});
    return true;
  }
  const std::optional<Exit> exit = child_->poll_exit();
  if (!exit) return false;
  if (exited_ == Clock::time_point::max()) exited_ = Clock::now();
  const bool read_all = !outputs_[0].open() && !outputs_[1].open();
  if (!read_all && Clock::now() < exited_ + k_leftover_limit) return false;
  relay_->finish({exit, {}});
  return true;
}

void LocalShell::wait() {
  std::array<pollfd, 4> waits{pollfd{wake_.get(), POLLIN, 0}, pollfd{input_.get(), 0, 0},
                              pollfd{outputs_[0].get(), 0, 0}, pollfd{outputs_[1].get(), 0, 0}};
  if (!relay_->next_input().empty()) waits[1].events = POLLOUT;
  if (relay_->room(Relay::output) > 0) waits[2].events = POLLIN;
  if (relay_->room(Relay::error) > 0) waits[3].events = POLLIN;
  for (pollfd& entry : waits) {
    if (entry.events == 0) entry.fd = -1;
  }
  // Nobody tells when a child ends; but at its end it closes its output first.
  const bool ending = !outputs_[0].open() && !outputs_[1].open();
  poll(waits.data(), waits.size(), ending ? 1 : 200);
}

void LocalShell::send() {
  if (!input_.open()) return;
  while (!relay_->terminating()) {
    const std::string_view bytes = relay_->next_input();
    if (bytes.empty()) break;
    const ssize_t sent = write(input_.get(), bytes.data(), bytes.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) input_.close();
    if (sent < 0) return;
    relay_->consume(static_cast<std::size_t>(sent));
  }
  if (relay_->input_over()) {
    input_.close();
  } else if (!with_input_ && Clock::now() >= next_beat_) {
    send_heartbeat();
  }
  if (relay_->terminating() && with_input_ && !signalled_) {
    child_->signal(SIGTERM);
    signalled_ = true;
  }
}

void LocalShell::send_heartbeat() {
  [[maybe_unused]] const ssize_t sent = write(input_.get(), "\n", 1);
  next_beat_ = Clock::now() + k_heartbeat;
}

void LocalShell::receive(Descriptor& from, Relay::Stream stream) {
  if (!from.open()) return;
  std::array<char, 65536> buffer;
  const std::size_t room = std::min(buffer.size(), relay_->room(stream));
  if (room == 0) return;
  const ssize_t got = read(from.get(), buffer.data(), room);
  if (got > 0) {
    relay_->deliver(stream, std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    from.close();
  }
}

class LocalTransport : public Transport {
 public:
  explicit LocalTransport(StopRequested stop) : stop_(std::move(stop)) {}
  Exit run(const Command& command) override;
  std::unique_ptr<Process> start(const Command& command) override;
  LinkInfo link() const override {
    return {.local = true, .round_trip = {}, .server = {}, .address = "local"};
  }
  void prefer_aes() override {}

 private:
  struct Started {
    std::shared_ptr<LocalShell> shell;
    std::unique_ptr<Conversation> conversation;
  };
  Started begin(const Command& command) const;

  StopRequested stop_;
};

LocalTransport::Started LocalTransport::begin(const Command& command) const {
  const std::string token = random_token();
  const bool with_input = static_cast<bool>(command.input);
  auto shell = std::make_shared<LocalShell>(with_input);
  shell->relay()->put(remote_program(command.script, token, {.input = with_input}));
  auto conversation =
      std::make_unique<Conversation>(shell->relay(), command, token, "local", stop_);
  return {std::move(shell), std::move(conversation)};
}

Exit LocalTransport::run(const Command& command) {
  return begin(command).conversation->run();
}

std::unique_ptr<Process> LocalTransport::start(const Command& command) {
  Started started = begin(command);
  started.conversation->await_ready();
  return std::make_unique<HeldProcess>(std::move(started.shell), std::move(started.conversation));
}

}  // namespace

std::unique_ptr<Transport> make_local_transport(StopRequested stop) {
  return std::make_unique<LocalTransport>(std::move(stop));
}

}  // namespace stab
