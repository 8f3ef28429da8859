// SPDX-License-Identifier: Apache-2.0
#include "descriptor.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "stab/core/error.h"

namespace stab {
namespace {

void require(bool made, const char* thing) {
  if (made) return;
  throw Error(ErrorKind::internal, std::string("cannot make a ") + thing, "",
              std::generic_category().message(errno));
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    close();
    number_ = other.release();
  }
  return *this;
}

void Descriptor::close() {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

std::pair<Descriptor, Descriptor> make_pipe() {
  int ends[2];
  require(pipe2(ends, O_CLOEXEC) == 0, "pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

std::pair<Descriptor, Descriptor> make_socket_pair() {
  int ends[2];
  require(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socket pair");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor make_event() {
  Descriptor event(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  require(event.open(), "event counter");
  return event;
}

void raise_event(const Descriptor& event) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(event.get(), &one, sizeof one);
}

void clear_event(const Descriptor& event) {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = read(event.get(), &count, sizeof count);
}

void set_non_blocking(const Descriptor& descriptor) {
  const int flags = fcntl(descriptor.get(), F_GETFL);
  require(flags >= 0 && fcntl(descriptor.get(), F_SETFL, flags | O_NONBLOCK) == 0,
          "descriptor non-blocking");
}

}  // namespace stab
