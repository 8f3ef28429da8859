// SPDX-License-Identifier: Apache-2.0
#include "json_tokens.h"

#include <array>
#include <utility>

#include "stab/core/error.h"
#include "utf8.h"

namespace stab {
namespace {

constexpr int k_max_depth = 60;
constexpr std::size_t k_max_string = std::size_t{64} << 10;
constexpr std::size_t k_max_word = 512;

// Bytes that a string holds as they are: all but quote, backslash and control characters.
constexpr std::array<bool, 256> make_plain() {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 256; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}
constexpr std::array<bool, 256> k_plain = make_plain();

bool is_plain(char c) {
  return k_plain[static_cast<unsigned char>(c)];
}
bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
         c == '.';
}

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string_view digits(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  return text.substr(0, n);
}

// RFC 8259, section 6.
bool is_number(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  const std::string_view whole = digits(text);
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return false;
  text.remove_prefix(whole.size());
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::string_view fraction = digits(text);
    if (fraction.empty()) return false;
    text.remove_prefix(fraction.size());
  }
  if (!text.empty() && (text.front() == 'e' || text.front() == 'E')) {
    text.remove_prefix(1);
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
    const std::string_view exponent = digits(text);
    if (exponent.empty()) return false;
    text.remove_prefix(exponent.size());
  }
  return text.empty();
}

std::string describe(char c) {
  static constexpr char k_hex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  if (byte > 0x20 && byte < 0x7f) return std::string("'") + c + "'";
  return std::string("byte 0x") + k_hex[byte >> 4] + k_hex[byte & 15];
}

}  // namespace

JsonTokens::JsonTokens(JsonHandler& handler, std::string what, std::string name)
    : handler_(handler), what_(std::move(what)), name_(std::move(name)) {}

void JsonTokens::fail(std::string why) const {
  fail_at(token_offset_, std::move(why));
}

void JsonTokens::fail_at(std::uint64_t offset, std::string why) const {
  throw Error(ErrorKind::input, what_, name_, "byte " + std::to_string(offset) + ": " + why);
}

void JsonTokens::need(bool grammatical, char found) const {
  if (!grammatical) fail("unexpected " + describe(found));
}

bool JsonTokens::between_values() const {
  return inside_ == Inside::nothing && expect_ != Expect::key && expect_ != Expect::colon &&
         !(expect_ == Expect::value && (objects_ >> (depth_ - 1) & 1) != 0);
}

void JsonTokens::feed(std::string_view bytes) {
  piece_ = bytes.data();
  const char* p = bytes.data();
  const char* const end = p + bytes.size();
  while (p != end) {
    switch (inside_) {
      case Inside::nothing:
        p = structure(p, end);
        break;
      case Inside::string:
        p = rest_of_string(p, end);
        break;
      case Inside::word:
        p = rest_of_word(p, end);
        break;
    }
  }
  base_ += bytes.size();
  piece_ = nullptr;
}

// One structural character, or the begin of a string or word, after blanks.
const char* JsonTokens::structure(const char* p, const char* end) {
  while (p != end && is_blank(*p)) ++p;
  if (p == end) return p;
  const char c = *p;
  token_offset_ = base_ + static_cast<std::uint64_t>(p - piece_);
  const bool value = expect_ == Expect::value || expect_ == Expect::value_or_end;
  switch (c) {
    case '"':
      need(value || expect_ == Expect::key || expect_ == Expect::key_or_end, c);
      return begin_string(p + 1, end);
    case ':':
      need(expect_ == Expect::colon, c);
      expect_ = Expect::value;
      return p + 1;
    case ',':
      need(expect_ == Expect::comma_or_end, c);
      expect_ = (objects_ >> (depth_ - 1) & 1) != 0 ? Expect::key : Expect::value;
      return p + 1;
    case '{':
      need(value || expect_ == Expect::document, c);
      open(true);
      return p + 1;
    case '[':
      need(value, c);
      open(false);
      return p + 1;
    case '}':
      need(expect_ == Expect::key_or_end || expect_ == Expect::comma_or_end, c);
      close(true);
      return p + 1;
    case ']':
      need(expect_ == Expect::value_or_end || expect_ == Expect::comma_or_end, c);
      close(false);
      return p + 1;
    default:
      need(value && is_word(c), c);
      text_.clear();
      inside_ = Inside::word;
      return p;
  }
}

void JsonTokens::open(bool object) {
  if (depth_ == k_max_depth) fail("nested deeper than " + std::to_string(k_max_depth) + " levels");
  const std::uint64_t bit = std::uint64_t{1} << depth_;
  objects_ = object ? objects_ | bit : objects_ & ~bit;
  ++depth_;
  expect_ = object ? Expect::key_or_end : Expect::value_or_end;
  object ? handler_.begin_object() : handler_.begin_array();
}

void JsonTokens::close(bool object) {
  need(((objects_ >> (depth_ - 1)) & 1) == (object ? 1U : 0U), object ? '}' : ']');
  object ? handler_.end_object() : handler_.end_array();
  --depth_;
  expect_ = depth_ == 0 ? Expect::document : Expect::comma_or_end;
}

const char* JsonTokens::begin_string(const char* p, const char* end) {
  const char* q = p;
  while (q != end && is_plain(*q)) ++q;
  const std::string_view part(p, static_cast<std::size_t>(q - p));
  text_.clear();
  if (q != end && *q == '"' && part.size() <= k_max_string) {
    end_string(part);
    return q + 1;
  }
  append_text(part);
  inside_ = Inside::string;
  escape_ = 0;
  high_surrogate_ = 0;
  return q;
}

const char* JsonTokens::rest_of_string(const char* p, const char* end) {
  if (escape_ != 0) return escaped(p);
  const char* q = p;
  while (q != end && is_plain(*q)) ++q;
  if (q != p) {
    end_surrogate();
    append_text({p, static_cast<std::size_t>(q - p)});
    return q;
  }
  if (*q == '\\') {
    escape_ = 1;
    return q + 1;
  }
  if (*q != '"') {
    fail_at(base_ + static_cast<std::uint64_t>(q - piece_), "a string holds " + describe(*q));
  }
  end_surrogate();
  inside_ = Inside::nothing;
  end_string(text_);
  return q + 1;
}

// One byte of an escape sequence.
const char* JsonTokens::escaped(const char* p) {
  static constexpr std::string_view k_letters = "\"\\/bfnrt";
  static constexpr std::string_view k_meaning = "\"\\/\b\f\n\r\t";
  const std::uint64_t offset = base_ + static_cast<std::uint64_t>(p - piece_);
  if (escape_ == 1) {
    const std::size_t at = k_letters.find(*p);
    if (*p == 'u') {
      unit_ = 0;
      escape_ = 5;
    } else if (at != std::string_view::npos) {
      end_surrogate();
      append_text(k_meaning.substr(at, 1));
      escape_ = 0;
    } else {
      fail_at(offset, "unknown escape sequence with " + describe(*p));
    }
    return p + 1;
  }
  const int digit = hex_value(*p);
  if (digit < 0) fail_at(offset, "a hexadecimal digit expected, not " + describe(*p));
  unit_ = unit_ * 16 + static_cast<std::uint32_t>(digit);
  --escape_;
  if (escape_ == 1) {
    escape_ = 0;
    code_unit(unit_);
  }
  return p + 1;
}

// A UTF-16 code unit; half of a pair becomes the replacement character.
void JsonTokens::code_unit(std::uint32_t unit) {
  const bool high = unit >= 0xd800 && unit <= 0xdbff;
  const bool low = unit >= 0xdc00 && unit <= 0xdfff;
  if (low && high_surrogate_ != 0) {
    const std::uint32_t first = std::exchange(high_surrogate_, 0);
    append_text(encode_utf8(0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00)));
    return;
  }
  end_surrogate();
  if (high) {
    high_surrogate_ = unit;
  } else {
    append_text(encode_utf8(low ? k_replacement_character : unit));
  }
}

// Something other than the second half of a pair follows.
void JsonTokens::end_surrogate() {
  if (std::exchange(high_surrogate_, 0) != 0) append_text(encode_utf8(k_replacement_character));
}

void JsonTokens::append_text(std::string_view part) {
  if (text_.size() + part.size() > k_max_string) {
    fail("a string of more than " + std::to_string(k_max_string) + " bytes");
  }
  text_ += part;
}

void JsonTokens::end_string(std::string_view text) {
  if (expect_ == Expect::key || expect_ == Expect::key_or_end) {
    expect_ = Expect::colon;
    handler_.key(text);
  } else {
    expect_ = Expect::comma_or_end;
    handler_.string(text);
  }
}

const char* JsonTokens::rest_of_word(const char* p, const char* end) {
  const char* q = p;
  while (q != end && is_word(*q)) ++q;
  if (text_.size() + static_cast<std::size_t>(q - p) > k_max_word) {
    fail("a number of more than " + std::to_string(k_max_word) + " bytes");
  }
  text_.append(p, q);
  if (q != end) end_word();
  return q;
}

void JsonTokens::end_word() {
  inside_ = Inside::nothing;
  expect_ = Expect::comma_or_end;
  if (text_ == "true" || text_ == "false" || text_ == "null") {
    handler_.literal(text_);
  } else if (is_number(text_)) {
    handler_.number(text_);
  } else {
    fail("'" + text_.substr(0, 32) + "' is no value");
  }
}

}  // namespace stab
