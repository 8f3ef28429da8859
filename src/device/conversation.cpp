// SPDX-License-Identifier: Apache-2.0
#include "conversation.h"

#include <algorithm>
#include <charconv>
#include <random>
#include <utility>

#include "stab/core/error.h"

namespace stab {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds k_tick{100};    // how often the wish to stop is looked at
constexpr seconds k_start_limit{60};   // for a login shell to get to our program
constexpr seconds k_end_limit{8};      // for the far side to end a command (it allows itself 3)
constexpr seconds k_abandon_limit{2};  // for our own side to give up
constexpr std::size_t k_kept_before_mark = 2048;
constexpr std::size_t k_longest_mark = 128;
constexpr std::size_t k_longest_line = 64 * 1024;
constexpr std::size_t k_feed_bytes = 64 * 1024;

/// The last line with something on it, printable and short.
std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const std::size_t start = text.find_last_of('\n');
  std::string line(start == std::string_view::npos ? text : text.substr(start + 1));
  std::erase_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return line.substr(0, 200);
}

}  // namespace

std::string random_token() {
  std::random_device source;
  std::string token = "stab";
  for (int i = 0; i < 4; ++i) {
    constexpr std::string_view k_digits = "0123456789abcdef";
    unsigned bits = source();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4) token += k_digits[bits & 15U];
  }
  return token;
}

std::string_view MarkFilter::pass(std::string_view bytes) {
  if (found_) return bytes;
  before_.append(bytes);
  const std::size_t start = before_.find(token_);
  std::size_t end = start == std::string::npos ? start : before_.find('\n', start);
  // A device that does not end the line is not waited for.
  if (start != std::string::npos && before_.size() - start > k_longest_mark) {
    end = std::min(end, start + k_longest_mark);
  }
  if (end != std::string::npos) {
    found_ = true;
    const std::size_t mark = start + token_.size();
    mark_ = before_.substr(mark, end - mark);
    after_ = before_.substr(end + 1);
    before_.resize(start);
    return after_;
  }
  if (start == std::string::npos && before_.size() > k_kept_before_mark) {
    before_.erase(0, before_.size() - k_kept_before_mark);
  }
  return {};
}

Conversation::Conversation(std::shared_ptr<Relay> relay, Command command, const std::string& token,
                           std::string address, StopRequested stop)
    : relay_(std::move(relay)),
      command_(std::move(command)),
      address_(std::move(address)),
      stop_(std::move(stop)),
      filters_{MarkFilter(token), MarkFilter(token)} {}

Conversation::~Conversation() {
  finish_quietly();
}

Exit Conversation::run() {
  while (!step(Clock::now() + k_tick)) {
  }
  return verdict();
}

void Conversation::await_ready() {
  waiting_for_ready_ = true;
  while (!ready_ && !step(Clock::now() + k_tick)) {
  }
  if (over_) verdict();
  command_.timeout = command_.idle = milliseconds(0);
}

bool Conversation::running() {
  return !over_ && !step(Clock::now());
}

Exit Conversation::stop() {
  if (!over_) end_it(Cause::dismissed);
  return run();
}

/// One round; true when the command is over and everything was handed out.
bool Conversation::step(Clock::time_point until) {
  if (over_) return true;
  feed();
  relay_->wait_until(until);
  const bool ended = relay_->ending().has_value();
  hand_out();
  if (ended) {
    hand_out_lines({});
    over_ = true;
  } else {
    look_at_clocks();
  }
  return over_;
}

void Conversation::feed() {
  if (!command_.input || input_done_ || cause_ != Cause::none) return;
  while (!input_done_ && relay_->has_room()) {
    std::string chunk(k_feed_bytes, '\0');
    chunk.resize(command_.input(std::span<char>(chunk.data(), chunk.size())));
    if (chunk.empty()) {
      input_done_ = true;
      relay_->end_input();
    } else {
      relay_->put(std::move(chunk));
    }
  }
}

void Conversation::hand_out() {
  relay_->take(Relay::output, buffer_);
  const std::string_view output = filters_[Relay::output].pass(buffer_);
  if (waiting_for_ready_ && !ready_) {
    hand_out_lines(output);
  } else if (!output.empty() && command_.output) {
    command_.output(output);
  }
  relay_->take(Relay::error, buffer_);
  const std::string_view error = filters_[Relay::error].pass(buffer_);
  if (!error.empty() && command_.error) command_.error(error);
}

/// Output up to and including the line "ready"; no bytes: what is held back.
void Conversation::hand_out_lines(std::string_view bytes) {
  const bool last = bytes.empty() && relay_->ending();
  line_.append(bytes);
  while (!ready_ && !line_.empty()) {
    const std::size_t end = line_.find('\n');
    if (end == std::string::npos && !last && line_.size() < k_longest_line) return;
    const std::string line = line_.substr(0, end == std::string::npos ? end : end + 1);
    line_.erase(0, line.size());
    ready_ = line == "ready\n";
    if (!ready_ && command_.output) command_.output(line);
  }
  if (!line_.empty() && command_.output) command_.output(std::exchange(line_, {}));
}

void Conversation::look_at_clocks() {
  const Clock::time_point now = Clock::now();
  if (now >= abandon_at_) {
    relay_->abandon(group());
    if (now >= abandon_at_ + k_abandon_limit) {
      relay_->finish({{}, "it cannot be ended"});
    }
  }
  if (cause_ != Cause::none) return;
  if (!command_.cleanup && stop_ && stop_()) {
    end_it(Cause::interrupted);
  } else if (!filters_[Relay::output].found() && now - started_ > k_start_limit) {
    end_it(Cause::not_started);
  } else if ((command_.timeout.count() > 0 && now - started_ > command_.timeout) ||
             (command_.idle.count() > 0 && now - relay_->last_activity() > command_.idle)) {
    end_it(Cause::timed_out);
  }
}

/// The process that the mark tells; 0 before.
int Conversation::group() const {
  int group = 0;
  const std::string_view mark = filters_[Relay::output].mark();
  if (!mark.empty()) std::from_chars(mark.data() + 1, mark.data() + mark.size(), group);
  return group;
}

void Conversation::end_it(Cause cause) {
  cause_ = cause;
  abandon_at_ = Clock::now() + k_end_limit;
  relay_->terminate(group());
}

void Conversation::finish_quietly() noexcept {
  try {
    command_.output = command_.error = nullptr;
    if (!over_) end_it(Cause::dismissed);
    while (!step(Clock::now() + k_tick)) {
    }
  } catch (...) {
    relay_->abandon(0);
  }
}

Exit Conversation::verdict() const {
  const Relay::Ending ending = *relay_->ending();
  if (cause_ == Cause::interrupted) {
    throw Error(ErrorKind::interrupted, "stopped while running a command on", address_,
                "you asked for it");
  }
  if (!ending.lost.empty() && cause_ != Cause::dismissed) {
    const std::uint64_t sent = relay_->bytes_sent();
    throw Error(ErrorKind::device, "cannot finish a command on", address_,
                ending.lost +
                    (command_.input ? ", after " + std::to_string(sent) + " bytes were sent" : ""));
  }
  if (cause_ == Cause::timed_out) return {Exit::How::timed_out, 0, 0};
  const MarkFilter& output = filters_[Relay::output];
  if (!output.found() && cause_ != Cause::dismissed) {
    const std::string said = last_line(filters_[Relay::error].before());
    const std::string why = said.empty() ? last_line(output.before()) : said;
    throw Error(ErrorKind::device, "cannot run a command on", address_,
                cause_ == Cause::not_started ? "its login shell does not get to it"
                : why.empty()                ? "its login shell ended without a word"
                                             : "its login shell says: " + why);
  }
  const Exit exit = ending.exit.value_or(Exit{Exit::How::signalled, 0, 0});
  if (command_.input && exit.ok() && ending.input_cut) {
    throw Error(ErrorKind::device, "cannot send everything to", address_,
                "the command there ended before it had read all of its input");
  }
  return exit;
}

}  // namespace stab
