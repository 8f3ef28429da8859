// SPDX-License-Identifier: Apache-2.0
#include "stab/device/file_tree.h"

#include <algorithm>
#include <utility>

#include "input_file.h"
#include "stab/core/error.h"
#include "stab/core/sha256.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_most_files = 100'000;
constexpr std::size_t k_longest_path = 1'024;

[[noreturn]] void refuse(const std::string& subject, std::string why) {
  throw Error(ErrorKind::input, "cannot prepare the upload", subject, std::move(why));
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  while (true) {
    const auto slash = path.find('/', start);
    parts.push_back(path.substr(start, slash == std::string_view::npos ? slash : slash - start));
    if (slash == std::string_view::npos) return parts;
    start = slash + 1;
  }
}

bool has_odd_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return code < 0x20 || code == 0x7f || c == '\\';
  });
}

void check_path(const std::string& path) {
  if (path.size() > k_longest_path)
    refuse(path.substr(0, 80) + "...", "its path is longer than 1024 bytes");
  if (has_odd_characters(path)) refuse(path, "its name holds a control character or a backslash");
  for (const std::string_view part : components(path)) {
    if (part.empty() || part == "." || part == "..")
      refuse(path, "it is not a plain relative path");
  }
}

// A target that climbs above the tree's root at any point leads out.
bool stays_inside(const std::string& path, const std::string& target) {
  if (target.empty() || target.front() == '/') return false;
  auto depth = static_cast<std::ptrdiff_t>(components(path).size()) - 1;
  for (const std::string_view part : components(target)) {
    if (part == "..") {
      if (--depth < 0) return false;
    } else if (!part.empty() && part != ".") {
      ++depth;
    }
  }
  return true;
}

}  // namespace

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > 100 || name.front() == '.' || name.front() == '-') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

FileTree::FileTree(std::string kind) : kind_(std::move(kind)) {
  const bool word = !kind_.empty() && std::all_of(kind_.begin(), kind_.end(),
                                                  [](char c) { return c >= 'a' && c <= 'z'; });
  if (!word)
    throw Error(ErrorKind::internal, "cannot name a folder on the device", kind_,
                "not a kind of tree");
}

FileTree FileTree::of_list(std::string kind, const FileList& list) {
  FileTree tree(std::move(kind));
  for (const FileEntry& entry : list) {
    if (entry.kind == FileKind::folder) continue;
    if (entry.kind == FileKind::link) {
      tree.add_link(entry.path, entry.link_target);
      continue;
    }
    TreeFile file;
    file.path = entry.path;
    file.size = entry.size;
    file.executable = (entry.mode & 0100) != 0;
    file.sha256 = entry.sha256;
    file.content = entry.text ? Content(*entry.text) : Content(fs::path(entry.source));
    tree.add(std::move(file));
  }
  return tree;
}

void FileTree::add_file(std::string path, const fs::path& source, bool executable) {
  check_path(path);
  const std::optional<HashedFile> hashed = hash_file(source);
  if (!hashed) refuse(source.string(), "it cannot be read");
  TreeFile file;
  file.path = std::move(path);
  file.size = hashed->size;
  file.executable = executable;
  file.sha256 = hashed->sha256;
  file.content = source;
  add(std::move(file));
}

void FileTree::add_bytes(std::string path, std::string bytes, bool executable) {
  TreeFile file;
  file.path = std::move(path);
  file.executable = executable;
  file.size = bytes.size();
  file.sha256 = sha256_hex(std::string_view(bytes));
  file.content = std::move(bytes);
  add(std::move(file));
}

void FileTree::add_link(std::string path, std::string target) {
  if (!stays_inside(path, target) || has_odd_characters(target)) {
    refuse(path, "its target '" + target + "' leads out of the folder");
  }
  TreeFile file;
  file.path = std::move(path);
  file.link_target = std::move(target);
  file.content = std::string();
  add(std::move(file));
}

void FileTree::add(TreeFile file) {
  check_path(file.path);
  if (files_.size() >= k_most_files) refuse(file.path, "the folder holds more than 100000 files");
  const auto at = std::lower_bound(
      files_.begin(), files_.end(), file.path,
      [](const TreeFile& one, const std::string& path) { return one.path < path; });
  if (at != files_.end() && at->path == file.path) refuse(file.path, "it is there twice");
  files_.insert(at, std::move(file));
}

std::uint64_t FileTree::bytes() const {
  std::uint64_t total = 0;
  for (const TreeFile& file : files_) total += file.size;
  return total;
}

std::string FileTree::name() const {
  Sha256 hash;
  for (const TreeFile& file : files_) {
    hash.update(file.path).update(file.is_link()    ? "\nlink "
                                  : file.executable ? "\nexec "
                                                    : "\nfile ");
    hash.update(file.is_link() ? file.link_target : file.sha256).update("\n");
  }
  return kind_ + "-" + hash.finish().substr(0, 16);
}

}  // namespace stab
