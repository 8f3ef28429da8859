// SPDX-License-Identifier: Apache-2.0
#include "ssh/session.h"

#include <poll.h>

#include <string_view>
#include <utility>

#include "ssh/algorithms.h"
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

/// What the first keys are for, where others may be faster: more than it takes to get to know a
/// device, less than an upload that is worth it.
constexpr std::uint64_t k_first_keys_bytes = 1'000'000;
constexpr std::uint64_t k_usual_bytes = 0;  // as libssh has it, RFC 4344

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
  const auto told = [&settings](const char* name) {
    const auto found = settings.algorithms.find(name);
    return found == settings.algorithms.end() ? std::string() : found->second;
  };
  for (const auto& [name, option, second] : k_algorithms) {
    const std::string list = told(name);
    if (list.empty()) continue;
    // A list without anything that libssh knows leaves its own.
    set(option, list.c_str());
    set(second, list.c_str());
  }
  set(SSH_OPTIONS_HOSTKEYS, host_key_algorithms(told("hostkeyalgorithms"), key_types).c_str());
  if (computes_aes_gcm()) faster_ciphers_ = with_aes_gcm_first(told("ciphers"));
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

bool SshSession::is_openssh() const {
  return banner().find("OpenSSH") != std::string::npos;
}

void SshSession::prefer_aes() {
  if (faster_ciphers_.empty()) return;
  set(SSH_OPTIONS_CIPHERS_C_S, faster_ciphers_.c_str());
  set(SSH_OPTIONS_CIPHERS_S_C, faster_ciphers_.c_str());
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
  bool greeted = false;
  const auto step = [&] {
    const int state = ssh_connect(session_);
    greeted = ssh_get_serverbanner(session_) != nullptr;
    return state == SSH_AGAIN && greeted ? SSH_OK : state;
  };
  Waited waited = wait(step, SSH_AGAIN, for_banner, stop, result);
  if (waited == Waited::done && result == SSH_OK) {
    // Other servers may not know AES-GCM (dropbear). libssh takes the number over with the new
    // keys; a later change is for the keys after those.
    const bool may_change = is_openssh() && !faster_ciphers_.empty();
    const Clock::time_point begin = Clock::now();
    const auto next = [&] {
      const bool quick = Clock::now() - begin < limits.quick_key_exchange;
      set(SSH_OPTIONS_REKEY_DATA, may_change && quick ? &k_first_keys_bytes : &k_usual_bytes);
      return ssh_connect(session_);
    };
    waited = wait(next, SSH_AGAIN, limits.key_exchange, stop, result);
  }
  set(SSH_OPTIONS_REKEY_DATA, &k_usual_bytes);
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
