// SPDX-License-Identifier: Apache-2.0
// Makes text from outside fit for documents: what is not UTF-8 becomes U+FFFD. Encodes code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stab {

/// `text` with each byte that belongs to no well-formed UTF-8 sequence (RFC 3629) replaced by
/// U+FFFD.
std::string valid_utf8(std::string_view text);

/// The same with control characters (below U+0020, and U+007F) replaced, too: fit for a terminal.
std::string printable_utf8(std::string_view text);

inline constexpr std::uint32_t k_replacement_character = 0xFFFD;

/// The UTF-8 bytes of a code point, which must be below 0x110000 and no surrogate.
std::string encode_utf8(std::uint32_t code_point);

}  // namespace stab
