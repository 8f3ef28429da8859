// SPDX-License-Identifier: Apache-2.0
// A model file whose FlatBuffers tables have been verified: the one door between raw bytes and the
// generated accessors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model_generated.h"
#include "stab/core/model.h"

namespace stab {

/// Verified bytes. Every table, list and text that model.fbs declares lies inside them, and there
/// are no more tables than an honest file of this size can hold.
class ModelFile {
 public:
  /// Throws Error(input) naming `name` and the first damaged place. Keeps a view of `bytes`, or a
  /// copy when they are not aligned.
  ModelFile(std::span<const std::byte> bytes, ModelFormat format, std::string_view name);

  const schema::Model& root() const;
  std::uint64_t size() const { return bytes_.size(); }

  /// Throws Error(input): "cannot read model '<name>': <why>".
  [[noreturn]] void fail(const std::string& why, const std::string& hint = {}) const;

 private:
  void check_header(ModelFormat format) const;
  void verify() const;
  std::string damage() const;

  std::string name_;
  std::vector<std::uint64_t> aligned_;  // a copy of misaligned bytes, else empty
  std::span<const std::byte> bytes_;
};

}  // namespace stab
