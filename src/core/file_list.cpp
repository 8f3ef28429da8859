// SPDX-License-Identifier: Apache-2.0
#include "stab/core/file_list.h"

#include <algorithm>
#include <utility>

#include "stab/core/sha256.h"
#include "utf8.h"

namespace stab {
namespace {

auto position(FileList& files, std::string_view path) {
  return std::lower_bound(
      files.begin(), files.end(), path,
      [](const FileEntry& entry, std::string_view wanted) { return entry.path < wanted; });
}

}  // namespace

FileEntry text_entry(std::string path, std::string text, unsigned mode) {
  FileEntry entry;
  entry.path = std::move(path);
  entry.size = text.size();
  entry.mode = mode;
  entry.sha256 = sha256_hex(text);
  entry.text = std::move(text);
  return entry;
}

FileList with_texts(FileList files, const std::map<std::string, std::string>& texts) {
  for (const auto& [path, text] : texts) {
    const auto place = position(files, path);
    if (place != files.end() && place->path == path) {
      *place = text_entry(path, text);
    } else {
      files.insert(place, text_entry(path, text));
    }
  }
  return files;
}

const FileEntry* find_entry(const FileList& files, std::string_view path) {
  const auto place = std::lower_bound(
      files.begin(), files.end(), path,
      [](const FileEntry& entry, std::string_view wanted) { return entry.path < wanted; });
  return place != files.end() && place->path == path ? &*place : nullptr;
}

std::string hash_of(const FileList& files) {
  Sha256 hash;
  const auto add = [&hash](std::string_view field) {
    hash.update(field);
    hash.update(std::string_view("\0", 1));
  };
  for (const FileEntry& entry : files) {
    if (entry.kind == FileKind::folder) continue;
    add(entry.path);
    add(entry.kind == FileKind::link ? "link" : "file");
    add(entry.kind == FileKind::link ? entry.link_target : entry.sha256);
  }
  return hash.finish();
}

std::uint64_t total_bytes(const FileList& files) {
  std::uint64_t sum = 0;
  for (const FileEntry& entry : files) sum += entry.size;
  return sum;
}

std::optional<std::string> normal_path(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    path.remove_prefix(std::min(path.size(), part.size() + 1));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      return std::nullopt;
    } else {
      parts.pop_back();
    }
  }
  std::string normal;
  for (const std::string_view part : parts) {
    if (!normal.empty()) normal += '/';
    normal += part;
  }
  if (normal.empty()) return std::nullopt;
  return normal;
}

std::optional<std::string> why_bad_name(std::string_view name) {
  const bool control = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (control) return "its name holds a line break or another control character";
  if (valid_utf8(name) != name) return "its name is not UTF-8";
  return std::nullopt;
}

}  // namespace stab
