// SPDX-License-Identifier: Apache-2.0
// A folder as a value: its files with size, mode and content hash. What is staged on a device,
// written to disk and recorded is one and the same list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stab {

enum class FileKind { regular, link, folder };

struct FileEntry {
  std::string path;  ///< relative to the folder, "/" between parts, never "." or ".." in it
  FileKind kind = FileKind::regular;
  std::uint64_t size = 0;   ///< bytes of a regular file, else 0
  unsigned mode = 0644;     ///< permission bits only (0777)
  std::string sha256;       ///< of a regular file's content, else empty
  std::string link_target;  ///< of a link, as stored
  std::string source;  ///< absolute path of the content on this machine; empty when `text` holds it
  std::optional<std::string> text;  ///< content held in memory

  bool operator==(const FileEntry&) const = default;
};

/// Sorted by path, byte by byte; each path once. Folders that hold files may be listed or not.
using FileList = std::vector<FileEntry>;

/// A regular file whose content is `text`; size and hash filled in.
FileEntry text_entry(std::string path, std::string text, unsigned mode = 0644);

/// `files` with each of `texts` (path -> content) as a regular file in it, in place of what had
/// that path.
FileList with_texts(FileList files, const std::map<std::string, std::string>& texts);

/// The entry with that path; null when there is none.
const FileEntry* find_entry(const FileList& files, std::string_view path);

/// One hash for the content of a folder: paths, content hashes and link targets in order of path.
/// Modes and folders do not count, so that the same package unpacked under another umask keeps its
/// hash.
std::string hash_of(const FileList& files);

/// Sum of the sizes of all regular files.
std::uint64_t total_bytes(const FileList& files);

/// `path` without ".", "..", empty parts and a trailing "/"; absent when it is absolute, leaves its
/// folder, names the folder itself or holds a NUL byte.
std::optional<std::string> normal_path(std::string_view path);

/// Why a file or package cannot have this name (control characters, bytes that are not UTF-8);
/// absent when it can.
std::optional<std::string> why_bad_name(std::string_view name);

}  // namespace stab
