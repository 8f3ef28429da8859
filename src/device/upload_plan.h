// SPDX-License-Identifier: Apache-2.0
// What an upload sends, links and removes. Pure: what the device has was asked before.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stab/device/file_tree.h"
#include "stab/device/tar_stream.h"

namespace stab {

/// A tree and its FileTree::name().
struct NamedTree {
  const FileTree* tree = nullptr;
  std::string name;
};

/// Files on the device: their content and execute bit (identity_of), and where they are:
/// "TREE/PATH" below the work folder.
using KnownFiles = std::unordered_map<std::string, std::string>;

std::string identity_of(bool executable, std::string_view sha256);

struct UploadAmount {
  std::uint64_t files = 0;
  std::uint64_t linked = 0;   ///< there already, elsewhere
  std::uint64_t content = 0;  ///< bytes of the files
};

struct UploadPlan {
  std::set<std::string> build;    ///< trees
  std::set<std::string> dropped;  ///< trees of which something is there that cannot be judged
  std::string orders;             ///< lines for receive_script() before the archive
  std::vector<TarMember> members;
  std::uint64_t need = 0;  ///< bytes on the device, in whole blocks
  UploadAmount amount;
  KnownFiles files;  ///< where they will be afterwards
};

/// What the device has of the trees that are to be built.
struct TreesThere {
  std::set<std::string> doubtful;  ///< something of them is there
  std::set<std::string> dropped;   ///< something is there that cannot be judged
  std::set<std::string> good;      ///< "TREE/PATH" of files that are there and right
  std::string orders;              ///< remove what is wrong
};

/// Everything of `trees` that is not there. `known`: files of other trees that can be linked to.
/// `with_sizes`: the device cannot hash, and is told sizes.
UploadPlan plan_upload(const std::vector<NamedTree>& trees, const TreesThere& there,
                       const KnownFiles& known, bool with_sizes);

}  // namespace stab
