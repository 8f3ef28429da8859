// SPDX-License-Identifier: Apache-2.0
// Builds zip archives entry by entry, hostile ones too (any path, doubled entries, links anywhere).
#pragma once

#include <string>

namespace stab::test {

class ZipBuilder {
 public:
  /// Adds a file, stored without compression.
  ZipBuilder& file(const std::string& path, const std::string& content, unsigned mode = 0644);
  /// Adds a symbolic link.
  ZipBuilder& link(const std::string& path, const std::string& target);
  /// The archive so far.
  std::string bytes() const;

 private:
  void add(const std::string& path, const std::string& content, unsigned mode);

  std::string entries_;
  std::string directory_;
  unsigned count_ = 0;
};

}  // namespace stab::test
