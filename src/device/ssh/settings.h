// SPDX-License-Identifier: Apache-2.0
// Everything about one connection, decided: from the user's words, our options and what `ssh -G`
// makes of ssh_config.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/device/ssh_transport.h"

namespace stab {

struct SshSettings {
  std::string name;  ///< as the user wrote it, without user and port
  std::string host;  ///< what to connect to
  int port = 22;
  std::string user;
  std::vector<std::string> identities;          ///< private key files, in order; asked for by name
  std::vector<std::string> default_identities;  ///< tried when they exist
  bool identities_only = false;
  std::string agent_socket;             ///< empty: no agent
  std::string proxy_command;            ///< for /bin/sh, tokens replaced; empty: none
  std::vector<std::string> proxy_jump;  ///< argv of the ssh that reaches the host; empty: none
  std::string host_key_alias;
  std::vector<std::string> known_hosts;  ///< the first one takes new keys
  std::vector<std::string> global_known_hosts;
  bool accept_new = false;
  bool hash_known_hosts = false;
  std::optional<std::chrono::milliseconds> connect_timeout;
  std::map<std::string, std::string>
      algorithms;  ///< lists by ssh_config's name in lower case, where told

  /// "root@board:2207"
  std::string address() const;
};

/// The user's surroundings, apart so that tests can make them up.
struct SshSurroundings {
  std::string home;
  std::string user;
  std::string ssh_dir;       ///< where keys, config and known_hosts are
  bool own_ssh_dir = false;  ///< STAB_SSH_DIR says so: nothing of the real one is looked at
  std::function<std::optional<std::string>(const std::string&)> variable;
};

/// From the password database and the environment (STAB_SSH_DIR, SSH_AUTH_SOCK).
SshSurroundings ssh_surroundings();

/// Settings out of what `ssh -G` printed (empty: there is no ssh program; defaults then).
SshSettings make_ssh_settings(const SshOptions& options, std::string_view ssh_g,
                              const SshSurroundings& around);

/// Asks `ssh -G` where there is an ssh program; throws Error(device) with its words when ssh_config
/// cannot be read, and Error(usage) for a bad HOST.
SshSettings resolve_ssh_settings(const SshOptions& options, const StopRequested& stop,
                                 const WarningSink& warn);

}  // namespace stab
