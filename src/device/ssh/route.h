// SPDX-License-Identifier: Apache-2.0
// The bytes' way to an SSH server: a TCP connection of our own, or a proxy as a child of ours on a
// socket pair.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "child_process.h"
#include "descriptor.h"
#include "ssh/settings.h"
#include "stab/device/ssh_transport.h"
#include "stab/device/transport.h"

namespace stab {

struct SshRoute {
  Descriptor socket;                          ///< non-blocking
  std::string peer;                           ///< "127.0.0.1 port 2222", "proxy 'nc …'"
  std::chrono::microseconds connect_time{0};  ///< of the TCP handshake; 0 through a proxy
  std::unique_ptr<ChildProcess> proxy;
  Descriptor proxy_error;

  /// Acknowledges what was read, to be called before each wait for more. A server that collects
  /// small packets (Nagle's algorithm, sshd's way with commands) would otherwise hold back its next
  /// one until the kernel's own acknowledgement, 40 ms later; measured at each login.
  void acknowledge() const;

  /// What a proxy last said on its standard error, as a clause to append to a reason; empty when it
  /// said nothing.
  std::string proxy_words();

 private:
  std::string proxy_text_;
};

/// Opens the way. Throws Error(device), with a sentence of its own for: a name that does not
/// resolve, no route, refused, no answer in time. All addresses of a name are tried; each has a
/// fair share of the time.
SshRoute open_route(const SshSettings& settings, const SshLimits& limits,
                    const StopRequested& stop);

/// Throws Error(interrupted) when the user wants to stop.
void heed_stop(const StopRequested& stop, const std::string& address);

/// "15 s", "300 ms"
std::string duration_text(std::chrono::milliseconds duration);

}  // namespace stab
