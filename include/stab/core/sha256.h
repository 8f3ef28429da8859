// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes, all at once or as they come.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace stab {

/// A running SHA-256 (FIPS 180-4).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  Sha256& update(std::string_view bytes);
  Sha256& update(std::span<const std::byte> bytes);
  /// The hash of all bytes so far as 64 lower-case hexadecimal digits. The object is empty again
  /// afterwards.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// SHA-256 of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);
std::string sha256_hex(std::span<const std::byte> bytes);

/// True for 64 lower-case hexadecimal digits and nothing else.
bool is_sha256_hex(std::string_view text);

}  // namespace stab
