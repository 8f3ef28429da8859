// SPDX-License-Identifier: Apache-2.0
#include "receive.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "stab/core/error.h"
#include "stab/device/file_tree.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_garbled(const std::string& name, std::string why) {
  throw Error(ErrorKind::device, "cannot bring back", printable(name, 200), std::move(why));
}

std::string_view next_word(std::string_view& text) {
  const auto blank = text.find(' ');
  const std::string_view word = text.substr(0, blank);
  text = blank == std::string_view::npos ? std::string_view() : text.substr(blank + 1);
  return word;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool has_wildcard(std::string_view pattern) {
  return pattern.find_first_of("*?") != std::string_view::npos;
}

}  // namespace

bool fits_pattern(std::string_view name, std::string_view pattern) {
  std::size_t n = 0;
  std::size_t p = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_name = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Receiver::~Receiver() {
  if (temporary_.empty()) return;
  stream_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void Receiver::begin(const BlobHeader& header) {
  std::string_view words = header.attributes;
  const auto number = parse_size(next_word(words));
  const std::string_view packing = next_word(words);
  const auto size = parse_size(next_word(words));
  const std::string_view hash = next_word(words);
  const bool known = number && *number < request_.fetch.size() && size &&
                     (packing == "plain" || packing == "gzip") &&
                     (hash == "-" || is_sha256_hex(hash)) && words.empty();
  if (!known || !is_plain_name(header.name) ||
      !fits_pattern(header.name, request_.fetch[*number].pattern)) {
    throw_garbled(header.name, "the device announced something that nobody asked for");
  }
  const bool sizes_fit =
      packing == "plain" ? header.size == *size : header.size <= *size + *size / 1000 + 1024;
  total_ += *size;
  if (!sizes_fit || *size > request_.most_fetched_bytes || total_ > request_.most_fetched_bytes) {
    throw_garbled(header.name, "its announced size is wrong or above the limit");
  }
  const Fetch& fetch = request_.fetch[*number];
  file_ = {header.name,
           has_wildcard(fetch.pattern) ? fetch.to / header.name : fetch.to,
           *size,
           {},
           hash != "-"};
  wanted_hash_ = hash == "-" ? "" : std::string(hash);
  written_ = 0;
  hash_ = Sha256();
  gunzip_.reset();
  if (packing == "gzip") gunzip_.emplace();
  temporary_ = file_.path;
  temporary_ += ".part-" + random_word();
  stream_ = std::ofstream(temporary_, std::ios::binary);
  if (!stream_)
    throw Error(ErrorKind::output, "cannot write", temporary_.string(), "it cannot be made");
}

void Receiver::take(std::string_view bytes) {
  if (gunzip_) {
    gunzip_->feed(bytes, [this](std::string_view piece) { write(piece); });
  } else {
    write(bytes);
  }
}

void Receiver::write(std::string_view bytes) {
  written_ += bytes.size();
  if (written_ > file_.bytes) throw_garbled(file_.name, "it is longer than announced");
  hash_.update(bytes);
  if (!stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()))) {
    throw Error(ErrorKind::output, "cannot write", file_.path.string(),
                "the disk is full or failed");
  }
}

void Receiver::end() {
  if (written_ != file_.bytes || (gunzip_ && !gunzip_->ended()))
    throw_garbled(file_.name, "it did not arrive whole");
  file_.sha256 = hash_.finish();
  if (!wanted_hash_.empty() && wanted_hash_ != file_.sha256)
    throw_garbled(file_.name, "it was damaged on its way");
  stream_.close();
  std::error_code failed;
  if (!stream_) failed = std::make_error_code(std::errc::io_error);
  if (!failed) fs::rename(temporary_, file_.path, failed);
  if (failed) throw Error(ErrorKind::output, "cannot write", file_.path.string(), failed.message());
  temporary_.clear();
  const auto known = std::find_if(files_.begin(), files_.end(),
                                  [&](const FetchedFile& one) { return one.path == file_.path; });
  if (known == files_.end()) {
    files_.push_back(file_);
  } else {
    *known = file_;
  }
}

}  // namespace stab
