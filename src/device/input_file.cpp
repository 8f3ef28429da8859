// SPDX-License-Identifier: Apache-2.0
#include "input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace stab {

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

bool InputFile::executable() const {
  struct stat status{};
  return fstat(descriptor_.get(), &status) == 0 && (status.st_mode & S_IXUSR) != 0;
}

}  // namespace stab
