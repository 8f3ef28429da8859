// SPDX-License-Identifier: Apache-2.0
// What a user may write for a device.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stab {

struct SshTarget {
  std::optional<std::string> user;
  std::string host;  ///< without brackets
  std::optional<int> port;

  bool operator==(const SshTarget&) const = default;
};

/// Takes "host", "user@host", "host:port", "[host]:port", "user@[v6%scope]:port", a bare IPv6
/// address with or without scope. Throws Error(usage) when it is empty, starts with '-', holds
/// blanks or control characters, or has a port outside 1..65535.
SshTarget parse_ssh_target(std::string_view text);

/// As a person would write it: "user@host:port", brackets where the host has colons, no port when
/// it is 22.
std::string to_string(const SshTarget& target);

}  // namespace stab
