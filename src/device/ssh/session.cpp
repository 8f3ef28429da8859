// SPDX-License-Identifier: Apache-2.0
#include "ssh/session.h"

#include <poll.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "stab/core/error.h"

namespace stab {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int k_tick_ms = 100;

struct AlgorithmOption {
  const char* name;
  ssh_options_e option;
  ssh_options_e second;
};

constexpr AlgorithmOption k_algorithms[] = {
    {"kexalgorithms", SSH_OPTIONS_KEY_EXCHANGE, SSH_OPTIONS_KEY_EXCHANGE},
    {"ciphers", SSH_OPTIONS_CIPHERS_C_S, SSH_OPTIONS_CIPHERS_S_C},
    {"macs", SSH_OPTIONS_HMAC_C_S, SSH_OPTIONS_HMAC_S_C},
};

constexpr std::string_view k_host_key_algorithms =
    "ssh-ed25519,ecdsa-sha2-nistp256,ecdsa-sha2-nistp384,ecdsa-sha2-nistp521,rsa-sha2-512,"
    "rsa-sha2-256";

/// The kind of key behind a signature algorithm.
std::string_view key_type(std::string_view algorithm) {
  return algorithm.starts_with("rsa-sha2-") ? "ssh-rsa" : algorithm;
}

/// The algorithms for host keys, those of known kinds first; certificates and hardware keys are not
/// for libssh.
std::string host_key_algorithms(std::string_view list, const std::set<std::string>& known) {
  std::vector<std::string_view> algorithms;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (word.find('@') == std::string_view::npos) algorithms.push_back(word);
  }
  std::stable_partition(algorithms.begin(), algorithms.end(), [&](std::string_view algorithm) {
    return known.contains(std::string(key_type(algorithm)));
  });
  std::string joined;
  for (const std::string_view algorithm : algorithms) {
    joined += (joined.empty() ? "" : ",") + std::string(algorithm);
  }
  return joined;
}

}  // namespace

SshSession::SshSession(SshRoute route, const SshSettings& settings,
                       const std::set<std::string>& key_types)
    : route_(std::move(route)), known_before_(!key_types.empty()), session_(ssh_new()) {
  if (session_ == nullptr) {
    throw Error(ErrorKind::internal, "cannot make an SSH session", "", "libssh has no memory");
  }
  const int off = 0;
  const socket_t socket = route_.socket.get();
  // The connection is ours, and so are configuration and known_hosts: libssh gets neither a name to
  // look up nor a file.
  set(SSH_OPTIONS_PROCESS_CONFIG, &off);
  set(SSH_OPTIONS_HOST, "device");
  set(SSH_OPTIONS_KNOWNHOSTS, "/dev/null");
  set(SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null");
  set(SSH_OPTIONS_FD, &socket);
  if (ssh_options_set(session_, SSH_OPTIONS_USER, settings.user.c_str()) != SSH_OK) {
    const std::string why = ssh_get_error(session_);
    ssh_free(session_);
    throw Error(ErrorKind::usage, "cannot log in as", settings.user,
                "this is not a user name" + (why.empty() ? "" : " (" + why + ")"));
  }
  for (const auto& [name, option, second] : k_algorithms) {
    const auto told = settings.algorithms.find(name);
    if (told == settings.algorithms.end()) continue;
    // A list without anything that libssh knows leaves its own.
    set(option, told->second.c_str());
    set(second, told->second.c_str());
  }
  const auto told = settings.algorithms.find("hostkeyalgorithms");
  const std::string algorithms = host_key_algorithms(
      told == settings.algorithms.end() ? k_host_key_algorithms : std::string_view(told->second),
      key_types);
  set(SSH_OPTIONS_HOSTKEYS, algorithms.c_str());
  ssh_set_counters(session_, &counter_, nullptr);
  ssh_set_blocking(session_, 0);
}

SshSession::~SshSession() {
  if (alive()) {
    ssh_disconnect(session_);
  } else {
    ssh_silent_disconnect(session_);
  }
  ssh_free(session_);
}

void SshSession::set(ssh_options_e option, const void* value) {
  ssh_options_set(session_, option, value);
}

bool SshSession::alive() const {
  return ssh_is_connected(session_) != 0 &&
         (ssh_get_status(session_) & (SSH_CLOSED | SSH_CLOSED_ERROR)) == 0;
}

std::string SshSession::reason() {
  std::string text = ssh_get_error(session_);
  for (const std::string_view prefix : {"Socket error: ", "Received SSH_MSG_DISCONNECT: "}) {
    if (text.starts_with(prefix)) text.erase(0, prefix.size());
  }
  if (text.empty() || text == "disconnected") text = "the other side closed the connection";
  return text + route_.proxy_words();
}

std::string SshSession::banner() const {
  const char* banner = ssh_get_serverbanner(session_);
  return banner == nullptr ? "" : banner;
}

SshSession::Activity SshSession::activity() const {
  return {counter_.in_bytes + counter_.out_bytes, ssh_get_poll_flags(session_)};
}

SshSession::Waited SshSession::wait(const std::function<int()>& call, int again,
                                    std::chrono::milliseconds limit, const StopRequested& stop,
                                    int& result) {
  const Clock::time_point deadline = Clock::now() + limit;
  while ((result = call()) == again) {
    if (!alive()) return Waited::lost;
    if (Clock::now() >= deadline) return Waited::timed_out;
    heed_stop(stop, route_.peer);
    route_.acknowledge();
    pollfd wait{route_.socket.get(), POLLIN, 0};
    if ((ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0) wait.events |= POLLOUT;
    poll(&wait, 1, k_tick_ms);
  }
  return Waited::done;
}

void SshSession::exchange_keys(const SshSettings& settings, const SshLimits& limits,
                               const StopRequested& stop) {
  const std::chrono::milliseconds for_banner = settings.connect_timeout.value_or(limits.connect);
  int result = SSH_AGAIN;
  bool greeted = false, complete = false;
  const auto step = [&] {
    const int state = ssh_connect(session_);
    greeted = ssh_get_serverbanner(session_) != nullptr;
    complete = state == SSH_OK;
    return state == SSH_AGAIN && greeted ? SSH_OK : state;
  };
  Waited waited = wait(step, SSH_AGAIN, for_banner, stop, result);
  if (waited == Waited::done && result == SSH_OK) {
    waited =
        wait([&] { return ssh_connect(session_); }, SSH_AGAIN, limits.key_exchange, stop, result);
  }
  if (waited == Waited::done && result == SSH_OK) return;
  const std::string address = settings.address();
  if (!greeted && waited == Waited::timed_out) {
    throw Error(ErrorKind::device, "cannot connect to", address,
                route_.peer + " accepts the connection but says nothing for " +
                    duration_text(for_banner) + route_.proxy_words(),
                "whether an SSH server is behind this port");
  }
  if (!greeted) {
    throw Error(ErrorKind::device, "cannot connect to", address,
                route_.peer + " does not speak SSH (" + reason() + ")", "--port");
  }
  throw Error(ErrorKind::device, "cannot agree on keys with", address,
              waited == Waited::timed_out
                  ? "the key exchange does not end within " + duration_text(limits.key_exchange)
                  : reason(),
              known_before_
                  ? "whether the device was set up anew: its host keys are not those of before"
                  : "");
}

HostKey SshSession::host_key() const {
  ssh_key key = nullptr;
  char* base64 = nullptr;
  HostKey result;
  if (ssh_get_server_publickey(session_, &key) == SSH_OK &&
      ssh_pki_export_pubkey_base64(key, &base64) == SSH_OK) {
    result = parse_host_key(base64);
  }
  ssh_string_free_char(base64);
  ssh_key_free(key);
  return result;
}

}  // namespace stab
