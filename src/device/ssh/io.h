// SPDX-License-Identifier: Apache-2.0
// The thread that owns a logged-in session: it moves the bytes of all channels, sends heartbeats
// and notices silence.
#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "descriptor.h"
#include "relay.h"
#include "ssh/channel.h"
#include "ssh/session.h"

namespace stab {

class SshIo {
 public:
  SshIo(std::unique_ptr<SshSession> session, const SshLimits& limits);
  /// Closes the connection. Channels that are still open end as lost.
  ~SshIo();
  SshIo(const SshIo&) = delete;
  SshIo& operator=(const SshIo&) = delete;

  /// Opens a channel and runs the command line there.
  std::shared_ptr<Relay> open(std::string command_line, bool with_input);
  /// As SshSession's.
  void prefer_aes();
  /// The shortest round trip seen so far.
  std::chrono::microseconds round_trip() const;

 private:
  using Clock = Relay::Clock;

  void loop();
  void adopt();
  void ask_ahead();
  void give(SshChannel::Job job, std::list<SshChannel>& list);
  bool step_all();
  bool step(SshChannel& channel, bool& moved);
  void kill_group(const SshChannel::Kill& kill);
  bool finished();
  void watch_silence();
  void lose_all(const std::string& reason);
  int poll_ms(bool moved) const;
  std::uint32_t most_in_flight() const;
  void note_answer(std::chrono::microseconds time);

  const SshLimits limits_;
  const std::shared_ptr<Descriptor> wake_;
  std::unique_ptr<SshSession> session_;
  std::list<SshChannel> channels_;
  std::list<SshChannel> kills_;  // channels of our own that send a signal
  std::list<SshChannel> ahead_;  // the next channel, asked for before it is needed
  bool may_ask_ahead_ = true;
  std::string lost_;
  Clock::time_point quit_at_ = Clock::time_point::max();
  std::uint64_t received_ = 0;
  Clock::time_point heard_ = Clock::now();
  Clock::time_point next_keepalive_{};
  const std::chrono::microseconds connect_time_;

  mutable std::mutex mutex_;
  std::vector<SshChannel::Job> requests_;                 // guarded
  bool quit_ = false;                                     // guarded
  bool prefer_aes_ = false;                               // guarded
  std::optional<std::chrono::microseconds> answer_time_;  // guarded
  std::thread thread_;
};

}  // namespace stab
