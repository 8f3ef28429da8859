// SPDX-License-Identifier: Apache-2.0
// Takes the files of a run as they come, and puts each in its place once it is whole and right.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/sha256.h"
#include "stab/device/exchange.h"
#include "stab/device/gzip.h"
#include "stab/device/run.h"

namespace stab {

/// Headers have the attributes `NUMBER plain|gzip SIZE SHA256|-`: which pattern asked for it, how
/// it is packed, and what it has to be. Nothing of it is trusted: names have to fit the pattern,
/// sizes the limit, content its size and hash.
class Receiver {
 public:
  explicit Receiver(const RunRequest& request) : request_(request) {}
  ~Receiver();

  void begin(const BlobHeader& header);
  void take(std::string_view bytes);
  void end();

  const std::vector<FetchedFile>& files() const { return files_; }

 private:
  void write(std::string_view bytes);

  const RunRequest& request_;
  std::vector<FetchedFile> files_;
  std::uint64_t total_ = 0;
  FetchedFile file_;
  std::string wanted_hash_;
  std::filesystem::path temporary_;
  std::ofstream stream_;
  std::uint64_t written_ = 0;
  Sha256 hash_;
  std::optional<Gunzip> gunzip_;
};

/// True when `name` fits `pattern`, in which `*` stands for any and `?` for one character.
bool fits_pattern(std::string_view name, std::string_view pattern);

}  // namespace stab
