// SPDX-License-Identifier: Apache-2.0
// A folder of this machine as it is, to be uploaded.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "stab/device/file_tree.h"

namespace stab::test {

/// Its files and links; the owner's right to execute decides.
inline FileTree tree_of_folder(const std::string& kind, const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  // In order, so that each of them joins the tree at its end.
  std::map<std::string, fs::directory_entry> entries;
  const std::size_t prefix = (folder / "").native().size();
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    entries.emplace(entry.path().native().substr(prefix), entry);
  }
  FileTree tree(kind);
  for (const auto& [path, entry] : entries) {
    if (entry.is_symlink()) {
      tree.add_link(path, fs::read_symlink(entry).string());
    } else if (entry.is_regular_file()) {
      const fs::perms owner = entry.status().permissions() & fs::perms::owner_exec;
      tree.add_file(path, entry.path(), owner != fs::perms::none);
    }
  }
  return tree;
}

}  // namespace stab::test
