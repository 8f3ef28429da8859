// SPDX-License-Identifier: Apache-2.0
// A tar archive as a stream of bytes, made while it is read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stab/device/file_tree.h"

namespace stab {

/// One member at `path`: a regular file, a symbolic link, or another name of a member before it.
struct TarMember {
  std::string path;
  std::uint64_t size = 0;
  bool executable = false;
  std::string link_target;  ///< of a symbolic link; otherwise empty
  std::string twin;         ///< path of a member before it whose file this is, too; otherwise empty
  Content content;
};

/// Writes members in the form that GNU tar and BusyBox both read, with owner 0, times 0 and modes
/// 0755 or 0644; needs memory for a few blocks only.
class TarStream {
 public:
  explicit TarStream(std::vector<TarMember> members);
  ~TarStream();

  /// The next bytes, as many as fit; fewer at the end. Throws Error(input) when a file cannot be
  /// read or has not the announced size any more.
  std::size_t read(std::span<char> into);
  /// Bytes of file content handed out so far.
  std::uint64_t content_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stab
