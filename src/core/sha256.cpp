// SPDX-License-Identifier: Apache-2.0
#include "stab/core/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "stab/core/error.h"

namespace stab {
namespace {

void check(int result) {
  if (result != 1)
    throw Error(ErrorKind::internal, "cannot compute SHA-256", {}, "libcrypto refused");
}

}  // namespace

struct Sha256::State {
  State() : context(EVP_MD_CTX_new()) {
    check(context != nullptr);
    check(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr));
  }

  struct Deleter {
    void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
  };
  std::unique_ptr<EVP_MD_CTX, Deleter> context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

Sha256& Sha256::update(std::string_view bytes) {
  check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
  return *this;
}

Sha256& Sha256::update(std::span<const std::byte> bytes) {
  check(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()));
  return *this;
}

std::string Sha256::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  check(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &length));
  check(EVP_DigestInit_ex(state_->context.get(), EVP_sha256(), nullptr));
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) {
    hex += digits[digest[i] >> 4];
    hex += digits[digest[i] & 0xf];
  }
  return hex;
}

std::string sha256_hex(std::string_view bytes) {
  return Sha256().update(bytes).finish();
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  return Sha256().update(bytes).finish();
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

}  // namespace stab
