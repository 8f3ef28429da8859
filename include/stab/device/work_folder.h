// SPDX-License-Identifier: Apache-2.0
// The folder on the device that everything lies in: whose it is, what is in it, how much room it
// has; and its removal.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stab/device/exchange.h"
#include "stab/device/transport.h"

namespace stab {

/// What stands at a path on the device.
enum class FolderState {
  absent,
  empty,    ///< ours, without a marker
  ours,     ///< with stab's marker
  other,    ///< ours, but full of other things: stab works in a subfolder
  foreign,  ///< of another user
  link,
  file,
};

std::string_view to_string(FolderState state);

/// A tree (FileTree::name) on the device, compared with the list that stab made of it there after
/// its upload.
enum class TreeState {
  same,     ///< nothing changed since: size, mode and time of each file
  changed,  ///< something did
  partial,  ///< an upload that was cut
};

struct DiskSpace {
  std::uint64_t free_bytes = 0;
  std::string file_system;  ///< "tmpfs", "ext4"; empty where unknown
  bool no_execute = false;  ///< mounted with noexec
};

struct WorkFolder {
  std::string requested;
  std::string path;  ///< where stab works: the requested folder, or ".stab" in it
  FolderState requested_state = FolderState::absent;
  FolderState state = FolderState::absent;  ///< of `path`
  std::string owner;                        ///< of what stands in the way; empty otherwise
  std::map<std::string, TreeState> trees;
  std::optional<DiskSpace>
      space;  ///< absent where the device does not tell, or tells a size of 0 (ramfs)
  std::optional<std::uint64_t> available_memory_bytes;
  bool can_hash = false;
  bool can_list = false;  ///< has find
  bool can_unpack_gzip = false;
  bool computes_aes = false;  ///< the device's processor does, in hardware
};

/// Shell text that looks at the folder without changing anything, and says what it finds as lines
/// `work KEY VALUE`; expects the prologue. Leaves the folder that stab would work in in $W and its
/// state in $WS.
std::string look_at_work_folder_script(std::string_view requested);

/// Reads these lines; other lines are ignored. Throws Error(device) for what has another form.
WorkFolder parse_work_folder(std::string_view requested, const Answer& answer);

/// Why stab cannot work there, as "is a symbolic link"; empty when it can.
std::string problem_of(const WorkFolder& folder);

/// Looks at the folder and makes it where needed (0700, with a marker). An absolute path is
/// required, Error(usage) otherwise. Throws Error(device) when something else stands there: never
/// follows a link, never touches what is not ours. Tells the connection what it has to know of the
/// device's processor.
WorkFolder open_work_folder(Transport& transport, const std::string& requested);

/// Shell text that makes sure that $W is our work folder, or dies.
std::string enter_work_folder_script(std::string_view path);

/// Removes run folders and, of each kind of tree, all but the two newest and those in `in_use`.
void tidy_work_folder(Transport& transport, const std::string& path,
                      const std::set<std::string>& in_use);

/// Removes what stab made there, no more: the folder itself only when nothing else is in it.
/// Returns the names of what it removed and of what it left. Does nothing where no work folder is.
struct Cleaned {
  std::vector<std::string> removed;
  std::vector<std::string> left;
};
Cleaned clean_work_folder(Transport& transport, const std::string& requested);

}  // namespace stab
