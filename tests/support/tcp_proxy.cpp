// SPDX-License-Identifier: Apache-2.0
#include "support/tcp_proxy.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace stab::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t k_most_queued = 16U << 20;

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

/// A socket bound to a free port.
std::pair<int, int> bind_free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(descriptor, generic, size) != 0 || getsockname(descriptor, generic, &size) != 0) {
    throw std::runtime_error("cannot bind a port of 127.0.0.1");
  }
  return {descriptor, ntohs(address.sin_port)};
}

/// One direction of one connection.
struct Pipe {
  int from = -1;
  int to = -1;
  std::deque<std::pair<Clock::time_point, std::string>> queue;
  std::size_t queued = 0;
  std::uint64_t passed = 0;
  bool ended = false;

  bool read_some(std::chrono::milliseconds delay) {
    std::array<char, 65536> buffer;
    const ssize_t got = recv(from, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) {
      ended = true;
      return true;
    }
    queued += static_cast<std::size_t>(got);
    queue.emplace_back(Clock::now() + delay, std::string(buffer.data(), std::size_t(got)));
    // A sender that collects small packets is to wait for the link, not for our kernel's own delay.
    const int on = 1;
    setsockopt(from, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
    return true;
  }

  /// False when the connection is to be closed.
  bool write_some(std::uint64_t most) {
    while (!queue.empty() && queue.front().first <= Clock::now()) {
      std::string& bytes = queue.front().second;
      if (passed + bytes.size() > most) bytes.resize(most - std::min(most, passed));
      const ssize_t sent = send(to, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR;
      passed += static_cast<std::uint64_t>(sent);
      queued -= static_cast<std::size_t>(sent);
      if (passed >= most) return false;
      bytes.erase(0, static_cast<std::size_t>(sent));
      if (!bytes.empty()) return true;
      queue.pop_front();
    }
    if (ended && queue.empty()) shutdown(to, SHUT_WR);
    return true;
  }
};

struct Connection {
  Pipe up;
  Pipe down;

  void close_both() const {
    close(up.from);
    if (up.to >= 0) close(up.to);
  }
};

int connect_to(int port) {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return descriptor;
  }
  close(descriptor);
  return -1;
}

}  // namespace

TcpProxy::TcpProxy(int port, std::chrono::milliseconds delay) : target_port_(port), delay_(delay) {
  std::tie(listener_, listen_port_) = bind_free_port();
  if (listen(listener_, 64) != 0) throw std::runtime_error("cannot listen");
  thread_ = std::thread([this] { loop(); });
}

TcpProxy::~TcpProxy() {
  quit_ = true;
  thread_.join();
  close(listener_);
}

void TcpProxy::loop() {
  std::list<Connection> connections;
  while (!quit_) {
    std::vector<pollfd> waits{{listener_, POLLIN, 0}};
    bool late = false;
    for (const Connection& connection : connections) {
      for (const Pipe* pipe : {&connection.up, &connection.down}) {
        const bool open = pipe->from >= 0 && !pipe->ended && pipe->queued < k_most_queued;
        waits.push_back({open && !stalled_ ? pipe->from : -1, POLLIN, 0});
        late = late || !pipe->queue.empty();
      }
    }
    poll(waits.data(), waits.size(), late ? 1 : 10);
    if ((waits.front().revents & POLLIN) != 0) {
      const int near = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      const int on = 1;
      setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      const int far = target_port_ == 0 ? -1 : connect_to(target_port_);
      connections.push_back({{near, far, {}, 0, 0, false}, {far, near, {}, 0, 0, false}});
    }
    // Taken once: a cut that is asked for while we look at the connections is for the next round.
    const bool cut = cut_.exchange(false);
    for (auto connection = connections.begin(); connection != connections.end();) {
      bool keep = !cut;
      if (keep && !stalled_ && connection->up.to >= 0) {
        for (Pipe* pipe : {&connection->up, &connection->down}) {
          if (!pipe->ended && pipe->queued < k_most_queued) keep = pipe->read_some(delay_) && keep;
        }
        keep = keep && connection->up.write_some(most_sent_) &&
               connection->down.write_some(most_received_) &&
               !(connection->up.ended && connection->down.ended && connection->down.queue.empty());
      }
      if (keep) {
        ++connection;
      } else {
        connection->close_both();
        connection = connections.erase(connection);
      }
    }
  }
  for (const Connection& connection : connections) connection.close_both();
}

int closed_port() {
  const auto [descriptor, port] = bind_free_port();
  close(descriptor);
  return port;
}

}  // namespace stab::test
