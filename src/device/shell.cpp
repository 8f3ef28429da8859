// SPDX-License-Identifier: Apache-2.0
#include "stab/device/shell.h"

#include <algorithm>

#include "stab/core/error.h"

namespace stab {
namespace {

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.' || c == '/' || c == ':' || c == ',' || c == '+' || c == '@' ||
         c == '%';
}

}  // namespace

std::string shell_quote(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    throw Error(ErrorKind::input, "cannot pass text to a shell",
                std::string(text.substr(0, text.find('\0'))), "it holds a NUL byte");
  }
  if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace stab
