// SPDX-License-Identifier: Apache-2.0
#include "ssh/route.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "stab/core/error.h"

namespace stab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr milliseconds k_tick{100};

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  std::string text;  // "127.0.0.1 port 22"
};

/// What a look-up that may outlive its caller leaves behind.
struct Lookup {
  std::mutex mutex;
  std::condition_variable done;
  bool finished = false;
  int error = 0;
  int system_error = 0;
  std::vector<Address> addresses;
};

Address make_address(const addrinfo& entry, int port) {
  Address address;
  std::memcpy(&address.storage, entry.ai_addr, entry.ai_addrlen);
  address.size = entry.ai_addrlen;
  std::array<char, NI_MAXHOST> host{};
  getnameinfo(entry.ai_addr, entry.ai_addrlen, host.data(), host.size(), nullptr, 0,
              NI_NUMERICHOST);
  address.text = std::string(host.data()) + " port " + std::to_string(port);
  return address;
}

void look_up(const std::string& host, int port, Lookup& lookup) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  const std::lock_guard lock(lookup.mutex);
  lookup.system_error = errno;
  lookup.error = error;
  for (const addrinfo* entry = list; error == 0 && entry != nullptr; entry = entry->ai_next) {
    lookup.addresses.push_back(make_address(*entry, port));
  }
  if (list != nullptr) freeaddrinfo(list);
  lookup.finished = true;
  lookup.done.notify_all();
}

/// The host's addresses. A resolver cannot be interrupted, so it works in a thread that may be left
/// behind.
std::vector<Address> resolve(const SshSettings& settings, milliseconds limit,
                             const StopRequested& stop) {
  const auto lookup = std::make_shared<Lookup>();
  std::thread([lookup, host = settings.host, port = settings.port] {
    look_up(host, port, *lookup);
  }).detach();
  const Clock::time_point deadline = Clock::now() + limit;
  std::unique_lock lock(lookup->mutex);
  while (!lookup->finished) {
    lookup->done.wait_for(lock, k_tick);
    heed_stop(stop, settings.address());
    if (!lookup->finished && Clock::now() >= deadline) {
      throw Error(ErrorKind::device, "cannot find host", settings.host,
                  "no name server answers within " + duration_text(limit),
                  "its address instead of its name");
    }
  }
  if (lookup->error != 0) {
    const std::string why = lookup->error == EAI_SYSTEM
                                ? std::generic_category().message(lookup->system_error)
                                : gai_strerror(lookup->error);
    throw Error(ErrorKind::device, "cannot find host", settings.host,
                "the name does not resolve (" + why + ")",
                "its address, or an alias of ~/.ssh/config");
  }
  return std::move(lookup->addresses);
}

void set_option(const Descriptor& socket, int level, int option, int value) {
  setsockopt(socket.get(), level, option, &value, sizeof value);
}

/// Small packets at once, and a dead peer found by the kernel, too.
void tune(const Descriptor& socket, milliseconds silence) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(silence.count()));
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

/// One address: the connected socket, or the number of the error (ETIMEDOUT when time is up).
int connect_one(const Address& address, Clock::time_point deadline, const std::string& name,
                const StopRequested& stop, Descriptor& connected) {
  Descriptor socket(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.open()) return errno;
  const auto* target = reinterpret_cast<const sockaddr*>(&address.storage);
  if (connect(socket.get(), target, address.size) != 0) {
    if (errno != EINPROGRESS && errno != EINTR) return errno;
    pollfd wait{socket.get(), POLLOUT, 0};
    while (poll(&wait, 1, static_cast<int>(k_tick.count())) <= 0) {
      heed_stop(stop, name);
      if (Clock::now() >= deadline) return ETIMEDOUT;
    }
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return error;
  }
  connected = std::move(socket);
  return 0;
}

struct Failure {
  std::string peer;
  int error = 0;
};

/// One sentence for all the addresses that failed.
[[noreturn]] void throw_unreachable(const SshSettings& settings,
                                    const std::vector<Failure>& failures, milliseconds limit) {
  std::string why;
  bool refused = false, silent = false;
  for (const auto& [peer, error] : failures) {
    if (!why.empty()) why += "; ";
    if (error == ECONNREFUSED) {
      refused = true;
      why += peer + " refuses the connection";
    } else if (error == ETIMEDOUT) {
      silent = true;
      why += peer + " does not answer within " + duration_text(limit);
    } else {
      why += "there is no way to " + peer + " (" + std::generic_category().message(error) + ")";
    }
  }
  throw Error(ErrorKind::device, "cannot connect to", settings.address(), why,
              refused  ? "--port, or starting an SSH server on the device"
              : silent ? "whether the device is on, the address right and no firewall between"
                       : "the address, or the network of this machine");
}

SshRoute connect_directly(const SshSettings& settings, milliseconds limit, const SshLimits& limits,
                          const StopRequested& stop) {
  const std::vector<Address> addresses = resolve(settings, limit, stop);
  const Clock::time_point deadline = Clock::now() + limit;
  std::vector<Failure> failures;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const Clock::time_point begin = Clock::now();
    const auto share = (deadline - begin) / static_cast<int>(addresses.size() - i);
    SshRoute route;
    const int error =
        connect_one(addresses[i], begin + share, settings.address(), stop, route.socket);
    if (error == 0) {
      route.connect_time =
          std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
      route.peer = addresses[i].text;
      tune(route.socket, limits.silence);
      return route;
    }
    failures.push_back({addresses[i].text, error});
  }
  throw_unreachable(settings, failures, limit);
}

SshRoute start_proxy(const SshSettings& settings) {
  SshRoute route;
  auto [near_end, far_end] = make_socket_pair();
  auto [error, error_end] = make_pipe();
  const bool command = !settings.proxy_command.empty();
  route.proxy = std::make_unique<ChildProcess>(
      command ? std::vector<std::string>{"/bin/sh", "-c", "exec " + settings.proxy_command}
              : settings.proxy_jump,
      far_end, far_end, error_end);
  route.socket = std::move(near_end);
  route.proxy_error = std::move(error);
  set_non_blocking(route.socket);
  set_non_blocking(route.proxy_error);
  route.peer = command ? "proxy '" + settings.proxy_command + "'"
                       : "jump host '" + settings.proxy_jump.back() + "'";
  return route;
}

}  // namespace

void SshRoute::acknowledge() const {
  // The kernel forgets this again. A proxy's socket pair knows no such option.
  set_option(socket, IPPROTO_TCP, TCP_QUICKACK, 1);
}

std::string SshRoute::proxy_words() {
  if (!proxy) return {};
  std::array<char, 4096> buffer;
  pollfd wait{proxy_error.get(), POLLIN, 0};
  while (proxy_text_.size() < (64U << 10) && poll(&wait, 1, 200) > 0) {
    const ssize_t got = read(proxy_error.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    proxy_text_.append(buffer.data(), static_cast<std::size_t>(got));
  }
  std::string text = proxy_text_;
  std::replace(text.begin(), text.end(), '\r', '\n');
  while (text.ends_with('\n')) text.pop_back();
  text = text.substr(text.find_last_of('\n') + 1);
  std::erase_if(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return text.empty() ? "" : "; " + peer + " says: " + text.substr(0, 300);
}

SshRoute open_route(const SshSettings& settings, const SshLimits& limits,
                    const StopRequested& stop) {
  heed_stop(stop, settings.address());
  if (!settings.proxy_command.empty() || !settings.proxy_jump.empty()) return start_proxy(settings);
  return connect_directly(settings, settings.connect_timeout.value_or(limits.connect), limits,
                          stop);
}

void heed_stop(const StopRequested& stop, const std::string& address) {
  if (stop && stop()) {
    throw Error(ErrorKind::interrupted, "stopped while connecting to", address, "you asked for it");
  }
}

std::string duration_text(milliseconds duration) {
  const auto count = duration.count();
  if (count % 1000 == 0) return std::to_string(count / 1000) + " s";
  return std::to_string(count) + " ms";
}

}  // namespace stab
