// SPDX-License-Identifier: Apache-2.0
// Unpacks a zip that nobody vouches for.
#pragma once

#include <filesystem>

#include "stab/host/package_dir.h"

namespace stab {

/// Unpacks `zip` into the empty folder `folder`. Throws Error(input) for more than `limits`, for
/// paths and links that leave the folder, for a path given twice, for encrypted or damaged content,
/// and for anything that is not a file, folder or link; Error(output) when the disk does not take
/// it. Nothing is written outside `folder` in any case.
void unpack_zip(const std::filesystem::path& zip, const std::filesystem::path& folder,
                const PackageLimits& limits);

}  // namespace stab
