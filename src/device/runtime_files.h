// SPDX-License-Identifier: Apache-2.0
// Which files of a runtime's folder belong to the runtime.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "stab/core/file_list.h"

namespace stab {

/// The files to send. Of a folder with `lib/` in it: everything below lib/, and the runner. Of any
/// other folder: all of it but headers, static libraries and tests. Links to something inside are
/// kept, links to files outside become files. Throws Error(input) when the folder cannot be read,
/// or holds so much that it is no runtime.
FileList list_runtime(const std::filesystem::path& folder,
                      const std::optional<std::string>& runner);

/// The whole content of a file of a runtime. Throws Error(input).
std::string read_runtime_file(const std::filesystem::path& file);

}  // namespace stab
