// SPDX-License-Identifier: Apache-2.0
#include "stab/device/lock.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "lock_script.h"
#include "stab/core/error.h"
#include "stab/device/exchange.h"

namespace stab {
namespace {

constexpr std::chrono::seconds k_patience{
    60};  // with the device itself, beside all waiting for a holder

std::string_view next_word(std::string_view& text) {
  const auto blank = text.find(' ');
  const std::string_view word = text.substr(0, blank);
  text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  return word;
}

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::string plain_who(std::string_view who) {
  std::string plain;
  for (const char c : who.substr(0, 100)) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '@' || c == ':' || c == '.' || c == '_' || c == '-';
    plain += kept ? c : '_';
  }
  return plain.empty() ? "unknown" : plain;
}

[[noreturn]] void throw_odd(const Transport& transport, const std::string& path) {
  throw Error(ErrorKind::device, "cannot lock the device " + transport.link().address, path,
              "something that is no lock stands there", "removing it on the device");
}

// Cuts what the holding process says into lines.
class Lines {
 public:
  void add(std::string_view bytes, const std::function<void(std::string_view)>& take) {
    held_ += bytes;
    std::size_t start = 0;
    for (auto end = held_.find('\n'); end != std::string::npos; end = held_.find('\n', start)) {
      take(std::string_view(held_).substr(start, end - start));
      start = end + 1;
    }
    held_.erase(0, start);
    if (held_.size() > 4096) held_.clear();
  }

 private:
  std::string held_;
};

}  // namespace

std::optional<LockState> parse_lock_line(std::string_view line) {
  const std::string_view kind = next_word(line);
  LockState state;
  if (kind == "free") return state;
  if (kind == "odd" || kind == "nowhere") {
    state.kind = kind == "odd" ? LockState::Kind::odd : LockState::Kind::nowhere;
    return state;
  }
  if (kind != "held" && kind != "stale") return std::nullopt;
  state.kind = kind == "held" ? LockState::Kind::held : LockState::Kind::stale;
  state.holder.stale = kind == "stale";
  state.holder.pid = parse_number<int>(next_word(line)).value_or(0);
  if (const auto age = parse_number<long>(next_word(line)))
    state.holder.age = std::chrono::seconds(*age);
  state.holder.user = printable(next_word(line), 40);
  state.holder.who = printable(line, 100);
  return state;
}

LockState parse_lock_state(const Answer& answer) {
  LockState odd;
  odd.kind = LockState::Kind::odd;
  return parse_lock_line(answer.find("lock").value_or("")).value_or(odd);
}

std::string describe(const LockHolder& holder) {
  std::string text = holder.who + " (user " + holder.user + ", process " +
                     std::to_string(holder.pid) + " on the device";
  if (holder.age) text += ", for " + std::to_string(holder.age->count()) + " s";
  return text + ")";
}

struct DeviceLock::State {
  Lines lines;
  Tail errors{4096};
  std::optional<LockState> last;
  std::unique_ptr<Process> process;
};

DeviceLock::DeviceLock(Transport& transport, const LockOptions& options)
    : state_(std::make_unique<State>()) {
  const std::string word = random_word();
  Command command;
  command.script = "N=" + word + "\nsay() { printf '@%s %s\\n' \"$N\" \"$*\"; }\numask 077\n" +
                   lock_functions_script(options.path) +
                   hold_lock_script(plain_who(options.who), options.wait.count());
  command.timeout = options.wait + k_patience;
  const std::string mark = "@" + word + " lock ";
  State* state = state_.get();
  command.output = [state, mark, on_wait = options.wait.count() > 0 ? options.on_wait : nullptr](
                       std::string_view bytes) {
    state->lines.add(bytes, [&](std::string_view line) {
      if (!line.starts_with(mark)) return;
      state->last = parse_lock_line(line.substr(mark.size()));
      if (state->last && state->last->kind == LockState::Kind::held && on_wait)
        on_wait(state->last->holder);
    });
  };
  command.error = [state](std::string_view bytes) { state->errors.add(bytes); };
  state_->process = transport.start(command);
  if (state_->process->running()) return;

  const Exit exit = state_->process->stop();
  const std::string what = "cannot lock the device";
  if (exit.how == Exit::How::timed_out)
    throw_device_error(transport, what, "it did not answer in time");
  if (!state_->last)
    throw_device_error(transport, what, "no answer (" + last_words(state_->errors.text()) + ")");
  switch (state_->last->kind) {
    case LockState::Kind::held:
      throw_device_error(transport, what, "it is busy: " + describe(state_->last->holder),
                         "--lock-wait 10m, or later");
    case LockState::Kind::stale:
      throw_device_error(transport, what,
                         "the lock of " + describe(state_->last->holder) +
                             " is stale, but belongs to another user",
                         "removing " + options.path + " on the device as that user or as root");
    case LockState::Kind::nowhere:
      throw_device_error(transport, what, options.path + " cannot be made there");
    case LockState::Kind::odd:
    case LockState::Kind::free:
      throw_odd(transport, options.path);
  }
}

DeviceLock::~DeviceLock() {
  try {
    release();
  } catch (...) {
    // The device drops the lock by itself once this connection is gone.
  }
}

bool DeviceLock::held() {
  return state_->process && state_->process->running();
}

void DeviceLock::release() {
  if (!state_->process) return;
  const std::unique_ptr<Process> process = std::move(state_->process);
  process->stop();
}

std::optional<LockHolder> look_at_lock(Transport& transport, const std::string& path) {
  const Answer answer = exchange(transport, "cannot look at the device's lock",
                                 lock_functions_script(path) + "lock_state\n");
  const LockState state = parse_lock_state(answer);
  if (state.kind == LockState::Kind::odd) throw_odd(transport, path);
  if (state.kind == LockState::Kind::free) return std::nullopt;
  return state.holder;
}

std::optional<LockHolder> unlock(Transport& transport, bool force, const std::string& path) {
  const Answer answer =
      exchange(transport, "cannot unlock the device",
               lock_functions_script(path) + remove_lock_script(force), {.cleanup = true});
  const LockState state = parse_lock_state(answer);
  if (state.kind == LockState::Kind::odd) throw_odd(transport, path);
  if (state.kind == LockState::Kind::free) return std::nullopt;
  if (answer.find("kept")) {
    throw_device_error(transport, "cannot unlock the device",
                       (state.holder.stale ? "the stale lock is not ours: " : "it is in use: ") +
                           describe(state.holder),
                       state.holder.stale ? "removing " + path + " there as that user or as root"
                                          : "waiting, or --force");
  }
  return state.holder;
}

}  // namespace stab
