// SPDX-License-Identifier: Apache-2.0
// Whole folders: temporary ones, copies of file lists, and a replacement that happens completely or
// not at all.
#pragma once

#include <filesystem>
#include <functional>

#include "stab/core/file_list.h"

namespace stab {

/// A folder of its own below the system's temporary folder, readable by this user only, removed
/// with the object.
class TemporaryFolder {
 public:
  /// Throws Error(output) when there is none to be had.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Makes `folder` what `fill` puts into an empty temporary sibling, with all its files on disk. An
/// existing folder is swapped out in one step and then removed; when anything fails, `fill`
/// included, it is as it was, and no sibling is left. Missing folders above it are made. Throws
/// Error(output), or what `fill` throws.
void replace_folder_atomically(const std::filesystem::path& folder,
                               const std::function<void(const std::filesystem::path&)>& fill);

/// Moves `ready`, a whole folder beside `folder`, to `folder`, which is swapped out in one step and
/// then removed. Throws Error(output); then both are as they were.
void replace_folder_by(const std::filesystem::path& folder, const std::filesystem::path& ready);

/// Puts the files of a list into the empty folder `folder`: content, modes and links. Content is
/// hashed while it is copied: a file that is no longer what the list says throws Error(input).
/// Folders stay writable by their owner, or the next run could not replace them.
void copy_files(const FileList& files, const std::filesystem::path& folder);

/// Removes a file or a folder with everything in it, folders without write permission included.
/// Links are removed, not followed. Never throws; false when something is left.
bool remove_tree(const std::filesystem::path& path);

}  // namespace stab
