// SPDX-License-Identifier: Apache-2.0
#include "zip.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <locale.h>
#include <sys/stat.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "descriptor.h"
#include "stab/core/error.h"
#include "stab/core/file_list.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

/// A name as UTF-8 where libarchive knows its encoding, else its bytes; whatever the locale.
std::string text_of(const char* utf8, const char* bytes) {
  if (utf8 != nullptr) return utf8;
  return bytes == nullptr ? "" : bytes;
}

/// UTF-8 for this thread while it lives: libarchive drops names that the locale cannot hold.
class Utf8Thread {
 public:
  Utf8Thread() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ != nullptr) before_ = uselocale(locale_);
  }
  ~Utf8Thread() {
    if (locale_ == nullptr) return;
    uselocale(before_);
    freelocale(locale_);
  }
  Utf8Thread(const Utf8Thread&) = delete;
  Utf8Thread& operator=(const Utf8Thread&) = delete;

 private:
  locale_t locale_;
  locale_t before_ = nullptr;
};

class Unpacker {
 public:
  Unpacker(const fs::path& zip, const fs::path& folder, const PackageLimits& limits)
      : zip_(zip), folder_(folder), limits_(limits), reader_(archive_read_new()) {
    // Not the streaming reader: without the directory at its end, a zip that was cut off looks
    // complete.
    archive_read_support_format_zip_seekable(reader_.get());
    constexpr std::size_t k_block = std::size_t{64} << 10U;
    if (archive_read_open_filename(reader_.get(), zip.c_str(), k_block) != ARCHIVE_OK) {
      refuse(archive_reason());
    }
  }

  void run() {
    for (archive_entry* entry = nullptr;;) {
      const int result = archive_read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) refuse(archive_reason());
      take(entry);
    }
    // Links come last: so no file can be written through one.
    for (const auto& [path, target] : links_) {
      if (symlink(target.c_str(), (folder_ / path).c_str()) != 0) cannot_write(path);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::input, "cannot unpack", zip_.string(), why);
  }

  [[noreturn]] void cannot_write(const std::string& path) const {
    throw Error(ErrorKind::output, "cannot unpack", zip_.string(),
                "'" + (folder_ / path).string() + "': " + last_reason(),
                "TMPDIR on a disk with more space");
  }

  std::string archive_reason() const {
    const char* text = archive_error_string(reader_.get());
    return text == nullptr ? "it is damaged" : text;
  }

  void take(archive_entry* entry) {
    if (++entries_ > limits_.entries) {
      refuse("it has more than " + std::to_string(limits_.entries) + " entries");
    }
    const std::string name =
        text_of(archive_entry_pathname_utf8(entry), archive_entry_pathname(entry));
    const auto path = normal_path(name);
    if (!path || ("/" + name + "/").find("/../") != std::string::npos) {
      refuse("the entry '" + name + "' does not lie in it");
    }
    if (const auto why = why_bad_name(name)) refuse("the entry '" + name + "': " + *why);
    make_parents(*path);
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR:
        make_folder(*path);
        return;
      case AE_IFREG:
        write_file(entry, *path);
        return;
      case AE_IFLNK:
        take_link(entry, *path);
        return;
      default:
        refuse("the entry '" + name + "' is neither file, folder nor link");
    }
  }

  void make_parents(const std::string& path) const {
    std::error_code error;
    fs::create_directories((folder_ / path).parent_path(), error);
    if (error) refuse("the entry '" + path + "' lies below a file");
  }

  void make_folder(const std::string& path) const {
    std::error_code error;
    fs::create_directory(folder_ / path, error);
    if (error) refuse("the entry '" + path + "' is there as a file and as a folder");
  }

  void write_file(archive_entry* entry, const std::string& path) {
    const mode_t mode = archive_entry_perm(entry) & 0777U;
    FileDescriptor out(
        open((folder_ / path).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!out.open() && errno == EEXIST) refuse("the entry '" + path + "' is there twice");
    if (!out.open()) cannot_write(path);
    std::array<char, std::size_t{64} << 10U> buffer{};
    for (;;) {
      const la_ssize_t got = archive_read_data(reader_.get(), buffer.data(), buffer.size());
      if (got == 0) break;
      if (got < 0) refuse("the entry '" + path + "': " + archive_reason());
      bytes_ += static_cast<std::uint64_t>(got);
      if (bytes_ > limits_.bytes) {
        refuse("it unpacks to more than " + std::to_string(limits_.bytes) + " bytes");
      }
      if (!write_all(out.get(), {buffer.data(), static_cast<std::size_t>(got)})) cannot_write(path);
    }
    // Zips made on other systems have no modes at all.
    if (fchmod(out.get(), mode == 0 ? 0644 : mode | 0400U) != 0 || !out.close()) cannot_write(path);
  }

  void take_link(archive_entry* entry, const std::string& path) {
    const std::string target =
        text_of(archive_entry_symlink_utf8(entry), archive_entry_symlink(entry));
    const std::string from_top = (fs::path(path).parent_path() / target).string();
    if (target.empty() || target.front() == '/' || !normal_path(from_top)) {
      refuse("the link '" + path + "' leads out of it");
    }
    if (!links_.emplace(path, target).second) refuse("the entry '" + path + "' is there twice");
  }

  const fs::path& zip_;
  const fs::path& folder_;
  const PackageLimits& limits_;
  std::unique_ptr<archive, FreeArchive> reader_;
  std::size_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  std::map<std::string, std::string> links_;
};

}  // namespace

void unpack_zip(const fs::path& zip, const fs::path& folder, const PackageLimits& limits) {
  const Utf8Thread utf8;
  Unpacker(zip, folder, limits).run();
}

}  // namespace stab
