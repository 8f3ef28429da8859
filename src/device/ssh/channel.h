// SPDX-License-Identifier: Apache-2.0
// One command on one channel of a session, as a state machine that never waits; for the thread that
// owns the session only.
#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "relay.h"
#include "ssh/session.h"

namespace stab {

class SshChannel {
 public:
  using Clock = Relay::Clock;

  /// Asks for a channel, which waits for a command.
  SshChannel(SshSession& session, const SshLimits& limits);
  ~SshChannel();
  SshChannel(const SshChannel&) = delete;
  SshChannel& operator=(const SshChannel&) = delete;

  /// What runs on a channel.
  struct Job {
    std::shared_ptr<Relay> relay;
    std::string command_line;
    bool with_input = false;
    /// How many bytes may be on their way to the command at once; 0: as many as the server takes.
    std::uint32_t most_in_flight = 0;
  };
  /// Once.
  void take(Job job);
  /// The server refused it the first time. It is asked twice: sshd still counts a channel whose end
  /// it has just read.
  bool refused() const { return refused_; }

  enum class Step { idle, moved, over };
  /// Does what can be done now. Without a job it is over when the channel is of no use.
  Step step();
  /// The connection broke.
  void lose(const std::string& reason);
  /// When step() has something to do even if nothing happens.
  Clock::time_point due() const {
    if (!job_.relay) return Clock::time_point::max();
    if (state_ == State::opening) return start_by_;
    return state_ == State::starting ? std::min(due_, start_by_) : due_;
  }
  /// The server closed it.
  bool closed() const { return closed_; }
  /// Between asking for the channel and the server's answer.
  std::optional<std::chrono::microseconds> answer_time() const { return answer_time_; }
  /// Once: a signal that has to reach the command's process group in another way, since nothing on
  /// this channel ends it.
  struct Kill {
    const char* signal;
    int group;
  };
  std::optional<Kill> take_kill() { return std::exchange(kill_, std::nullopt); }

 private:
  enum class State { opening, starting, running };

  void ask();
  void drop();
  Step open();
  Step start();
  Step fail(const std::string& why);
  bool send();
  bool write(std::string_view bytes, std::size_t& sent);
  void end_input();
  bool receive(Relay::Stream stream);
  bool drained() const;
  bool over();

  SshSession& session_;
  Job job_;
  const SshLimits limits_;
  ssh_channel channel_ = nullptr;
  ssh_channel_callbacks_struct callbacks_{};
  State state_ = State::opening;
  bool refused_ = false;
  Clock::time_point asked_{};
  Clock::time_point start_by_{};
  Clock::time_point due_ = Clock::time_point::max();
  Clock::time_point next_beat_{};
  std::optional<std::chrono::microseconds> answer_time_;
  std::uint32_t widest_window_ = 0;  // of the server, as far as seen
  bool eof_sent_ = false;
  bool eof_received_ = false;
  bool closed_ = false;
  std::optional<Kill> kill_;
  std::optional<Exit> exit_;
  Clock::time_point exited_{};
};

}  // namespace stab
