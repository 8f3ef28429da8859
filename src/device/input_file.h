// SPDX-License-Identifier: Apache-2.0
// A local file that is read from its beginning to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "descriptor.h"

namespace stab {

/// Without the buffer and the locale of a stream, which cost more than a small file's content.
class InputFile {
 public:
  InputFile() = default;  ///< none
  explicit InputFile(const std::filesystem::path& path);

  bool open() const { return descriptor_.open(); }
  /// Fills `into`; less only at the end of the file, or when it cannot be read: see failed().
  std::size_t read(std::span<char> into);
  bool failed() const { return failed_; }
  void close() { descriptor_.close(); }

 private:
  Descriptor descriptor_;
  bool failed_ = false;
};

/// Why a file is not sent that is not what was listed.
inline constexpr const char* k_file_changed = "it has changed since it was first read";

struct HashedFile {
  std::uint64_t size = 0;
  std::string sha256;
};

/// Nothing when the file cannot be read to its end.
std::optional<HashedFile> hash_file(const std::filesystem::path& path);

}  // namespace stab
