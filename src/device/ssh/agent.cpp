// SPDX-License-Identifier: Apache-2.0
#include "ssh/agent.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>

namespace stab {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr char k_failure = 5;
constexpr char k_request_identities = 11;
constexpr char k_identities_answer = 12;
constexpr char k_sign_request = 13;
constexpr std::size_t k_most_bytes = 1U << 20;
constexpr std::size_t k_most_keys = 200;
constexpr int k_tick_ms = 100;

using GiveUp = std::function<bool()>;

std::string pack(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xffU);
  return bytes;
}

std::string pack(std::string_view text) {
  return pack(static_cast<std::uint32_t>(text.size())) + std::string(text);
}

std::uint32_t unpack(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// A length-prefixed string off the front; nothing when there is none.
std::optional<std::string> take_string(std::string_view& bytes) {
  if (bytes.size() < 4) return std::nullopt;
  const std::size_t size = unpack(bytes);
  if (size > bytes.size() - 4) return std::nullopt;
  std::string text(bytes.substr(4, size));
  bytes.remove_prefix(4 + size);
  return text;
}

bool write_all(int descriptor, std::string_view bytes, const GiveUp& give_up) {
  while (!bytes.empty()) {
    const ssize_t sent = send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (sent < 0) {
      pollfd wait{descriptor, POLLOUT, 0};
      poll(&wait, 1, k_tick_ms);
      if (give_up()) return false;
    }
  }
  return true;
}

std::optional<std::string> read_exactly(int descriptor, std::size_t count, const GiveUp& give_up) {
  std::string bytes(count, '\0');
  for (std::size_t have = 0; have < count;) {
    pollfd wait{descriptor, POLLIN, 0};
    if (poll(&wait, 1, k_tick_ms) <= 0) {
      if (give_up()) return std::nullopt;
      continue;
    }
    const ssize_t got = recv(descriptor, bytes.data() + have, count - have, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return std::nullopt;
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  return bytes;
}

/// One message without its length.
std::optional<std::string> read_message(int descriptor, const GiveUp& give_up) {
  const auto header = read_exactly(descriptor, 4, give_up);
  if (!header) return std::nullopt;
  const std::size_t size = unpack(*header);
  if (size == 0 || size > k_most_bytes) return std::nullopt;
  return read_exactly(descriptor, size, give_up);
}

std::optional<std::string> ask_agent(const std::string& path, const std::string& request,
                                     const GiveUp& give_up) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  const Descriptor agent(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const auto* target = reinterpret_cast<const sockaddr*>(&address);
  if (!agent.open() || connect(agent.get(), target, sizeof address) != 0) return std::nullopt;
  if (!write_all(agent.get(), pack(request), give_up)) return std::nullopt;
  return read_message(agent.get(), give_up);
}

GiveUp after(milliseconds limit, GiveUp other = {}) {
  return [deadline = Clock::now() + limit, other = std::move(other)] {
    return Clock::now() >= deadline || (other && other());
  };
}

}  // namespace

std::vector<AgentKey> list_agent_keys(const std::string& socket_path, milliseconds limit) {
  std::vector<AgentKey> keys;
  const auto message = ask_agent(socket_path, std::string(1, k_request_identities), after(limit));
  if (!message || message->size() < 5 || message->front() != k_identities_answer) return keys;
  std::string_view rest = std::string_view(*message).substr(5);
  while (!rest.empty() && keys.size() < k_most_keys) {
    auto blob = take_string(rest);
    auto comment = blob ? take_string(rest) : std::nullopt;
    if (!comment) break;
    keys.push_back({std::move(*blob), std::move(*comment)});
  }
  return keys;
}

SingleKeyAgent::SingleKeyAgent(std::string socket_path, AgentKey key, milliseconds limit,
                               StopRequested stop)
    : socket_path_(std::move(socket_path)),
      key_(std::move(key)),
      limit_(limit),
      stop_(std::move(stop)) {
  auto [near_end, far_end] = make_socket_pair();
  near_end_ = std::move(near_end);
  far_end_ = std::move(far_end);
  thread_ = std::thread([this] { serve(); });
}

SingleKeyAgent::~SingleKeyAgent() {
  quit_ = true;
  thread_.join();
}

void SingleKeyAgent::serve() {
  const GiveUp quit = [this] { return quit_.load(); };
  while (const auto request = read_message(near_end_.get(), quit)) {
    if (!write_all(near_end_.get(), pack(answer(*request)), quit)) break;
  }
  // So that libssh, which waits without a limit, sees the end.
  shutdown(near_end_.get(), SHUT_RDWR);
}

std::string SingleKeyAgent::answer(const std::string& request) {
  if (request.front() == k_request_identities) {
    return k_identities_answer + pack(std::uint32_t{1}) + pack(key_.blob) + pack(key_.comment);
  }
  if (request.front() == k_sign_request) {
    const GiveUp give_up = after(limit_, [this] { return quit_.load() || (stop_ && stop_()); });
    if (auto signature = ask_agent(socket_path_, request, give_up)) return *signature;
  }
  return std::string(1, k_failure);
}

}  // namespace stab
