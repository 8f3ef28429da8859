// SPDX-License-Identifier: Apache-2.0
// Reading files, and writing a file so that it appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace stab {

/// The whole content of a regular file. Throws Error(input) that names the file when it cannot be
/// read, is not a regular file, or is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& file, std::uint64_t limit);

/// Its first bytes, at most `size`, fewer when the file is shorter. Throws Error(input).
std::string read_prefix(const std::filesystem::path& file, std::size_t size);

/// SHA-256 of a regular file, read piece by piece. Throws Error(input).
std::string sha256_of_file(const std::filesystem::path& file);

/// Writes `text` to `file` through a temporary sibling: the file has its old content or the new
/// one, on disk. Missing folders above it are made; a link stays, what it leads to is replaced; a
/// pipe or a device (/dev/null) is written to. Throws Error(output) that names the file and the
/// reason.
void write_file_atomically(const std::filesystem::path& file, std::string_view text);

/// Throws Error(output) when `folder`, or the first folder above it that exists, cannot be written
/// to, or has less than `bytes` free. So that a job fails before it measures for an hour.
void check_writable(const std::filesystem::path& folder, std::uint64_t bytes);

}  // namespace stab
