// SPDX-License-Identifier: Apache-2.0
// A temporary folder that lives as long as the object; and reading and writing whole small files in
// it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stab::test {

class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Writes `text` to the file `name` below this folder, making the folders between; returns its
  /// path.
  std::filesystem::path write(std::string_view name, std::string_view text) const;

 private:
  std::filesystem::path path_;
};

/// The whole content of a file; throws std::runtime_error naming it when it cannot be read.
std::string read_text(const std::filesystem::path& file);

}  // namespace stab::test
