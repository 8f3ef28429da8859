// SPDX-License-Identifier: Apache-2.0
// A TCP proxy on 127.0.0.1 that makes a link slow, silent or short.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <thread>

namespace stab::test {

class TcpProxy {
 public:
  /// Forwards to `port` of 127.0.0.1, each direction `delay` late. With port 0 it accepts and says
  /// nothing.
  explicit TcpProxy(int port, std::chrono::milliseconds delay = {});
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return listen_port_; }
  /// From now on nothing passes in either direction, and nothing is closed.
  void stall() { stalled_ = true; }
  /// Closes all connections now.
  void cut() { cut_ = true; }
  /// Closes a connection once so many bytes went to the server (or, from it).
  void cut_after_sent(std::uint64_t bytes) { most_sent_ = bytes; }
  void cut_after_received(std::uint64_t bytes) { most_received_ = bytes; }

 private:
  void loop();

  int target_port_;
  std::chrono::milliseconds delay_;
  int listener_ = -1;
  int listen_port_ = 0;
  std::atomic<bool> quit_ = false;
  std::atomic<bool> stalled_ = false;
  std::atomic<bool> cut_ = false;
  std::atomic<std::uint64_t> most_sent_ = std::numeric_limits<std::uint64_t>::max();
  std::atomic<std::uint64_t> most_received_ = std::numeric_limits<std::uint64_t>::max();
  std::thread thread_;
};

/// A port of 127.0.0.1 on which nobody listens.
int closed_port();

}  // namespace stab::test
