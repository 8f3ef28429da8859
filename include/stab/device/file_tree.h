// SPDX-License-Identifier: Apache-2.0
// A folder as it shall be on the device: what is in it, with sizes, hashes, execute bits and links,
// and where bytes come from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stab/core/file_list.h"

namespace stab {

/// Where the bytes of a file come from: a file here, or these bytes themselves.
using Content = std::variant<std::filesystem::path, std::string>;

/// A regular file or a symbolic link. Folders follow from the paths.
struct TreeFile {
  std::string path;  ///< relative, '/' between names; no empty, "." or ".." name, no control
                     ///< character, no backslash
  std::uint64_t size = 0;
  bool executable = false;  ///< becomes mode 0755, otherwise 0644
  std::string sha256;       ///< of the content; empty for a link
  std::string link_target;  ///< of a symbolic link: relative, and it stays inside the tree; empty
                            ///< for a file
  Content content;

  bool is_link() const { return !link_target.empty(); }
};

/// The content of one folder below the work folder. Its name there tells its content: the same name
/// is the same bytes.
class FileTree {
 public:
  /// `kind` is a word of lower-case letters: "rt", "pkg", "in".
  explicit FileTree(std::string kind);

  /// The files and links of a list, with the sizes and hashes that it tells; folders follow from
  /// the paths. A file is executable when its owner may execute it. Throws Error(input) for a path
  /// or target that cannot be carried over.
  static FileTree of_list(std::string kind, const FileList& list);

  /// Adds a file of this machine, whose content is read and hashed now. Throws Error(input).
  void add_file(std::string path, const std::filesystem::path& source, bool executable);
  /// Adds a file with these bytes. Throws Error(input) for a bad or doubled path.
  void add_bytes(std::string path, std::string bytes, bool executable = false);
  /// Adds a symbolic link. Throws Error(input) where its target is absolute or leads out of the
  /// tree.
  void add_link(std::string path, std::string target);

  const std::string& kind() const { return kind_; }
  /// Sorted by path.
  const std::vector<TreeFile>& files() const { return files_; }
  /// Content of all regular files.
  std::uint64_t bytes() const;
  /// "rt-" and 16 digits of the SHA-256 over paths, modes, hashes and targets.
  std::string name() const;

 private:
  void add(TreeFile file);

  std::string kind_;
  std::vector<TreeFile> files_;
};

/// True for a name that may stand below the work folder: `[A-Za-z0-9._-]`, no leading dot or dash,
/// at most 100 characters.
bool is_plain_name(std::string_view name);

}  // namespace stab
