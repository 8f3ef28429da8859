// SPDX-License-Identifier: Apache-2.0
#include "ssh/keys.h"

#include <libssh/callbacks.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace stab {
namespace {

constexpr std::size_t k_kept_for_files = 2;  // of k_most_offers, when the agent has many

std::string encode_base64(const std::string& bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

Key import_public(const std::string& blob) {
  const std::string base64 = encode_base64(blob);
  const HostKey parsed = parse_host_key(base64);
  const ssh_keytypes_e type = ssh_key_type_from_name(parsed.type.c_str());
  ssh_key key = nullptr;
  if (type == SSH_KEYTYPE_UNKNOWN ||
      ssh_pki_import_pubkey_base64(base64.c_str(), type, &key) != SSH_OK) {
    return nullptr;
  }
  return Key(key);
}

bool usable(const Key& key) {
  switch (ssh_key_type(key.get())) {
    case SSH_KEYTYPE_ED25519:
    case SSH_KEYTYPE_ECDSA:
    case SSH_KEYTYPE_ECDSA_P256:
    case SSH_KEYTYPE_ECDSA_P384:
    case SSH_KEYTYPE_ECDSA_P521:
    case SSH_KEYTYPE_RSA:
      return true;
    default:
      return false;
  }
}

/// The public half of a key file: from FILE.pub, from an OpenSSH key itself (even an encrypted
/// one), or by way of the private half, where that is not `encrypted`.
Key read_public_key(const std::string& file, bool& encrypted) {
  ssh_key key = nullptr;
  if (ssh_pki_import_pubkey_file((file + ".pub").c_str(), &key) == SSH_OK) return Key(key);
  if (ssh_pki_import_pubkey_file(file.c_str(), &key) == SSH_OK) return Key(key);
  const Key both = read_private_key(file, std::nullopt, encrypted);
  if (both && ssh_pki_export_privkey_to_pubkey(both.get(), &key) == SSH_OK) return Key(key);
  return nullptr;
}

bool same_key(const Key& a, const Key& b) {
  return ssh_key_cmp(a.get(), b.get(), SSH_KEY_CMP_PUBLIC) == 0;
}

std::string label(const std::string& name, const Key& key) {
  return name + " (" + ssh_key_type_to_char(ssh_key_type(key.get())) + ")";
}

class Collector {
 public:
  explicit Collector(const std::vector<AgentKey>& agent) {
    for (const AgentKey& entry : agent) {
      Key key = import_public(entry.blob);
      if (key && usable(key)) agent_.push_back({std::move(key), entry});
    }
  }

  void add_file(const std::string& file, bool named) {
    if (access(file.c_str(), R_OK) != 0 && access((file + ".pub").c_str(), R_OK) != 0) {
      if (named) {
        result_.unreadable.push_back(file + " (" + std::generic_category().message(errno) + ")");
      }
      return;
    }
    bool encrypted = false;
    KeyOffer offer;
    offer.public_key = read_public_key(file, encrypted);
    offer.file = file;
    offer.label = file;
    if (offer.public_key) {
      if (!usable(offer.public_key) || known(offer.public_key)) return;
      offer.agent_key = find_in_agent(offer.public_key);
      offer.label = label(file, offer.public_key);
    } else if (!encrypted) {
      if (named) result_.unreadable.push_back(file + " (not a private key)");
      return;
    }
    result_.offers.push_back(std::move(offer));
  }

  void add_agent(std::size_t room) {
    for (auto& [key, entry] : agent_) {
      if (known(key)) continue;
      if (room == 0) {
        ++result_.left_out;
        continue;
      }
      --room;
      const std::string name = entry.comment.empty() ? "a key" : "'" + entry.comment + "'";
      KeyOffer offer{Key(ssh_key_dup(key.get())), {}, {}, entry};
      offer.label = label(name + " of the agent", key);
      result_.offers.push_back(std::move(offer));
    }
  }

  std::size_t count() const { return result_.offers.size(); }
  KeyOffers result() { return std::move(result_); }

 private:
  struct Entry {
    Key key;
    AgentKey agent_key;
  };

  bool known(const Key& key) const {
    return std::any_of(result_.offers.begin(), result_.offers.end(), [&](const KeyOffer& offer) {
      return offer.public_key && same_key(offer.public_key, key);
    });
  }
  std::optional<AgentKey> find_in_agent(const Key& key) const {
    for (const auto& [other, entry] : agent_) {
      if (same_key(other, key)) return entry;
    }
    return std::nullopt;
  }

  std::vector<Entry> agent_;
  KeyOffers result_;
};

int no_passphrase(const char*, char*, std::size_t, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

}  // namespace

KeyOffers collect_keys(const SshSettings& settings, const std::vector<AgentKey>& agent) {
  Collector keys(agent);
  for (const std::string& file : settings.identities) keys.add_file(file, true);
  Collector defaults(agent);
  for (const std::string& file : settings.default_identities) defaults.add_file(file, false);
  if (!settings.identities_only) {
    const std::size_t for_files = std::min(defaults.count(), k_kept_for_files);
    const std::size_t taken = std::min(keys.count() + for_files, k_most_offers);
    keys.add_agent(k_most_offers - taken);
  }
  for (const std::string& file : settings.default_identities) keys.add_file(file, false);
  KeyOffers result = keys.result();
  if (result.offers.size() > k_most_offers) result.offers.resize(k_most_offers);
  return result;
}

Key read_private_key(const std::string& file, const std::optional<std::string>& passphrase,
                     bool& encrypted) {
  ssh_key key = nullptr;
  encrypted = false;
  const int result =
      passphrase
          ? ssh_pki_import_privkey_file(file.c_str(), passphrase->c_str(), nullptr, nullptr, &key)
          : ssh_pki_import_privkey_file(file.c_str(), nullptr, no_passphrase, &encrypted, &key);
  if (result == SSH_OK) return Key(key);
  if (passphrase) encrypted = true;
  return nullptr;
}

}  // namespace stab
