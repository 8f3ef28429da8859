// SPDX-License-Identifier: Apache-2.0
#include "ssh/known_hosts.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

namespace stab {
namespace {

constexpr std::array<std::string_view, 5> k_usable_types{
    "ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521", "ssh-rsa"};

struct Line {
  enum class Marker { none, revoked, other };
  Marker marker = Marker::none;
  std::string_view hosts;
  std::string_view key;  // base64
};

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string decode_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > (64U << 10)) return {};
  std::string bytes(text.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), bytes_of(text),
                                   static_cast<int>(text.size()));
  if (size < 0) return {};
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

std::string encode_base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string hash_name(std::string_view name, std::string_view salt) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  HMAC(EVP_sha1(), salt.data(), static_cast<int>(salt.size()), bytes_of(name), name.size(),
       digest.data(), &size);
  return {reinterpret_cast<const char*>(digest.data()), size};
}

std::string_view next_word(std::string_view& text) {
  const std::size_t start = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t end = std::min(text.find_first_of(" \t", start), text.size());
  const std::string_view word = text.substr(start, end - start);
  text.remove_prefix(end);
  return word;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

/// `*` and `?`, in time linear in the product of the lengths.
bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t at = 0, in = 0, star = std::string_view::npos, resume = 0;
  while (at < text.size()) {
    if (in < pattern.size() && (pattern[in] == '?' || pattern[in] == text[at]) &&
        pattern[in] != '*') {
      ++at, ++in;
    } else if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      resume = at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', in) == std::string_view::npos;
}

bool matches_hashed(const std::string& name, std::string_view hosts) {
  const std::string_view rest = hosts.substr(3);
  const std::size_t bar = rest.find('|');
  if (bar == std::string_view::npos) return false;
  const std::string salt = decode_base64(rest.substr(0, bar));
  const std::string hash = decode_base64(rest.substr(bar + 1));
  return !salt.empty() && !hash.empty() && hash_name(name, salt) == hash;
}

bool matches_hosts(const std::string& name, std::string_view hosts) {
  if (hosts.starts_with("|1|")) return matches_hashed(name, hosts);
  bool matches = false;
  while (!hosts.empty()) {
    const std::size_t end = std::min(hosts.find(','), hosts.size());
    std::string pattern = lower(hosts.substr(0, end));
    hosts.remove_prefix(std::min(end + 1, hosts.size()));
    const bool negated = pattern.starts_with('!');
    if (!matches_pattern(name, std::string_view(pattern).substr(negated ? 1 : 0))) continue;
    if (negated) return false;
    matches = true;
  }
  return matches;
}

Line parse_line(std::string_view text) {
  Line line;
  std::string_view word = next_word(text);
  if (word.starts_with('@')) {
    line.marker = word == "@revoked" ? Line::Marker::revoked : Line::Marker::other;
    word = next_word(text);
  }
  line.hosts = word;
  next_word(text);  // the type, which the key repeats
  line.key = next_word(text);
  return line;
}

/// Calls `visit` with each line that is about `name`.
void for_each_line(const std::vector<KnownHostsFile>& files, const std::string& name,
                   const std::function<void(const KnownHostsFile&, int, const Line&)>& visit) {
  for (const KnownHostsFile& file : files) {
    std::string_view text = file.text;
    for (int number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view row = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (row.ends_with('\r')) row.remove_suffix(1);
      const std::size_t start = row.find_first_not_of(" \t");
      if (start == std::string_view::npos || row[start] == '#') continue;
      const Line line = parse_line(row);
      if (matches_hosts(name, line.hosts)) visit(file, number, line);
    }
  }
}

bool usable(const HostKey& key) {
  return std::find(k_usable_types.begin(), k_usable_types.end(), key.type) != k_usable_types.end();
}

/// The answer of the lines for exactly this name.
KnownHostsAnswer look_up_name(const std::vector<KnownHostsFile>& files, const std::string& name,
                              const HostKey& key) {
  using Verdict = KnownHostsAnswer::Verdict;
  KnownHostsAnswer answer;
  for_each_line(files, name, [&](const KnownHostsFile& file, int number, const Line& line) {
    if (line.marker == Line::Marker::other) return;
    const HostKey listed = parse_host_key(line.key);
    if (listed.type.empty()) {
      answer.malformed.push_back(file.path + ":" + std::to_string(number));
      return;
    }
    const bool same = listed == key;
    if (line.marker == Line::Marker::revoked) {
      if (same) answer = {Verdict::revoked, file.path, number, listed, answer.malformed};
    } else if (answer.verdict != Verdict::revoked && same) {
      answer.verdict = Verdict::known;
    } else if (answer.verdict == Verdict::unknown ||
               (answer.verdict == Verdict::changed && answer.expected.type != key.type &&
                listed.type == key.type)) {
      if (usable(listed)) answer = {Verdict::changed, file.path, number, listed, answer.malformed};
    }
  });
  return answer;
}

bool falls_back(const HostName& name) {
  return name.alias.empty() && name.port != 22;
}

}  // namespace

std::string HostName::entry() const {
  if (!alias.empty()) return lower(alias);
  return port == 22 ? lower(host) : "[" + lower(host) + "]:" + std::to_string(port);
}

HostKey parse_host_key(std::string_view base64) {
  HostKey key{{}, decode_base64(base64)};
  if (key.blob.size() < 4) return {};
  std::size_t length = 0;
  for (int i = 0; i < 4; ++i) {
    length = length << 8 | static_cast<unsigned char>(key.blob[static_cast<std::size_t>(i)]);
  }
  // A type and nothing behind it is not a key.
  if (length == 0 || length > 64 || key.blob.size() <= 8 + length) return {};
  key.type = key.blob.substr(4, length);
  return key;
}

std::string fingerprint(const HostKey& key) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(bytes_of(key.blob), key.blob.size(), digest.data());
  std::string text = encode_base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
  while (text.ends_with('=')) text.pop_back();
  return "SHA256:" + text;
}

KnownHostsAnswer look_up_host_key(const std::vector<KnownHostsFile>& files, const HostName& name,
                                  const HostKey& key) {
  using Verdict = KnownHostsAnswer::Verdict;
  KnownHostsAnswer answer = look_up_name(files, name.entry(), key);
  if (answer.verdict != Verdict::unknown || !falls_back(name)) return answer;
  const KnownHostsAnswer plain = look_up_name(files, lower(name.host), key);
  if (plain.verdict == Verdict::known || plain.verdict == Verdict::revoked) return plain;
  return answer;
}

std::set<std::string> known_key_types(const std::vector<KnownHostsFile>& files,
                                      const HostName& name) {
  std::set<std::string> types;
  const auto collect = [&](const KnownHostsFile&, int, const Line& line) {
    const HostKey key = parse_host_key(line.key);
    if (line.marker == Line::Marker::none && usable(key)) types.insert(key.type);
  };
  for_each_line(files, name.entry(), collect);
  if (types.empty() && falls_back(name)) for_each_line(files, lower(name.host), collect);
  return types;
}

std::string known_hosts_line(const HostName& name, const HostKey& key, std::string_view salt) {
  const std::string entry = name.entry();
  const std::string host =
      salt.empty() ? entry
                   : "|1|" + encode_base64(salt) + "|" + encode_base64(hash_name(entry, salt));
  return host + " " + key.type + " " + encode_base64(key.blob) + "\n";
}

}  // namespace stab
