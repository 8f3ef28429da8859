// SPDX-License-Identifier: Apache-2.0
#include "stab/host/folders.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <vector>

#include "descriptor.h"
#include "stab/core/error.h"
#include "stab/core/sha256.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const fs::path& path, std::string why) {
  throw Error(ErrorKind::output, "cannot write", path.string(), std::move(why));
}

/// An empty folder with a new name in `parent`. The name is short, so that a package's name may be
/// as long as names get.
fs::path make_sibling(const fs::path& parent) {
  std::string pattern = (parent / ".stab-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) cannot_write(parent, last_reason());
  return pattern;
}

/// Removes a half-made folder unless it was kept.
class Draft {
 public:
  explicit Draft(fs::path path) : path_(std::move(path)) {}
  ~Draft() { remove_tree(path_); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void sync_path(const fs::path& path) {
  const FileDescriptor descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (descriptor.open() && fsync(descriptor.get()) != 0 && errno != EINVAL && errno != EROFS) {
    cannot_write(path, last_reason());
  }
}

void sync_tree(const fs::path& folder) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code ignored;
    const fs::file_type type = entry->symlink_status(ignored).type();
    if (type == fs::file_type::directory || type == fs::file_type::regular)
      sync_path(entry->path());
  }
  if (error) cannot_write(folder, error.message());
  sync_path(folder);
}

/// Moves `draft` to `folder`; what was there is afterwards at the returned path.
fs::path put_in_place(const fs::path& draft, const fs::path& folder) {
  if (renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, folder.c_str(), RENAME_NOREPLACE) == 0) {
    return draft;
  }
  if (errno == EEXIST &&
      renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) {
    return draft;
  }
  // File systems without these two (NFS, some FUSE): two plain renames, the first undone when the
  // second fails.
  const fs::path parent = folder.parent_path();
  const fs::path aside = make_sibling(parent);
  const bool there = fs::exists(fs::symlink_status(folder));
  if (there && rename(folder.c_str(), (aside / "old").c_str()) != 0) {
    const std::string why = last_reason();
    remove_tree(aside);
    cannot_write(folder, why);
  }
  if (rename(draft.c_str(), folder.c_str()) != 0) {
    const std::string why = last_reason();
    if (there) [[maybe_unused]]
      const int undone = rename((aside / "old").c_str(), folder.c_str());
    rmdir(aside.c_str());
    cannot_write(folder, why);
  }
  return aside;
}

void copy_regular(const FileEntry& entry, const fs::path& target) {
  FileDescriptor out(
      open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!out.open()) cannot_write(target, last_reason());
  Sha256 hash;
  const auto take = [&](std::string_view piece) {
    hash.update(piece);
    if (!write_all(out.get(), piece)) cannot_write(target, last_reason());
  };
  if (entry.text) {
    take(*entry.text);
  } else {
    const FileDescriptor in(open(entry.source.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    char buffer[1U << 16U];
    ssize_t got = in.open() ? 1 : -1;
    while (got > 0) {
      got = read(in.get(), buffer, sizeof buffer);
      if (got > 0) take({buffer, static_cast<std::size_t>(got)});
    }
    if (got < 0) throw Error(ErrorKind::input, "cannot read", entry.source, last_reason());
  }
  if (hash.finish() != entry.sha256) {
    throw Error(ErrorKind::input, "cannot copy", entry.source.empty() ? entry.path : entry.source,
                "it changed since it was read", "again when nothing writes to the package");
  }
  if (fchmod(out.get(), entry.mode & 0777U) != 0 || !out.close())
    cannot_write(target, last_reason());
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error)
    throw Error(ErrorKind::output, "cannot find a temporary folder", "TMPDIR", error.message());
  path_ = fs::canonical(make_sibling(base));
}

TemporaryFolder::~TemporaryFolder() {
  remove_tree(path_);
}

void replace_folder_atomically(const fs::path& folder,
                               const std::function<void(const fs::path&)>& fill) {
  const fs::path target = fs::absolute(folder).lexically_normal();
  std::error_code error;
  fs::create_directories(target.parent_path(), error);
  if (error) cannot_write(target.parent_path(), error.message());
  const Draft draft(make_sibling(target.parent_path()));
  fill(draft.path());
  if (chmod(draft.path().c_str(), 0755) != 0) cannot_write(draft.path(), last_reason());
  sync_tree(draft.path());
  const fs::path left_over = put_in_place(draft.path(), target);
  sync_path(target.parent_path());
  if (left_over != draft.path()) remove_tree(left_over);
}

void replace_folder_by(const fs::path& folder, const fs::path& ready) {
  sync_tree(ready);
  const fs::path old = put_in_place(ready, folder);
  if (fs::exists(fs::symlink_status(old))) remove_tree(old);
  sync_path(folder.parent_path());
}

void copy_files(const FileList& files, const fs::path& folder) {
  std::error_code error;
  for (const FileEntry& entry : files) {
    const fs::path target = folder / entry.path;
    fs::create_directories(entry.kind == FileKind::folder ? target : target.parent_path(), error);
    if (error) cannot_write(target, error.message());
    if (entry.kind == FileKind::link) {
      if (symlink(entry.link_target.c_str(), target.c_str()) != 0)
        cannot_write(target, last_reason());
    } else if (entry.kind == FileKind::regular) {
      copy_regular(entry, target);
    } else if (chmod(target.c_str(), (entry.mode & 0777U) | 0700U) != 0) {
      cannot_write(target, last_reason());
    }
  }
}

bool remove_tree(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (!error) return true;
  // Only then look for folders that their owner may not write to.
  std::error_code ignored;
  const auto unlock = [&ignored](const fs::path& folder) {
    if (fs::symlink_status(folder, ignored).type() == fs::file_type::directory) {
      fs::permissions(folder, fs::perms::owner_all, fs::perm_options::add, ignored);
    }
  };
  unlock(path);
  std::error_code stopped;
  fs::recursive_directory_iterator entry(path, stopped);
  for (; !stopped && entry != fs::recursive_directory_iterator(); entry.increment(stopped)) {
    unlock(entry->path());
  }
  fs::remove_all(path, error);
  return !error;
}

}  // namespace stab
