// SPDX-License-Identifier: Apache-2.0
#include "stab/device/exchange.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

#include "stab/core/error.h"

namespace stab {
namespace {

constexpr std::size_t k_longest_line = 64U << 10;
constexpr std::size_t k_most_errors = 16U << 10;

[[noreturn]] void throw_garbled(std::string why) {
  throw Error(ErrorKind::device, "cannot read the device's answer", {}, std::move(why));
}

// The longest end of `text` that is the begin of `mark`, but not all of it.
std::size_t begun_mark(std::string_view text, std::string_view mark) {
  for (std::size_t n = std::min(text.size(), mark.size() - 1); n > 0; --n) {
    if (text.ends_with(mark.substr(0, n))) return n;
  }
  return 0;
}

bool names_an_error(std::string_view line) {
  for (const std::string_view word : {"rror", "ERROR", "ail", "nsupported", "not found", "xception",
                                      "cannot", "Cannot", "terminate", "denied", "nvalid", "NYI"}) {
    if (line.find(word) != std::string_view::npos) return true;
  }
  return false;
}

// stab-runner's line about a call that failed: only its status, after the runtime's own words.
bool repeats_a_status(std::string_view line) {
  return line.starts_with("stab-runner: nnfw_");
}

bool says_something(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80;
  });
}

}  // namespace

std::string random_word() {
  std::random_device device;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string word;
  for (int i = 0; i < 16; ++i) word += digits[device() & 0xf];
  return word;
}

AnswerReader::AnswerReader(std::string word, AnswerSinks sinks)
    : mark_("@" + std::move(word) + " "), sinks_(std::move(sinks)) {}

void AnswerReader::feed(std::string_view bytes) {
  buffer_ += bytes;
  while (step()) {
  }
}

bool AnswerReader::step() {
  switch (state_) {
    case State::before:
      return step_before();
    case State::lines:
      return step_lines();
    case State::raw:
      return step_raw();
    case State::blob:
      return step_blob();
    case State::blob_line_end:
      return step_blob_line_end();
    case State::ended:
      buffer_.clear();
      return false;
  }
  return false;
}

bool AnswerReader::step_before() {
  const std::string begin = "\n" + mark_ + "begin\n";
  const auto at = buffer_.find(begin);
  if (at == std::string::npos) {
    buffer_.erase(0, buffer_.size() - begun_mark(buffer_, begin));
    return false;
  }
  buffer_.erase(0, at + begin.size());
  state_ = State::lines;
  return true;
}

bool AnswerReader::step_lines() {
  std::size_t start = 0;
  while (state_ == State::lines) {
    const auto end = buffer_.find('\n', start);
    if (end == std::string::npos) break;
    const std::string line = buffer_.substr(start, end - start);
    start = end + 1;
    if (line.starts_with(mark_)) {
      take_mark(std::string_view(line).substr(mark_.size()));
    } else if (sinks_.line) {
      sinks_.line(line);
    }
  }
  buffer_.erase(0, start);
  if (state_ == State::lines && buffer_.size() > k_longest_line)
    throw_garbled("a line is too long");
  return state_ != State::lines;
}

bool AnswerReader::step_raw() {
  const std::string end_mark = "\n" + mark_ + "endraw\n";
  const auto at = buffer_.find(end_mark);
  const std::size_t ready =
      at != std::string::npos ? at : buffer_.size() - begun_mark(buffer_, end_mark);
  if (ready > 0 && sinks_.raw) sinks_.raw(std::string_view(buffer_).substr(0, ready));
  if (at == std::string::npos) {
    buffer_.erase(0, ready);
    return false;
  }
  buffer_.erase(0, at + end_mark.size());
  state_ = State::lines;
  return true;
}

bool AnswerReader::step_blob() {
  const std::size_t ready =
      static_cast<std::size_t>(std::min<std::uint64_t>(blob_left_, buffer_.size()));
  if (ready > 0 && sinks_.blob_data) sinks_.blob_data(std::string_view(buffer_).substr(0, ready));
  buffer_.erase(0, ready);
  blob_left_ -= ready;
  if (blob_left_ > 0) return false;
  state_ = State::blob_line_end;
  return true;
}

bool AnswerReader::step_blob_line_end() {
  if (buffer_.empty()) return false;
  if (buffer_.front() != '\n') throw_garbled("a file is not as long as announced");
  buffer_.erase(0, 1);
  if (sinks_.blob_end) sinks_.blob_end();
  state_ = State::lines;
  return true;
}

void AnswerReader::take_mark(std::string_view mark) {
  if (mark == "end") {
    state_ = State::ended;
  } else if (mark == "raw") {
    state_ = State::raw;
  } else if (mark.starts_with("blob ")) {
    take_blob(mark.substr(5));
  } else {
    throw_garbled("an unknown mark");
  }
}

void AnswerReader::take_blob(std::string_view words) {
  BlobHeader header;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), header.size);
  if (error != std::errc() || end == words.data() + words.size() || *end != ' ')
    throw_garbled("a file without a size");
  words.remove_prefix(static_cast<std::size_t>(end - words.data()) + 1);
  const auto name = words.rfind(' ');
  header.name = std::string(name == std::string_view::npos ? words : words.substr(name + 1));
  header.attributes =
      std::string(name == std::string_view::npos ? std::string_view() : words.substr(0, name));
  blob_left_ = header.size;
  state_ = State::blob;
  if (sinks_.blob_begin) sinks_.blob_begin(header);
}

void Tail::add(std::string_view bytes) {
  total_ += bytes.size();
  if (bytes.size() >= most_) {
    kept_ = bytes.substr(bytes.size() - most_);
    return;
  }
  kept_ += bytes;
  if (kept_.size() > 2 * most_) kept_.erase(0, kept_.size() - most_);
}

std::string Tail::text() const {
  if (total_ <= most_) return kept_;
  std::string text = kept_.size() > most_ ? kept_.substr(kept_.size() - most_) : kept_;
  const auto line = text.find('\n');
  if (line != std::string::npos && line + 1 < text.size()) text.erase(0, line + 1);
  return text;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string result;
  for (const char c : text) {
    if (result.size() >= most) break;
    const auto code = static_cast<unsigned char>(c);
    if (code == '\t') {
      result += ' ';
    } else {
      result += code < 0x20 || code == 0x7f ? '?' : c;
    }
  }
  return result;
}

std::string last_words(std::string_view text) {
  std::string_view last;
  int seen = 0;
  while (!text.empty() && seen < 10) {
    const auto end = text.rfind('\n');
    std::string_view line = end == std::string_view::npos ? text : text.substr(end + 1);
    text = end == std::string_view::npos ? std::string_view() : text.substr(0, end);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (!says_something(line)) continue;
    ++seen;
    if (names_an_error(line) && !repeats_a_status(line)) return printable(line, 300);
    if (last.empty()) last = line;
  }
  return printable(last, 300);
}

std::optional<std::string> Answer::find(std::string_view key) const {
  for (const auto& [word, rest] : lines) {
    if (word == key) return rest;
  }
  return std::nullopt;
}

std::vector<std::string> Answer::all(std::string_view key) const {
  std::vector<std::string> found;
  for (const auto& [word, rest] : lines) {
    if (word == key) found.push_back(rest);
  }
  return found;
}

std::string script_prologue(std::string_view word) {
  std::string text = "N=" + std::string(word) + "\n";
  text += R"SH(umask 077
say() { printf '%s\n' "$*"; }
die() { d_=$1; shift; printf 'fail %s %s\n@%s end\n' "$d_" "$*" "$N"; exit 74; }
have() { command -v "$1" >/dev/null 2>&1; }
HASH=
if have sha256sum; then HASH=sha256sum
elif have busybox && busybox sha256sum </dev/null >/dev/null 2>&1; then HASH='busybox sha256sum'; fi
size_of() { set -- $(wc -c <"$1"); printf '%s' "$1"; }
blob() { printf '@%s blob %s %s\n' "$N" "$(size_of "$2")" "$1"; cat "$2"; printf '\n'; }
printf '\n@%s begin\n' "$N" >&2
printf '\n@%s begin\n' "$N"
)SH";
  return text;
}

void throw_device_error(const Transport& transport, std::string_view what, std::string why,
                        std::string hint) {
  throw Error(ErrorKind::device, std::string(what), transport.link().address, std::move(why),
              std::move(hint));
}

namespace {

std::string describe(const Exit& exit) {
  switch (exit.how) {
    case Exit::How::timed_out:
      return "it did not answer in time";
    case Exit::How::signalled:
      return "its shell was ended by signal " + std::to_string(exit.signal);
    case Exit::How::exited:
      break;
  }
  return "its shell ended with status " + std::to_string(exit.code) +
         " before the answer was whole";
}

// Errors that a login shell prints before the script begins do not count.
std::string after_begin(std::string text, const std::string& word) {
  const std::string begin = "@" + word + " begin\n";
  if (const auto at = text.find(begin); at != std::string::npos) text.erase(0, at + begin.size());
  return text;
}

}  // namespace

Answer exchange(Transport& transport, std::string_view what, std::string_view script,
                const ExchangeOptions& options) {
  const std::string word = random_word();
  Answer answer;
  Tail errors(k_most_errors);
  std::size_t total = 0;
  std::string* blob = nullptr;
  AnswerReader reader(
      word, {.line =
                 [&](std::string_view line) {
                   const auto blank = line.find(' ');
                   answer.lines.emplace_back(line.substr(0, blank), blank == std::string_view::npos
                                                                        ? ""
                                                                        : line.substr(blank + 1));
                 },
             .raw = {},
             .blob_begin = [&](const BlobHeader& header) { blob = &answer.blobs[header.name]; },
             .blob_data = [&](std::string_view bytes) { *blob += bytes; },
             .blob_end = {}});
  Command command;
  command.script = script_prologue(word) + std::string(script) + "\nprintf '@%s end\\n' \"$N\"\n";
  command.input = options.input;
  command.timeout = options.timeout;
  command.idle = options.idle;
  command.cleanup = options.cleanup;
  command.output = [&](std::string_view bytes) {
    total += bytes.size();
    if (total > options.most_bytes) throw_device_error(transport, what, "its answer is too long");
    reader.feed(bytes);
  };
  command.error = [&](std::string_view bytes) { errors.add(bytes); };
  const Exit exit = transport.run(command);
  answer.errors = after_begin(errors.text(), word);
  if (const auto fail = answer.find("fail")) {
    const auto blank = fail->find(' ');
    throw_device_error(
        transport, what,
        printable(blank == std::string::npos ? *fail : fail->substr(blank + 1), 1000));
  }
  if (!reader.ended()) {
    const std::string words = last_words(answer.errors);
    throw_device_error(transport, what, describe(exit) + (words.empty() ? "" : " (" + words + ")"));
  }
  return answer;
}

}  // namespace stab
