// SPDX-License-Identifier: Apache-2.0
#include "input_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "stab/core/sha256.h"

namespace stab {
namespace {

constexpr std::size_t k_piece = 1U << 16;

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : descriptor_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}

std::size_t InputFile::read(std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t count = ::read(descriptor_.get(), into.data() + done, into.size() - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count == 0 || errno != EINTR) {
      failed_ = count < 0;
      break;
    }
  }
  return done;
}

std::optional<HashedFile> hash_file(const std::filesystem::path& path) {
  InputFile file(path);
  if (!file.open()) return std::nullopt;
  HashedFile result;
  Sha256 hash;
  char piece[k_piece];  // left as it is: clearing it would cost more than hashing a small file
  std::size_t count = sizeof piece;
  while (count == sizeof piece) {
    count = file.read(piece);
    hash.update(std::string_view(piece, count));
    result.size += count;
  }
  if (file.failed()) return std::nullopt;
  result.sha256 = hash.finish();
  return result;
}

}  // namespace stab
