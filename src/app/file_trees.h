// SPDX-License-Identifier: Apache-2.0
// A list of files of this machine as a tree for the device.
#pragma once

#include <string>

#include "stab/core/file_list.h"
#include "stab/device/file_tree.h"

namespace stab {

/// Folders follow from the paths; the execute bit of the owner decides. Throws Error(input) for
/// names that cannot be carried over.
inline FileTree tree_of(const std::string& kind, const FileList& files) {
  FileTree tree(kind);
  for (const FileEntry& entry : files) {
    const bool executable = (entry.mode & 0100U) != 0;
    if (entry.kind == FileKind::link) {
      tree.add_link(entry.path, entry.link_target);
    } else if (entry.kind == FileKind::regular && entry.text) {
      tree.add_bytes(entry.path, *entry.text, executable);
    } else if (entry.kind == FileKind::regular) {
      tree.add_file(entry.path, entry.source, executable);
    }
  }
  return tree;
}

}  // namespace stab
