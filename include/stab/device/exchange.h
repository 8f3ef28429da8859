// SPDX-License-Identifier: Apache-2.0
// One exchange with a device: a script goes over, and its answer comes back between marks that no
// login banner, no program's own output and no cut connection can be taken for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stab/device/transport.h"

namespace stab {

/// 16 hexadecimal digits from the system's random source.
std::string random_word();

/// A file inside an answer.
struct BlobHeader {
  std::uint64_t size = 0;  ///< bytes that follow
  std::string
      attributes;    ///< what the script wrote between size and name, blank separated; may be empty
  std::string name;  ///< as the device wrote it: not trusted
};

/// Who takes the parts of an answer. Empty functions drop their part.
struct AnswerSinks {
  std::function<void(std::string_view)> line;         ///< one line without its end
  std::function<void(std::string_view)> raw;          ///< the next bytes of a program's own output
  std::function<void(const BlobHeader&)> blob_begin;  ///< may throw to refuse it
  std::function<void(std::string_view)> blob_data;
  std::function<void()> blob_end;
};

/// Takes the standard output of a script apart. With the mark `@WORD` the form is: anything, then
/// the line `@WORD begin`; then lines, among them `@WORD raw` (everything up to a line `@WORD
/// endraw` is raw; the line break before that mark is not part of it) and `@WORD blob SIZE
/// [ATTRIBUTES] NAME` (SIZE bytes and a line break follow); at last `@WORD end`. Memory is bounded
/// by the longest line (64 KB). Throws Error(device) for what has another form.
class AnswerReader {
 public:
  AnswerReader(std::string word, AnswerSinks sinks);

  void feed(std::string_view bytes);
  bool begun() const { return state_ != State::before; }
  /// True once the script's last line arrived: only then the answer is whole.
  bool ended() const { return state_ == State::ended; }

 private:
  enum class State { before, lines, raw, blob, blob_line_end, ended };

  bool step();
  bool step_before();
  bool step_lines();
  bool step_raw();
  bool step_blob();
  bool step_blob_line_end();
  void take_mark(std::string_view mark);
  void take_blob(std::string_view words);

  std::string mark_;
  AnswerSinks sinks_;
  State state_ = State::before;
  std::string buffer_;
  std::uint64_t blob_left_ = 0;
};

/// The last bytes of a stream, and how many there were in all.
class Tail {
 public:
  explicit Tail(std::size_t most) : most_(most) {}
  void add(std::string_view bytes);
  /// At most `most` bytes; starts at a line's begin where the first part was dropped.
  std::string text() const;
  std::uint64_t total() const { return total_; }

 private:
  std::size_t most_;
  std::string kept_;
  std::uint64_t total_ = 0;
};

/// The last line of `text` that says something, in at most 300 printable characters; a line that
/// names an error is preferred among the last ten. Empty when there is none.
std::string last_words(std::string_view text);

/// `text` in at most `most` printable characters, others replaced by '?': for text of a device that
/// goes to a terminal.
std::string printable(std::string_view text, std::size_t most);

/// What a script answered.
struct Answer {
  std::vector<std::pair<std::string, std::string>>
      lines;                                 ///< first word and the rest of each line, in order
  std::map<std::string, std::string> blobs;  ///< by name
  std::string errors;                        ///< the end of its standard error

  /// The rest of the first line whose first word is `key`; absent when there is none.
  std::optional<std::string> find(std::string_view key) const;
  /// The rests of all of them, in order.
  std::vector<std::string> all(std::string_view key) const;
};

struct ExchangeOptions {
  ByteSource input = {};
  std::chrono::milliseconds timeout{60'000};
  std::chrono::milliseconds idle{0};
  std::size_t most_bytes = 32U << 20;  ///< of the whole answer
  bool cleanup = false;                ///< goes on when the user asked to stop
};

/// Runs `script` on the device between the marks and returns its answer. The script finds `say` (a
/// line), `blob NAME FILE` (a file) and `die ID TEXT` (ends it: Error(device) with what `what`
/// could not be done, and TEXT as the reason) ready. Throws Error(device) naming the device when
/// the answer is not whole.
Answer exchange(Transport& transport, std::string_view what, std::string_view script,
                const ExchangeOptions& options = {});

/// The text before every script: marks, `say`, `blob`, `die`, the tool for hashes in $HASH (empty
/// where there is none).
std::string script_prologue(std::string_view word);

/// Throws Error(device): `what` failed on the device behind `transport`.
[[noreturn]] void throw_device_error(const Transport& transport, std::string_view what,
                                     std::string why, std::string hint = {});

}  // namespace stab
