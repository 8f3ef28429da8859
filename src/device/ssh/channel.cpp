// SPDX-License-Identifier: Apache-2.0
#include "ssh/channel.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>
#include <utility>

namespace stab {
namespace {

constexpr std::chrono::seconds k_leftover_limit{5};  // for the output of a command that has ended
constexpr std::size_t k_read_bytes = 64 * 1024;

/// RFC 4254 6.10 names signals; 0 for one that we do not know.
int signal_number(std::string_view name) {
  constexpr std::pair<std::string_view, int> k_signals[] = {
      {"ABRT", SIGABRT}, {"ALRM", SIGALRM}, {"FPE", SIGFPE},   {"HUP", SIGHUP},   {"ILL", SIGILL},
      {"INT", SIGINT},   {"KILL", SIGKILL}, {"PIPE", SIGPIPE}, {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV},
      {"TERM", SIGTERM}, {"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"BUS", SIGBUS}};
  for (const auto& [known, number] : k_signals) {
    if (name == known) return number;
  }
  return 0;
}

}  // namespace

SshChannel::SshChannel(SshSession& session, const SshLimits& limits)
    : session_(session), limits_(limits) {
  callbacks_.userdata = this;
  callbacks_.channel_exit_status_function = [](ssh_session, ssh_channel, int status, void* self) {
    auto& channel = *static_cast<SshChannel*>(self);
    channel.exit_ = Exit{Exit::How::exited, status, 0};
    channel.exited_ = Clock::now();
  };
  callbacks_.channel_exit_signal_function = [](ssh_session, ssh_channel, const char* name, int,
                                               const char*, const char*, void* self) {
    auto& channel = *static_cast<SshChannel*>(self);
    channel.exit_ = Exit{Exit::How::signalled, 0, signal_number(name == nullptr ? "" : name)};
    channel.exited_ = Clock::now();
  };
  callbacks_.channel_eof_function = [](ssh_session, ssh_channel, void* self) {
    static_cast<SshChannel*>(self)->eof_received_ = true;
  };
  callbacks_.channel_close_function = [](ssh_session, ssh_channel, void* self) {
    static_cast<SshChannel*>(self)->closed_ = true;
  };
  ssh_callbacks_init(&callbacks_);
  ask();
}

SshChannel::~SshChannel() {
  drop();
}

void SshChannel::ask() {
  channel_ = ssh_channel_new(session_.get());
  if (channel_ != nullptr) ssh_set_channel_callbacks(channel_, &callbacks_);
  closed_ = eof_received_ = false;
  asked_ = Clock::now();
  start_by_ = asked_ + limits_.channel;
}

void SshChannel::drop() {
  if (channel_ == nullptr) return;
  // Before the server has named its end, libssh would close another channel of that name.
  if (session_.alive() && state_ != State::opening) ssh_channel_close(channel_);
  ssh_remove_channel_callbacks(channel_, &callbacks_);
  ssh_channel_free(std::exchange(channel_, nullptr));
}

void SshChannel::take(Job job) {
  job_ = std::move(job);
  start_by_ = Clock::now() + limits_.channel;
  next_beat_ = Clock::now() + limits_.heartbeat;
  if (!job_.with_input) due_ = next_beat_;
}

SshChannel::Step SshChannel::step() {
  if (channel_ == nullptr) return fail("libssh has no memory for a channel");
  if (job_.relay && job_.relay->abandoned()) {
    if (job_.relay->group() > 1) kill_ = Kill{"KILL", job_.relay->group()};
    return fail("the command does not end");
  }
  if (state_ == State::opening) {
    const Step opened = open();
    if (state_ == State::opening) return opened;
  }
  if (!job_.relay) return closed_ ? Step::over : Step::idle;
  if (state_ == State::starting) {
    const Step started = start();
    if (started == Step::over) return started;
  }
  // Input follows the request to start without waiting for the answer: that saves a round trip.
  bool moved = send();
  moved = receive(Relay::output) || moved;
  moved = receive(Relay::error) || moved;
  if (over()) return Step::over;
  return moved ? Step::moved : Step::idle;
}

SshChannel::Step SshChannel::open() {
  const int result = ssh_channel_open_session(channel_);
  if (result == SSH_OK) {
    answer_time_ = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - asked_);
    state_ = State::starting;
    return Step::moved;
  }
  if (result != SSH_AGAIN && job_.relay && !refused_) {
    refused_ = true;
    drop();
    ask();
    return Step::moved;
  }
  if (result != SSH_AGAIN) {
    return fail("the server refuses to open a channel (" + session_.reason() + ")");
  }
  if (!job_.relay || Clock::now() < start_by_) return Step::idle;
  return fail("the server does not open a channel within " + duration_text(limits_.channel));
}

SshChannel::Step SshChannel::start() {
  const int result = ssh_channel_request_exec(channel_, job_.command_line.c_str());
  if (result == SSH_OK) {
    state_ = State::running;
    return Step::moved;
  }
  if (result != SSH_AGAIN) {
    return fail("the server refuses to run commands (" + session_.reason() + ")");
  }
  if (Clock::now() < start_by_) return Step::idle;
  return fail("the server does not start a command within " + duration_text(limits_.channel));
}

SshChannel::Step SshChannel::fail(const std::string& why) {
  if (job_.relay) job_.relay->finish({{}, why});
  return Step::over;
}

void SshChannel::lose(const std::string& reason) {
  if (job_.relay) job_.relay->finish({{}, "the connection broke (" + reason + ")"});
}

/// Input, heartbeats, end-of-file; whether anything went out.
bool SshChannel::send() {
  bool moved = false;
  if (eof_sent_ || exit_ || closed_) {
    due_ = Clock::time_point::max();
    return false;
  }
  while (!job_.relay->terminating()) {
    const std::string_view bytes = job_.relay->next_input();
    std::size_t sent = 0;
    if (bytes.empty() || !write(bytes, sent)) break;
    job_.relay->consume(sent);
    moved = true;
  }
  if (job_.relay->input_over()) {
    end_input();
  } else if (!job_.with_input && Clock::now() >= next_beat_) {
    std::size_t sent = 0;
    if (job_.relay->next_input().empty()) write("\n", sent);
    next_beat_ = due_ = Clock::now() + limits_.heartbeat;
  }
  return moved;
}

/// As much as may be on its way now; false when nothing could be written.
bool SshChannel::write(std::string_view bytes, std::size_t& sent) {
  // libssh takes up to a whole window into memory at once; what it has is to leave first.
  if ((ssh_get_poll_flags(session_.get()) & SSH_WRITE_PENDING) != 0) return false;
  std::uint32_t window = ssh_channel_window_size(channel_);
  // OpenSSH opens a channel without any room and gives it all with the command.
  widest_window_ = std::max(widest_window_, window);
  if (job_.most_in_flight > 0 && widest_window_ > job_.most_in_flight) {
    window -= std::min(window, widest_window_ - job_.most_in_flight);
  }
  const std::size_t most = std::min<std::size_t>(bytes.size(), window);
  if (most == 0) return false;
  const int written = ssh_channel_write(channel_, bytes.data(), static_cast<std::uint32_t>(most));
  if (written <= 0) return false;
  sent = static_cast<std::size_t>(written);
  return true;
}

void SshChannel::end_input() {
  ssh_channel_send_eof(channel_);
  // With a lifeline that is all it takes. A command with input is not told by a signal on its
  // channel: sshd passes none on for root, nor before OpenSSH 7.9.
  if (job_.relay->terminating() && job_.with_input && job_.relay->group() > 1) {
    kill_ = Kill{"TERM", job_.relay->group()};
  }
  eof_sent_ = true;
  due_ = Clock::time_point::max();
}

bool SshChannel::receive(Relay::Stream stream) {
  std::array<char, k_read_bytes> buffer;
  bool moved = false;
  while (const std::size_t room = std::min(buffer.size(), job_.relay->room(stream))) {
    const int got = ssh_channel_read_nonblocking(
        channel_, buffer.data(), static_cast<std::uint32_t>(room), stream == Relay::error ? 1 : 0);
    if (got <= 0) break;
    job_.relay->deliver(stream, std::string_view(buffer.data(), static_cast<std::size_t>(got)));
    moved = true;
  }
  return moved;
}

bool SshChannel::drained() const {
  return ssh_channel_poll(channel_, 0) <= 0 && ssh_channel_poll(channel_, 1) <= 0;
}

/// The end: the server closed the channel, or told status and end-of-file (dropbear leaves a
/// channel open while input is left); and everything that arrived was read.
bool SshChannel::over() {
  const bool told = exit_ && (eof_received_ || Clock::now() > exited_ + k_leftover_limit);
  if (exit_ && !told) due_ = exited_ + k_leftover_limit;
  if ((!closed_ && !told) || !drained()) return false;
  if (exit_) {
    job_.relay->finish({exit_, {}});
  } else {
    job_.relay->finish({{}, "the server closed the channel without telling how the command ended"});
  }
  return true;
}

}  // namespace stab
