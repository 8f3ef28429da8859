// SPDX-License-Identifier: Apache-2.0
// Cuts JSON that arrives in pieces into tokens, checking the grammar, in memory that does not grow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stab {

/// Receives the tokens of a document in order. Text is valid during the call only; escapes are
/// already decoded. Bytes that are not UTF-8 come as they are.
class JsonHandler {
 public:
  virtual ~JsonHandler() = default;
  virtual void begin_object() = 0;
  virtual void end_object() = 0;
  virtual void begin_array() = 0;
  virtual void end_array() = 0;
  virtual void key(std::string_view text) = 0;
  virtual void string(std::string_view text) = 0;
  virtual void number(std::string_view text) = 0;
  virtual void literal(std::string_view text) = 0;  ///< true, false, null
};

/// A push parser for RFC 8259 JSON whose documents are objects; any number of them may follow one
/// another. Limits: 60 levels, 64 KiB for a string, 512 bytes for a number. What breaks the grammar
/// or a limit throws Error(input) that names the file and the byte.
class JsonTokens {
 public:
  /// `what` stands in front of messages: "cannot read trace".
  JsonTokens(JsonHandler& handler, std::string what, std::string name);

  void feed(std::string_view bytes);

  /// Containers that are open now; 0 between documents.
  int depth() const { return depth_; }
  /// Whether the last byte so far ended a whole value, or a comma after one: no token, key or pair
  /// is half there.
  bool between_values() const;
  /// Bytes taken so far.
  std::uint64_t consumed() const { return base_; }
  /// Where the token begins that the handler is being given.
  std::uint64_t token_offset() const { return token_offset_; }

  /// Throws Error(input) about the token that the handler is being given.
  [[noreturn]] void fail(std::string why) const;
  /// The same about another place.
  [[noreturn]] void fail_at(std::uint64_t offset, std::string why) const;

 private:
  enum class Expect { document, value, value_or_end, key, key_or_end, colon, comma_or_end };
  enum class Inside { nothing, string, word };

  const char* structure(const char* p, const char* end);
  const char* begin_string(const char* p, const char* end);
  const char* rest_of_string(const char* p, const char* end);
  const char* rest_of_word(const char* p, const char* end);
  const char* escaped(const char* p);
  void code_unit(std::uint32_t unit);
  void end_surrogate();
  void append_text(std::string_view part);
  void end_string(std::string_view text);
  void end_word();
  void open(bool object);
  void close(bool object);
  void need(bool grammatical, char found) const;

  JsonHandler& handler_;
  std::string what_;
  std::string name_;
  std::uint64_t base_ = 0;       // offset of the first byte of the piece in hand
  const char* piece_ = nullptr;  // that byte
  std::uint64_t token_offset_ = 0;
  Expect expect_ = Expect::document;
  Inside inside_ = Inside::nothing;
  int depth_ = 0;
  std::uint64_t objects_ = 0;  // bit n: the container at depth n+1 is an object
  std::string text_;           // of a string or word that is not whole yet
  int escape_ = 0;  // 0 none, 1 after a backslash, 2 to 5 that many minus one hexadecimal digits of
                    // \u to come
  std::uint32_t unit_ = 0;
  std::uint32_t high_surrogate_ = 0;
};

}  // namespace stab
