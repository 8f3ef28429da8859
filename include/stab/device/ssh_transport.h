// SPDX-License-Identifier: Apache-2.0
// The port to a device over SSH (libssh, behind this header).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "stab/core/error.h"
#include "stab/device/transport.h"

namespace stab {

/// How long each step may take, and how often life is checked.
struct SshLimits {
  std::chrono::milliseconds connect{
      15'000};  ///< name, route and banner, each; ConnectTimeout of ssh_config wins
  std::chrono::milliseconds key_exchange{30'000};  ///< slow boards compute for seconds
  std::chrono::milliseconds quick_key_exchange{
      15};  ///< one that took no longer may be repeated for a faster cipher: less than a far link
            ///< or a slow processor makes of it
  std::chrono::milliseconds authentication{30'000};  ///< for one answer of the server
  std::chrono::milliseconds channel{20'000};   ///< to open a channel and start a command on it
  std::chrono::milliseconds heartbeat{5'000};  ///< between two lines on a lifeline
  std::chrono::milliseconds keepalive{
      10'000};  ///< without a byte from the server: ask whether it is there
  std::chrono::milliseconds silence{30'000};  ///< without a byte from it: the connection is lost
  std::chrono::seconds remote_silence{30};    ///< without a heartbeat: the device ends the command
};

struct SshOptions {
  /// Address, name, IPv6 with %scope, [IPv6]:port, user@host, host:port, or an alias of ssh_config.
  std::string host;
  std::optional<std::string> user;      ///< wins over everything
  std::optional<int> port;              ///< wins over everything
  std::optional<std::string> identity;  ///< a private key file, tried first
  bool accept_new_host_key = false;
  SshLimits limits;
};

/// Takes what is worth saying without stopping.
using WarningSink = std::function<void(const Warning&)>;

/// Asks a person for a secret (or, with `echo`, for something that may be seen); nothing when there
/// is no answer.
using SecretPrompt =
    std::function<std::optional<std::string>(const std::string& question, bool echo)>;

/// Connects and logs in. Where an `ssh` program exists, its `ssh -G` says what ~/.ssh/config means;
/// STAB_SSH_DIR stands in for ~/.ssh. `prompt` is for passphrases and passwords; empty where nobody
/// can answer. Host keys are checked against known_hosts: an unknown one is refused unless
/// `accept_new_host_key` (or StrictHostKeyChecking accept-new), a changed one always. Throws
/// Error(device) with a sentence of its own for each way to fail (name, route, refused, no answer,
/// no SSH, host key, authentication), Error(usage) for a HOST that is none, Error(interrupted) when
/// the user asked to stop. Never waits longer than its limits.
std::unique_ptr<Transport> connect_ssh(const SshOptions& options, StopRequested stop,
                                       WarningSink warn, SecretPrompt prompt);

/// The version of the library behind it: "0.10.6".
std::string ssh_library_version();

}  // namespace stab
