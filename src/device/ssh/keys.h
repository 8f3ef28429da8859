// SPDX-License-Identifier: Apache-2.0
// Which keys to offer a server, in which order, and how to get at the private half of a file.
#pragma once

#include <libssh/libssh.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ssh/agent.h"
#include "ssh/known_hosts.h"
#include "ssh/settings.h"

namespace stab {

struct KeyDeleter {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<std::remove_pointer_t<ssh_key>, KeyDeleter>;

/// A key that can be offered: in the agent, in a file, or both (then the agent signs).
struct KeyOffer {
  Key public_key;     ///< null: an encrypted file that does not show it
  std::string label;  ///< for messages: the file or the agent's comment, and the kind of key
  std::string file;   ///< empty: only in the agent
  std::optional<AgentKey> agent_key;
};

/// Servers hang up after 6 tries.
inline constexpr std::size_t k_most_offers = 5;

struct KeyOffers {
  std::vector<KeyOffer> offers;  ///< at most k_most_offers
  std::vector<std::string>
      unreadable;            ///< named files that are no keys, or cannot be read, with the reason
  std::size_t left_out = 0;  ///< keys of the agent beyond the five
};

/// Named files first, then keys of the agent (only those of named files with IdentitiesOnly), then
/// the default files.
KeyOffers collect_keys(const SshSettings& settings, const std::vector<AgentKey>& agent);

/// The private half of a file; without a passphrase for an encrypted one, or with a wrong one:
/// nothing, and `encrypted` is set.
Key read_private_key(const std::string& file, const std::optional<std::string>& passphrase,
                     bool& encrypted);

}  // namespace stab
