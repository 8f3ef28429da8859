// SPDX-License-Identifier: Apache-2.0
#include "ssh/algorithms.h"

#include <algorithm>
#include <functional>
#include <vector>

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

namespace stab {
namespace {

constexpr std::string_view k_host_key_algorithms =
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,"
    "rsa-sha2-256";

constexpr std::string_view k_ciphers =
    "chacha20-poly1305@openssh.com,aes256-gcm@openssh.com,aes128-gcm@openssh.com,aes256-ctr,"
    "aes192-ctr,aes128-ctr";

using Names = std::vector<std::string_view>;

Names split(std::string_view list) {
  Names names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    names.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

/// The list with the names that are `wanted` first.
std::string join_first(Names names, const std::function<bool(std::string_view)>& wanted) {
  std::stable_partition(names.begin(), names.end(), wanted);
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ',';
    list += name;
  }
  return list;
}

/// The kind of key behind a signature algorithm.
std::string_view key_type(std::string_view algorithm) {
  return algorithm.starts_with("rsa-sha2-") ? "ssh-rsa" : algorithm;
}

bool is_aes_gcm(std::string_view cipher) {
  return cipher == "aes128-gcm@openssh.com" || cipher == "aes256-gcm@openssh.com";
}

}  // namespace

std::string host_key_algorithms(std::string_view list, const std::set<std::string>& known) {
  Names names = split(list.empty() ? k_host_key_algorithms : list);
  std::erase_if(names, [](std::string_view name) { return name.find('@') != name.npos; });
  return join_first(std::move(names), [&known](std::string_view name) {
    return known.contains(std::string(key_type(name)));
  });
}

std::string with_aes_gcm_first(std::string_view ciphers) {
  if (ciphers.empty()) ciphers = k_ciphers;
  const std::string list = join_first(split(ciphers), is_aes_gcm);
  return list == ciphers ? "" : list;
}

bool computes_aes_gcm() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("aes") != 0 && __builtin_cpu_supports("pclmul") != 0;
#elif defined(__aarch64__)
  constexpr unsigned long k_aes_and_pmull = 3UL << 3U;  // HWCAP_AES, HWCAP_PMULL
  return (getauxval(AT_HWCAP) & k_aes_and_pmull) == k_aes_and_pmull;
#else
  return false;
#endif
}

}  // namespace stab
