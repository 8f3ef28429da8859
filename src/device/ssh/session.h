// SPDX-License-Identifier: Apache-2.0
// A libssh session that never blocks: every step is repeated by our own poll, with a deadline,
// while the peer lives.
#pragma once

#include <libssh/libssh.h>

#include <chrono>
#include <functional>
#include <set>
#include <string>

#include "ssh/known_hosts.h"
#include "ssh/route.h"
#include "ssh/settings.h"

namespace stab {

class SshSession {
 public:
  /// Prepares a session on an open way; nothing is sent yet. `key_types`: what is known of the
  /// host, asked for first.
  SshSession(SshRoute route, const SshSettings& settings, const std::set<std::string>& key_types);
  ~SshSession();
  SshSession(const SshSession&) = delete;
  SshSession& operator=(const SshSession&) = delete;

  ssh_session get() const { return session_; }
  const SshRoute& route() const { return route_; }
  bool alive() const;
  /// Why it is not alive, or what the last call complained about; with a proxy's own words.
  std::string reason();
  /// "SSH-2.0-OpenSSH_9.2p1"; empty before it arrived.
  std::string banner() const;
  bool is_openssh() const;
  /// Bytes that the peer sent so far.
  std::uint64_t received() const { return counter_.in_bytes; }
  /// Bytes that came and went so far, and what libssh waits for at the socket (SSH_READ_PENDING,
  /// SSH_WRITE_PENDING).
  struct Activity {
    std::uint64_t bytes = 0;
    int waits_for = 0;
    bool operator==(const Activity&) const = default;
  };
  Activity activity() const;

  enum class Waited { done, lost, timed_out };
  /// Repeats `call` until it returns something else than `again`; `result` gets that. Throws
  /// Error(interrupted).
  Waited wait(const std::function<int()>& call, int again, std::chrono::milliseconds limit,
              const StopRequested& stop, int& result);

  /// Banner and key exchange. Throws Error(device).
  void exchange_keys(const SshSettings& settings, const SshLimits& limits,
                     const StopRequested& stop);
  HostKey host_key() const;

  /// The server's processor computes AES in hardware: where ours does, too, the next key exchange
  /// asks for AES-GCM first, in whatever order the configuration has its ciphers (`ssh -G` does not
  /// tell whether that order is anybody's wish). Where exchange_keys() was quick, libssh begins one
  /// after the first MB in either direction.
  void prefer_aes();

 private:
  void set(ssh_options_e option, const void* value);

  SshRoute route_;
  bool known_before_;
  std::string faster_ciphers_;  ///< empty: the cipher stays
  ssh_session session_;
  ssh_counter_struct counter_{};
};

}  // namespace stab
