// SPDX-License-Identifier: Apache-2.0
// Private SSH servers on 127.0.0.1: OpenSSH's and dropbear, with keys and accounts of their own.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stab/device/ssh_transport.h"
#include "support/temp_dir.h"

namespace stab::test {

struct SshServerOptions {
  enum class Kind { openssh, dropbear };
  Kind kind = Kind::openssh;
  /// The account's login shell (a program's name); empty: the account's own.
  std::string login_shell;
  /// The start-up file of the login shell (.bashrc, config.fish, .tcshrc): what it prints on
  /// standard output is junk.
  std::string start_up;
  /// BusyBox is the only userland, and its ash the login shell and /bin/sh.
  bool busybox = false;
  std::optional<std::string>
      password_hash;                    ///< dropbear: the account's password as crypt(3) has it
  std::vector<std::string> sshd_lines;  ///< more lines for sshd_config; they win
  std::vector<std::string> dropbear_arguments;  ///< more arguments for dropbear
};

/// Runs while it lives, and for so long STAB_SSH_DIR points to a folder with its key in known_hosts
/// and an accepted key; no agent is seen. A test that lacks the server ends (skip_or_fail).
class SshServer {
 public:
  explicit SshServer(SshServerOptions options = {});
  ~SshServer();
  SshServer(const SshServer&) = delete;
  SshServer& operator=(const SshServer&) = delete;

  int port() const { return port_; }
  /// Options for connecting to it.
  SshOptions options() const;
  /// The folder that STAB_SSH_DIR names: id_ed25519, known_hosts, and what a test adds.
  std::filesystem::path ssh_dir() const { return folder_.path() / "ssh"; }
  /// The home folder of the account, where it is not the tester's own.
  std::filesystem::path home() const { return folder_.path() / "home"; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  std::string user() const { return user_; }
  /// The public host key: "ssh-ed25519 AAAA…".
  std::string host_key() const;
  /// Replaces known_hosts; {host} stands for "[127.0.0.1]:PORT", {key} for the host key.
  void set_known_hosts(std::string text) const;

  /// Accepts this public key (a line) instead of the first one.
  void set_authorized_key(const std::string& line) const;
  /// The `config` of ssh_dir().
  void write_config(const std::string& text) const;

 private:
  void make_keys();
  void start();
  std::vector<std::string> sshd_command();
  std::vector<std::string> dropbear_command();
  std::string login_program();
  bool listening() const;

  SshServerOptions options_;
  TempDir folder_;
  std::string user_;
  int port_ = 0;
  pid_t process_ = -1;
};

/// A key pair file without a passphrase (or with one); `type` as ssh-keygen takes it.
std::filesystem::path make_key(const std::filesystem::path& file, const std::string& type,
                               const std::string& passphrase = {});

}  // namespace stab::test
