// SPDX-License-Identifier: Apache-2.0
#include "text_layout.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "stab/core/report.h"

namespace stab {

std::string fixed_digits(double value, int decimals) {
  std::array<char, 400> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::fixed, decimals);
  return error == std::errc() ? std::string(text.data(), end) : "very large";
}

std::string significant_digits(double value, int digits) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::general, digits);
  return error == std::errc() ? std::string(text.data(), end) : "very large";
}

std::size_t text_columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t used = text_columns(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

std::string pad_left(const std::string& text, std::size_t width) {
  const std::size_t used = text_columns(text);
  return used < width ? std::string(width - used, ' ') + text : text;
}

std::string shorten(const std::string& text, std::size_t width) {
  if (text_columns(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t column = 0; column + 1 < width; ++column) {
    do {
      ++end;
    } while (end < text.size() && (text[end] & 0xc0) == 0x80);
  }
  return text.substr(0, end) + "…";
}

std::string count_of(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string wrap_text(const std::string& text, std::size_t indent, int width) {
  const std::size_t limit = std::max<std::size_t>(static_cast<std::size_t>(width), indent + 20);
  std::string out;
  std::size_t column = indent;
  std::size_t start = 0;
  while (start < text.size()) {
    std::size_t end = text.find(' ', start);
    if (end == std::string::npos) end = text.size();
    const std::string word = text.substr(start, end - start);
    if (column > indent && column + 1 + text_columns(word) > limit) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += text_columns(word);
    start = end + 1;
  }
  return out;
}

}  // namespace stab
