// SPDX-License-Identifier: Apache-2.0
#include "stab/host/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <span>
#include <vector>

#include "descriptor.h"
#include "stab/core/error.h"
#include "stab/core/sha256.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_read(const fs::path& file, std::string why) {
  throw Error(ErrorKind::input, "cannot read", file.string(), std::move(why));
}

[[noreturn]] void cannot_write(const fs::path& file, std::string why, std::string hint = {}) {
  throw Error(ErrorKind::output, "cannot write", file.string(), std::move(why), std::move(hint));
}

/// Opens a regular file. O_NONBLOCK: a FIFO must not make us wait for its other end.
FileDescriptor open_regular(const fs::path& file, std::uint64_t& size) {
  FileDescriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!descriptor.open() || fstat(descriptor.get(), &status) != 0) cannot_read(file, last_reason());
  if (!S_ISREG(status.st_mode)) {
    cannot_read(file, S_ISDIR(status.st_mode) ? "it is a folder" : "it is not a regular file");
  }
  size = static_cast<std::uint64_t>(status.st_size);
  return descriptor;
}

/// The next piece of a file into `buffer`; empty at its end.
std::string_view read_piece(int descriptor, std::span<char> buffer, const fs::path& file) {
  for (;;) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got >= 0) return {buffer.data(), static_cast<std::size_t>(got)};
    if (errno != EINTR) cannot_read(file, last_reason());
  }
}

constexpr std::size_t k_piece = std::size_t{64} << 10U;

void sync_folder(const fs::path& folder) {
  const FileDescriptor descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.open()) fsync(descriptor.get());
}

fs::path existing_ancestor(fs::path folder) {
  std::error_code ignored;
  while (!fs::exists(folder, ignored) && folder.has_parent_path() &&
         folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder;
}

}  // namespace

std::string read_file(const fs::path& file, std::uint64_t limit) {
  std::uint64_t size = 0;
  const FileDescriptor descriptor = open_regular(file, size);
  const auto too_large = [&] {
    cannot_read(file, "it is larger than " + std::to_string(limit) + " bytes");
  };
  if (size > limit) too_large();
  std::string text;
  text.reserve(size);
  char buffer[k_piece];  // left as it is: clearing it would cost more than reading a small file
  for (;;) {
    const std::string_view piece = read_piece(descriptor.get(), buffer, file);
    if (piece.empty()) return text;
    if (text.size() + piece.size() > limit) too_large();
    text += piece;
  }
}

std::string read_prefix(const fs::path& file, std::size_t size) {
  std::uint64_t file_size = 0;
  const FileDescriptor descriptor = open_regular(file, file_size);
  std::vector<char> buffer(size);
  return std::string(read_piece(descriptor.get(), buffer, file));
}

std::string sha256_of_file(const fs::path& file) {
  std::uint64_t size = 0;
  const FileDescriptor descriptor = open_regular(file, size);
  Sha256 hash;
  char buffer[k_piece];  // left as it is: clearing it would cost more than reading a small file
  for (;;) {
    const std::string_view piece = read_piece(descriptor.get(), buffer, file);
    if (piece.empty()) return hash.finish();
    hash.update(piece);
  }
}

namespace {

/// A pipe, a terminal, /dev/null: nothing that could be replaced.
void write_through(const fs::path& file, std::string_view text) {
  FileDescriptor descriptor(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (!descriptor.open() || !write_all(descriptor.get(), text) || !descriptor.close())
    cannot_write(file, last_reason());
}

}  // namespace

void write_file_atomically(const fs::path& file, std::string_view text) {
  std::error_code unknown;
  if (fs::is_symlink(file, unknown) && fs::exists(file, unknown)) {
    write_file_atomically(fs::canonical(file), text);
    return;
  }
  const fs::file_type type = fs::status(file, unknown).type();
  if (type == fs::file_type::character || type == fs::file_type::fifo) {
    write_through(file, text);
    return;
  }
  const fs::path folder = fs::absolute(file).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) cannot_write(folder, error.message());
  std::string temporary = (folder / ".stab-XXXXXX").string();
  FileDescriptor descriptor(mkostemp(temporary.data(), O_CLOEXEC));
  if (!descriptor.open()) cannot_write(file, last_reason());
  const bool done = write_all(descriptor.get(), text) && fchmod(descriptor.get(), 0644) == 0 &&
                    fsync(descriptor.get()) == 0 && descriptor.close() &&
                    rename(temporary.c_str(), file.c_str()) == 0;
  if (!done) {
    const std::string why = last_reason();
    unlink(temporary.c_str());
    cannot_write(file, why);
  }
  sync_folder(folder);
}

void check_writable(const fs::path& folder, std::uint64_t bytes) {
  const fs::path existing = existing_ancestor(fs::absolute(folder).lexically_normal());
  if (access(existing.c_str(), W_OK | X_OK) != 0) cannot_write(existing, last_reason());
  std::error_code ignored;
  if (!fs::is_directory(existing, ignored)) cannot_write(existing, "it is not a folder");
  struct statvfs space = {};
  if (statvfs(existing.c_str(), &space) != 0) return;
  const std::uint64_t available = std::uint64_t{space.f_bavail} * space.f_frsize;
  if (space.f_blocks != 0 && available < bytes) {
    cannot_write(folder,
                 "it needs " + std::to_string(bytes) + " bytes and the disk has " +
                     std::to_string(available) + " free",
                 "--output on another disk");
  }
}

}  // namespace stab
