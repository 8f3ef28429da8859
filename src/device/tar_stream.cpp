// SPDX-License-Identifier: Apache-2.0
#include "stab/device/tar_stream.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "input_file.h"
#include "stab/core/error.h"

namespace stab {
namespace {

constexpr std::size_t k_block = 1U << 16;

struct ArchiveDeleter {
  void operator()(archive* a) const { archive_write_free(a); }
};

struct EntryDeleter {
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

}  // namespace

struct TarStream::State {
  std::vector<TarMember> members;
  std::size_t next = 0;
  std::string pending;  // written by libarchive, not yet read
  std::size_t pending_at = 0;
  InputFile file;          // of the member under way
  std::uint64_t left = 0;  // of its content
  std::uint64_t content = 0;
  bool closed = false;
  // Last, so that it goes first: ending an archive before its time still writes to `pending`.
  std::unique_ptr<archive, ArchiveDeleter> writer{archive_write_new()};

  static la_ssize_t take(archive*, void* self, const void* bytes, size_t count) {
    static_cast<State*>(self)->pending.append(static_cast<const char*>(bytes), count);
    return static_cast<la_ssize_t>(count);
  }

  void check(la_ssize_t result) const {
    if (result < ARCHIVE_WARN) {
      const char* why = archive_error_string(writer.get());
      throw Error(ErrorKind::internal, "cannot make the upload's archive", {},
                  why == nullptr ? "" : why);
    }
  }

  void open() {
    if (!writer)
      throw Error(ErrorKind::internal, "cannot make the upload's archive", {}, "no memory");
    check(archive_write_set_format_gnutar(writer.get()));
    check(archive_write_set_bytes_per_block(writer.get(), 0));
    check(archive_write_open(writer.get(), this, nullptr, &State::take, nullptr));
  }

  const TarMember& member() const { return members[next - 1]; }

  void begin_member() {
    const TarMember& one = members[next++];
    std::unique_ptr<archive_entry, EntryDeleter> entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), one.path.c_str());
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_uid(entry.get(), 0);
    archive_entry_set_gid(entry.get(), 0);
    if (!one.twin.empty()) {
      archive_entry_set_filetype(entry.get(), AE_IFREG);
      archive_entry_set_perm(entry.get(), one.executable ? 0755 : 0644);
      archive_entry_set_hardlink(entry.get(), one.twin.c_str());
      left = 0;
    } else if (one.link_target.empty()) {
      archive_entry_set_filetype(entry.get(), AE_IFREG);
      archive_entry_set_perm(entry.get(), one.executable ? 0755 : 0644);
      archive_entry_set_size(entry.get(), static_cast<la_int64_t>(one.size));
      left = one.size;
    } else {
      archive_entry_set_filetype(entry.get(), AE_IFLNK);
      archive_entry_set_perm(entry.get(), 0777);
      archive_entry_set_symlink(entry.get(), one.link_target.c_str());
      left = 0;
    }
    check(archive_write_header(writer.get(), entry.get()));
    const auto* path = std::get_if<std::filesystem::path>(&one.content);
    if (path != nullptr && one.link_target.empty() && one.twin.empty()) {
      file = InputFile(*path);
      if (!file.open()) fail("it cannot be read");
    }
  }

  [[noreturn]] void fail(std::string why) const {
    const auto* path = std::get_if<std::filesystem::path>(&member().content);
    throw Error(ErrorKind::input, "cannot upload", path == nullptr ? member().path : path->string(),
                std::move(why));
  }

  void write_content() {
    char block[k_block];
    auto count = static_cast<std::size_t>(std::min<std::uint64_t>(left, sizeof block));
    if (const auto* bytes = std::get_if<std::string>(&member().content)) {
      std::memcpy(block, bytes->data() + (member().size - left), count);
    } else {
      if (file.read(std::span(block, count)) != count) {
        fail(file.failed() ? "it cannot be read to its end" : k_file_changed);
      }
    }
    check(archive_write_data(writer.get(), block, count));
    left -= count;
    content += count;
    if (left == 0 && file.open()) {
      if (file.read(std::span(block, 1)) != 0) fail(k_file_changed);
      file.close();
    }
  }

  // Makes more bytes pending; false at the end.
  bool advance() {
    if (left > 0) {
      write_content();
    } else if (next < members.size()) {
      begin_member();
      if (left == 0) file.close();
    } else if (!closed) {
      closed = true;
      check(archive_write_close(writer.get()));
    } else {
      return false;
    }
    return true;
  }
};

TarStream::TarStream(std::vector<TarMember> members) : state_(std::make_unique<State>()) {
  state_->members = std::move(members);
  state_->open();
}

TarStream::~TarStream() = default;

std::size_t TarStream::read(std::span<char> into) {
  State& s = *state_;
  std::size_t done = 0;
  while (done < into.size()) {
    if (s.pending_at == s.pending.size()) {
      s.pending.clear();
      s.pending_at = 0;
      if (!s.advance()) break;
    }
    const std::size_t count = std::min(into.size() - done, s.pending.size() - s.pending_at);
    std::memcpy(into.data() + done, s.pending.data() + s.pending_at, count);
    s.pending_at += count;
    done += count;
  }
  return done;
}

std::uint64_t TarStream::content_bytes() const {
  return state_->content;
}

}  // namespace stab
