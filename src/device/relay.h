// SPDX-License-Identifier: Apache-2.0
// Where the caller of a command and the thread that owns its descriptors meet: bounded queues of
// bytes and the ending. Callbacks of a command may so take their time without a lifeline or another
// command falling silent.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "stab/device/transport.h"

namespace stab {

class Relay {
 public:
  using Clock = std::chrono::steady_clock;
  enum Stream { output = 0, error = 1 };

  /// How it ended: with an exit, or because the connection broke (`lost` says why).
  struct Ending {
    std::optional<Exit> exit;
    std::string lost;
    bool input_cut = false;  ///< the command ended before all its input was sent
  };

  /// `wake` is called, from the caller's side, whenever the other side has something to look at.
  explicit Relay(std::function<void()> wake) : wake_(std::move(wake)) {}

  // The caller's side.
  bool has_room() const;        ///< whether put() makes sense now
  void put(std::string bytes);  ///< more standard input
  void end_input();             ///< end-of-file after what was put
  /// Asks for the end of the command in the way of its supervision. `group` is its process where
  /// known, else 0.
  void terminate(int group);
  void abandon(int group);  ///< the end, now; `group` as above
  /// Exchanges `buffer` for what arrived since the last call.
  void take(Stream stream, std::string& buffer);
  /// Returns once there is news (bytes, room, the ending), at `until` at the latest.
  void wait_until(Clock::time_point until);
  std::optional<Ending> ending() const;
  Clock::time_point last_activity() const;  ///< when bytes last moved
  std::uint64_t bytes_sent() const;

  // The side of the descriptors.
  std::string_view next_input() const;  ///< to be sent next; stays valid until consume()
  void consume(std::size_t count);      ///< so much of it was sent
  bool input_over() const;  ///< end_input() or terminate() was called and nothing is left to send
  bool terminating() const;
  bool abandoned() const;
  int group() const;                      ///< of terminate() and abandon()
  std::size_t room(Stream stream) const;  ///< how much deliver() may bring
  void deliver(Stream stream, std::string_view bytes);
  void finish(Ending ending);  ///< the first one counts

 private:
  void tell_caller();

  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool news_ = false;
  std::deque<std::string> input_;
  std::size_t input_bytes_ = 0;  // in input_, the part already sent included
  std::size_t front_sent_ = 0;   // of input_.front()
  std::uint64_t sent_ = 0;
  bool input_ended_ = false;
  bool terminating_ = false;
  bool abandoned_ = false;
  int group_ = 0;
  std::array<std::string, 2> arrived_;
  std::optional<Ending> ending_;
  Clock::time_point activity_ = Clock::now();
};

}  // namespace stab
