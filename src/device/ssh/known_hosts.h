// SPDX-License-Identifier: Apache-2.0
// What known_hosts files say about a host's key. Format: sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT".
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stab {

struct KnownHostsFile {
  std::string path;
  std::string text;
};

/// Whose key is looked up. `alias` (HostKeyAlias) replaces host and port.
struct HostName {
  std::string host;
  int port = 22;
  std::string alias;

  /// As known_hosts has it: "host", "[host]:port" where the port is not 22, or the alias.
  std::string entry() const;
};

struct HostKey {
  std::string type;  ///< "ssh-ed25519", "ecdsa-sha2-nistp256", "ssh-rsa"; from inside the blob
  std::string blob;  ///< RFC 4253 6.6

  bool operator==(const HostKey&) const = default;
};

/// Out of a key's base64 form; no type when it is malformed.
HostKey parse_host_key(std::string_view base64);

/// "SHA256:…" as ssh-keygen prints it.
std::string fingerprint(const HostKey& key);

struct KnownHostsAnswer {
  enum class Verdict { known, unknown, changed, revoked };
  Verdict verdict = Verdict::unknown;
  std::string file;                    ///< changed, revoked: where the line is that says so
  int line = 0;                        ///< 1-based
  HostKey expected;                    ///< changed: that line's key
  std::vector<std::string> malformed;  ///< "file:line" of lines for this host that cannot be read
};

/// Compares the key that a host presented. A line for the host with the same key makes it known.
/// Otherwise a line for the host with another key, of any kind that we can use, makes it changed: a
/// host that is asked for the kinds of keys that are known of it would present one of those. Lines
/// that cannot be read never hide another line. For a port other than 22, lines for the plain host
/// name count only when they hold the same key. @cert-authority lines do not count.
KnownHostsAnswer look_up_host_key(const std::vector<KnownHostsFile>& files, const HostName& name,
                                  const HostKey& key);

/// The types of keys that are known of a host, in any order of lines.
std::set<std::string> known_key_types(const std::vector<KnownHostsFile>& files,
                                      const HostName& name);

/// A line for a host's key, with its line feed; with a salt of 20 bytes the name is hashed.
std::string known_hosts_line(const HostName& name, const HostKey& key, std::string_view salt = {});

}  // namespace stab
