// SPDX-License-Identifier: Apache-2.0
// The shell text of an upload. All of it comes after enter_work_folder_script().
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace stab {

/// Says of each tree that is there, under its name or in parts: "tree NAME", then "HASH  PATH" of
/// each file, "x PATH" of executable ones, "o PATH" of all that is no file.
std::string inspect_script(const std::set<std::string>& trees);

/// Says "tree NAME" of each, then what its manifest says.
std::string known_hashes_script(const std::set<std::string>& trees);

struct ReceiveRequest {
  const std::set<std::string>& build;  ///< trees
  const std::set<std::string>& drop;   ///< trees that are forgotten before
  std::uint64_t need = 0;              ///< bytes, for the message when there is no room
  bool packed = false;                 ///< the archive comes as gzip
};

/// Takes orders on standard input: remove, make a folder, link; after the line "." the archive.
/// Everything is built in NAME.part and renamed once it is right. Says "done NAME" of each tree.
std::string receive_script(const ReceiveRequest& request);

}  // namespace stab
