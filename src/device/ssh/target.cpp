// SPDX-License-Identifier: Apache-2.0
#include "ssh/target.h"

#include <algorithm>
#include <charconv>

#include "stab/core/error.h"

namespace stab {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string why) {
  throw Error(ErrorKind::usage, "cannot connect to", std::string(text), std::move(why),
              "an address, a host name, user@host, host:port, or an alias of ~/.ssh/config");
}

int parse_port(std::string_view digits, std::string_view text) {
  int port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port < 1 || port > 65535) {
    refuse(text, "'" + std::string(digits) + "' is not a port");
  }
  return port;
}

bool printable(unsigned char c) {
  return c > 0x20 && c != 0x7f;
}

}  // namespace

SshTarget parse_ssh_target(std::string_view text) {
  if (text.empty()) refuse(text, "it is empty");
  if (!std::all_of(text.begin(), text.end(), printable)) refuse(text, "it holds blanks");
  SshTarget target;
  std::string_view host = text;
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos) {
    if (at == 0) refuse(text, "the user before '@' is missing");
    target.user = host.substr(0, at);
    host.remove_prefix(at + 1);
  }
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    const std::string_view rest = end == std::string_view::npos ? host : host.substr(end + 1);
    if (end == std::string_view::npos || (!rest.empty() && !rest.starts_with(':'))) {
      refuse(text, "its brackets do not match");
    }
    if (!rest.empty()) target.port = parse_port(rest.substr(1), text);
    host = host.substr(1, end - 1);
  } else if (std::count(host.begin(), host.end(), ':') == 1) {
    const std::size_t colon = host.find(':');
    target.port = parse_port(host.substr(colon + 1), text);
    host = host.substr(0, colon);
  }
  if (host.empty()) refuse(text, "the host is missing");
  if (host.starts_with('-') || text.starts_with('-'))
    refuse(text, "a host does not begin with '-'");
  target.host = host;
  return target;
}

std::string to_string(const SshTarget& target) {
  std::string text = target.user ? *target.user + "@" : "";
  const bool far = target.port && *target.port != 22;
  text += far && target.host.find(':') != std::string::npos ? "[" + target.host + "]" : target.host;
  return far ? text + ":" + std::to_string(*target.port) : text;
}

}  // namespace stab
