// SPDX-License-Identifier: Apache-2.0
#include "utf8.h"

#include <cstddef>
#include <cstdint>

namespace stab {
namespace {

struct Lead {
  std::size_t length;
  std::uint8_t second_low;   // least value of the second byte: no overlong forms
  std::uint8_t second_high;  // greatest: no surrogates, nothing above U+10FFFF
};

Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {4, 0x80, 0xBF};
  return {0, 0, 0};
}

// Length of the well-formed sequence at `at`; 0 where there is none.
std::size_t sequence_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[at + i]); };
  const Lead lead = lead_of(byte(0));
  if (lead.length <= 1) return lead.length;
  if (text.size() - at < lead.length) return 0;
  if (byte(1) < lead.second_low || byte(1) > lead.second_high) return 0;
  for (std::size_t i = 2; i < lead.length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return lead.length;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  std::size_t start = 0;  // of what is well-formed and not copied yet
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_at(text, at);
    if (length == 0) {
      valid.append(text, start, at - start).append("\xEF\xBF\xBD");
      start = at + 1;
    }
    at += length == 0 ? 1 : length;
  }
  return valid.append(text, start);
}

std::string printable_utf8(std::string_view text) {
  std::string printable;
  for (const char c : valid_utf8(text)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      printable += "\xEF\xBF\xBD";
    } else {
      printable += c;
    }
  }
  return printable;
}

std::string encode_utf8(std::uint32_t code_point) {
  const auto byte = [](std::uint32_t bits) {
    return static_cast<char>(static_cast<unsigned char>(bits));
  };
  const auto tail = [&](int shift) { return byte(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | (code_point >> 6)), tail(0)};
  if (code_point < 0x10000) return {byte(0xE0 | (code_point >> 12)), tail(6), tail(0)};
  return {byte(0xF0 | (code_point >> 18)), tail(12), tail(6), tail(0)};
}

}  // namespace stab
