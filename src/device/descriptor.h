// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself, and the ways we make pairs of them.
#pragma once

#include <utility>

namespace stab {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;

  int get() const { return number_; }
  bool open() const { return number_ >= 0; }
  /// Gives it away.
  int release() { return std::exchange(number_, -1); }
  void close();

 private:
  int number_;
};

/// Two ends, closed on exec: {read, write} of a pipe. Throws Error(internal) when the process has
/// too many files open.
std::pair<Descriptor, Descriptor> make_pipe();

/// The two ends of a stream socket pair, closed on exec; errors as above.
std::pair<Descriptor, Descriptor> make_socket_pair();

/// A counter for poll() (eventfd), closed on exec and non-blocking; errors as above.
Descriptor make_event();

/// Makes an event readable, or no longer.
void raise_event(const Descriptor& event);
void clear_event(const Descriptor& event);

void set_non_blocking(const Descriptor& descriptor);

}  // namespace stab
