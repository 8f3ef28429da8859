// SPDX-License-Identifier: Apache-2.0
#include "package_walk.h"

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <utility>

#include "descriptor.h"
#include "stab/host/files.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

class Walk {
 public:
  Walk(const fs::path& folder, const PackageLimits& limits, OutsideLinks outside,
       std::vector<Warning>& warnings)
      : top_(folder), limits_(limits), outside_(outside), warnings_(warnings) {}

  FileList run() {
    visit_folder(top_, 0);
    std::sort(files_.begin(), files_.end(),
              [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
    return std::move(files_);
  }

 private:
  [[noreturn]] void refuse(const fs::path& path, const std::string& why) const {
    throw Error(ErrorKind::input, "cannot use package", top_.string(),
                "'" + path.lexically_relative(top_).string() + "': " + why);
  }

  void visit_folder(const fs::path& folder, int depth) {
    constexpr int k_max_depth = 32;
    if (depth > k_max_depth) refuse(folder, "folders are nested deeper than 32 levels");
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      visit(entry->path(), depth);
    }
    if (error) refuse(folder, error.message());
  }

  void visit(const fs::path& path, int depth) {
    if (files_.size() >= limits_.entries) {
      refuse(path, "the package has more than " + std::to_string(limits_.entries) + " files");
    }
    if (const auto why = why_bad_name(path.filename().string())) refuse(path, *why);
    struct stat status = {};
    if (lstat(path.c_str(), &status) != 0) refuse(path, last_reason());
    FileEntry entry;
    entry.path = path.lexically_relative(top_).string();
    entry.mode = status.st_mode & 0777U;
    if (S_ISDIR(status.st_mode)) {
      entry.kind = FileKind::folder;
      files_.push_back(entry);
      visit_folder(path, depth + 1);
    } else if (S_ISLNK(status.st_mode)) {
      visit_link(path, std::move(entry));
    } else if (S_ISREG(status.st_mode)) {
      add_content(path, std::move(entry));
    } else {
      refuse(path, "it is neither a file nor a folder nor a link");
    }
  }

  void visit_link(const fs::path& path, FileEntry entry) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) refuse(path, error.message());
    const fs::path resolved = fs::canonical(path, error);
    const bool dangling = static_cast<bool>(error);
    const bool inside = !dangling && normal_path(resolved.lexically_relative(top_).string()) &&
                        target.is_relative();
    if (dangling || inside) {
      entry.kind = FileKind::link;
      entry.link_target = target.string();
      files_.push_back(std::move(entry));
      return;
    }
    if (outside_ == OutsideLinks::refuse || !fs::is_regular_file(resolved, error)) {
      refuse(path, "the link leads out of the package");
    }
    warnings_.push_back({"package_link_followed", Severity::info, entry.path,
                         "the link leads out of the package; the copy holds the file itself", ""});
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0) refuse(path, last_reason());
    entry.mode = status.st_mode & 0777U;
    add_content(resolved, std::move(entry));
  }

  void add_content(const fs::path& file, FileEntry entry) {
    std::error_code error;
    entry.size = fs::file_size(file, error);
    bytes_ += error ? 0 : entry.size;
    if (bytes_ > limits_.bytes) {
      refuse(file, "the package is larger than " + std::to_string(limits_.bytes) + " bytes");
    }
    entry.sha256 = sha256_of_file(file);
    entry.source = file.string();
    files_.push_back(std::move(entry));
  }

  fs::path top_;
  const PackageLimits& limits_;
  OutsideLinks outside_;
  std::vector<Warning>& warnings_;
  FileList files_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

FileList list_package(const fs::path& folder, const PackageLimits& limits, OutsideLinks outside,
                      std::vector<Warning>& warnings) {
  return Walk(folder, limits, outside, warnings).run();
}

}  // namespace stab
