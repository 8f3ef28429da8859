// SPDX-License-Identifier: Apache-2.0
// Lists the files of a package's folder.
#pragma once

#include <filesystem>
#include <vector>

#include "stab/core/error.h"
#include "stab/core/file_list.h"
#include "stab/host/package_dir.h"

namespace stab {

/// What becomes of links to files outside: a folder of the user's own may have them, a zip from
/// anywhere must not.
enum class OutsideLinks { follow, refuse };

/// Everything below `folder` (absolute, resolved), with sizes, modes and hashes. Links that stay in
/// it are kept as links; a link to a file outside becomes that file, with a warning, since its
/// target would not be there on a device. Throws Error(input) for sockets, devices and the like,
/// for links to folders outside, for names that stab cannot write, and above `limits`.
FileList list_package(const std::filesystem::path& folder, const PackageLimits& limits,
                      OutsideLinks outside, std::vector<Warning>& warnings);

}  // namespace stab
