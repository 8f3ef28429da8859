// SPDX-License-Identifier: Apache-2.0
// One command as its caller lives it, whatever carries it: feeds the input, hands out the output
// behind the mark, watches the clocks and the wish to stop, and says how it ended.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "relay.h"
#include "stab/device/transport.h"

namespace stab {

/// A word that nothing else prints.
std::string random_token();

/// Drops what precedes the line that starts with a token: what login shells print.
class MarkFilter {
 public:
  explicit MarkFilter(std::string token) : token_(std::move(token)) {}
  /// Takes the next bytes and returns those behind the mark.
  std::string_view pass(std::string_view bytes);
  bool found() const { return found_; }
  std::string_view mark() const { return mark_; }      ///< what follows the token on its line
  std::string_view before() const { return before_; }  ///< the last bytes before the mark

 private:
  std::string token_;
  bool found_ = false;
  std::string before_;
  std::string mark_;
  std::string after_;
};

class Conversation {
 public:
  /// `address` is for messages; `token` is the one in the program that goes over first.
  /// `command.script` is not used.
  Conversation(std::shared_ptr<Relay> relay, Command command, const std::string& token,
               std::string address, StopRequested stop);
  /// Ends the command when it still runs.
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  /// To the end of the command.
  Exit run();
  /// To the line "ready", which is dropped, or to the end of the command; from then on without a
  /// timeout.
  void await_ready();
  /// Hands out what arrived; false once it ended.
  bool running();
  /// Asks it to end, and waits.
  Exit stop();

 private:
  using Clock = Relay::Clock;
  enum class Cause { none, timed_out, not_started, interrupted, dismissed };

  bool step(Clock::time_point until);
  void feed();
  void hand_out();
  void hand_out_lines(std::string_view bytes);
  void look_at_clocks();
  int group() const;
  void end_it(Cause cause);
  void finish_quietly() noexcept;
  Exit verdict() const;

  std::shared_ptr<Relay> relay_;
  Command command_;
  std::string address_;
  StopRequested stop_;
  std::array<MarkFilter, 2> filters_;
  std::string buffer_;
  std::string line_;  // of output, while waiting for "ready"
  bool waiting_for_ready_ = false;
  bool ready_ = false;
  bool input_done_ = false;
  bool over_ = false;
  Cause cause_ = Cause::none;
  Clock::time_point started_ = Clock::now();
  Clock::time_point abandon_at_ = Clock::time_point::max();
};

/// A started command and what carries it.
class HeldProcess : public Process {
 public:
  /// `carrier` lives as long as the command.
  HeldProcess(std::shared_ptr<void> carrier, std::unique_ptr<Conversation> conversation)
      : carrier_(std::move(carrier)), conversation_(std::move(conversation)) {}
  bool running() override { return conversation_->running(); }
  Exit stop() override { return conversation_->stop(); }

 private:
  std::shared_ptr<void> carrier_;
  std::unique_ptr<Conversation> conversation_;
};

}  // namespace stab
