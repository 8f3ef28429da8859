// SPDX-License-Identifier: Apache-2.0
// nnpackages on disk: a folder, a zip or a bare model file in; the scheduled copy out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "stab/core/package.h"
#include "stab/host/folders.h"

namespace stab {

/// What a package may hold at most. A zip that holds more is refused before that much is unpacked.
struct PackageLimits {
  std::size_t entries = 20'000;
  std::uint64_t bytes = std::uint64_t{4} << 30U;
};

/// A package, and the folder that a zip was unpacked to (removed with the object).
struct OpenedPackage {
  Package package;
  std::unique_ptr<TemporaryFolder> unpacked;  ///< null unless it came from a zip
};

/// Reads a package: a folder (however its path is written), a zip (the package at its top or in its
/// only folder), or a bare .tflite or .circle file, for which a MANIFEST is made. The source is
/// only read. Links that stay in the package are kept, links to files outside become files. Throws
/// Error(input) that says what is wrong with which file.
OpenedPackage read_package(const std::filesystem::path& path, const PackageLimits& limits = {});

/// The bytes of the package's model. Throws Error(input) also when they are no longer those that
/// were read first.
std::vector<std::byte> read_model(const Package& package);

/// Where write_package() will write.
std::filesystem::path output_folder(const std::filesystem::path& output, const Package& package);

/// Checks that write_package() can work: throws Error(usage) when its folder is the source package,
/// inside it or around it, and Error(output) when it cannot be written, is too full, or holds
/// something that `force` would have to allow: no stab.json, or that of another model.
void check_output(const std::filesystem::path& output, const Package& package, bool force);

/// Checks that measurements may go to `traces`/<package name>/ and replace what is there: throws
/// Error(usage) when that, or its .partial, is the source package or the folder of the scheduled
/// one, in it or around it, and Error(output) when it holds something else than a measurement and
/// `force` does not allow it.
void check_trace_folder(const std::filesystem::path& traces, const std::filesystem::path& output,
                        const Package& package, bool force);

/// Writes `files` (see scheduled_files) to `output`/<package name>/, whole or not at all, and
/// returns that folder. Checks as check_output() does.
std::filesystem::path write_package(const std::filesystem::path& output, const Package& package,
                                    const FileList& files, bool force);

}  // namespace stab
