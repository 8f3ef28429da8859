// SPDX-License-Identifier: Apache-2.0
#include "runtime_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <functional>
#include <future>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "input_file.h"
#include "stab/core/error.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_max_entries = 20'000;
constexpr std::uint64_t k_max_bytes = std::uint64_t{4} << 30U;
constexpr unsigned k_most_threads = 4;

/// Threads that do the same as this one; fewer where no more are to be had.
std::vector<std::future<void>> start_helpers(const std::function<void()>& work) {
  std::vector<std::future<void>> helpers;
  const unsigned threads = std::min(k_most_threads, std::thread::hardware_concurrency());
  try {
    while (helpers.size() + 1 < threads) {
      helpers.push_back(std::async(std::launch::async, work));
    }
  } catch (const std::system_error&) {
    // The others do it all.
  }
  return helpers;
}

class Listing {
 public:
  explicit Listing(const fs::path& top) : top_(top) {}

  void add_folder(const fs::path& folder) {
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) add(entry->path());
    if (error) refuse(folder, error.message());
  }

  void add(const fs::path& path) {
    const std::string relative = path.lexically_relative(top_).string();
    if (excluded(relative)) return;
    if (files_.size() >= k_max_entries) refuse(path, "more than 20,000 files: this is no runtime");
    struct stat status = {};
    if (lstat(path.c_str(), &status) != 0) refuse(path, "it cannot be read");
    FileEntry entry;
    entry.path = relative;
    entry.mode = status.st_mode & 0777U;
    if (S_ISLNK(status.st_mode)) {
      add_link(path, std::move(entry));
    } else if (S_ISDIR(status.st_mode)) {
      entry.kind = FileKind::folder;
      files_.push_back(std::move(entry));
      add_folder(path);
    } else if (S_ISREG(status.st_mode)) {
      add_content(path, std::move(entry));
    }
  }

  FileList finish() {
    hash_contents();
    std::sort(files_.begin(), files_.end(),
              [](const FileEntry& a, const FileEntry& b) { return a.path < b.path; });
    return std::move(files_);
  }

 private:
  [[noreturn]] void refuse(const fs::path& path, const std::string& why) const {
    throw Error(ErrorKind::input, "cannot use runtime", top_.string(),
                "'" + path.lexically_relative(top_).string() + "': " + why);
  }

  static bool excluded(std::string_view path) {
    constexpr std::array<std::string_view, 7> k_tests_and_headers = {
        "include", "unittest", "unittest_standalone", "nnapi-gtest",
        "test",    "tests",    "test-suite.tar.gz"};
    const bool named = std::find(k_tests_and_headers.begin(), k_tests_and_headers.end(), path) !=
                       k_tests_and_headers.end();
    return named || path.ends_with(".a") || path.ends_with(".la");
  }

  void add_link(const fs::path& path, FileEntry entry) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    const fs::path resolved = fs::canonical(path, error);
    if (error) return;  // it leads nowhere: nothing can need it
    if (target.is_relative() && normal_path(resolved.lexically_relative(top_).string())) {
      entry.kind = FileKind::link;
      entry.link_target = target.string();
      files_.push_back(std::move(entry));
    } else if (fs::is_regular_file(resolved, error)) {
      entry.mode = static_cast<unsigned>(fs::status(resolved, error).permissions()) & 0777U;
      add_content(resolved, std::move(entry));
    } else {
      refuse(path, "a link to a folder outside");
    }
  }

  void add_content(const fs::path& file, FileEntry entry) {
    std::error_code error;
    entry.size = fs::file_size(file, error);
    bytes_ += error ? 0 : entry.size;
    if (bytes_ > k_max_bytes) refuse(file, "more than 4 GiB: this is no runtime");
    entry.source = file.string();
    files_.push_back(std::move(entry));
  }

  /// On several threads: the device waits for it.
  void hash_contents() {
    std::vector<std::optional<HashedFile>> hashed(files_.size());
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < files_.size(); i = next++) {
        if (files_[i].kind == FileKind::regular) hashed[i] = hash_file(files_[i].source);
      }
    };
    {
      const std::vector<std::future<void>> helpers = start_helpers(work);
      work();
    }
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (files_[i].kind != FileKind::regular) continue;
      if (!hashed[i]) refuse(files_[i].source, "it cannot be read");
      files_[i].size = hashed[i]->size;
      files_[i].sha256 = std::move(hashed[i]->sha256);
    }
  }

  fs::path top_;
  FileList files_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

FileList list_runtime(const fs::path& folder, const std::optional<std::string>& runner) {
  Listing listing(folder);
  std::error_code ignored;
  if (fs::symlink_status(folder / "lib", ignored).type() == fs::file_type::directory) {
    listing.add(folder / "lib");
    if (runner) listing.add(folder / *runner);
  } else {
    listing.add_folder(folder);
  }
  return listing.finish();
}

std::string read_runtime_file(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  std::ifstream stream(file, std::ios::binary);
  std::string content(error || size > k_max_bytes ? 0 : size, '\0');
  const bool read =
      !content.empty() && stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (error || !stream.is_open() || (!read && size != 0)) {
    throw Error(ErrorKind::input, "cannot read", file.string(),
                error ? error.message() : "it cannot be read to its end");
  }
  return content;
}

}  // namespace stab
