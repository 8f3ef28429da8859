// SPDX-License-Identifier: Apache-2.0
// A file descriptor that closes itself, and the reasons of failed calls, for the files of this
// folder.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace stab {

class FileDescriptor {
 public:
  explicit FileDescriptor(int value) : value_(value) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;

  int get() const { return value_; }
  bool open() const { return value_ >= 0; }
  /// False when the file system reports a late failure (NFS, quota).
  bool close() { return value_ < 0 || ::close(std::exchange(value_, -1)) == 0; }

 private:
  int value_;
};

/// The system's words for errno.
inline std::string last_reason() {
  return std::generic_category().message(errno);
}

/// Writes all of `bytes`; false with errno set when it cannot.
inline bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace stab
