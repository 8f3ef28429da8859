// SPDX-License-Identifier: Apache-2.0
#include "core/markup.h"

#include "core/utf8.h"

namespace stab {
namespace {

constexpr std::string_view k_replacement = "\xEF\xBF\xBD";

/// The two code points of the last plane row that XML forbids.
bool is_noncharacter(std::string_view text, std::size_t at) {
  const std::string_view sequence = text.substr(at, 3);
  return sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF";
}

}  // namespace

std::string escape_markup(std::string_view text) {
  const std::string valid = valid_utf8(text);
  std::string escaped;
  escaped.reserve(valid.size());
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else if (c == '\t' || c == '\n' || c == '\r') {
      escaped += "&#" + std::to_string(static_cast<int>(c)) + ";";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      escaped += k_replacement;
    } else if (is_noncharacter(valid, i)) {
      escaped += k_replacement;
      i += 2;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

}  // namespace stab
