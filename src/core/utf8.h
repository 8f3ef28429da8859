// SPDX-License-Identifier: Apache-2.0
// Makes text from outside fit for documents: what is not UTF-8 becomes U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace stab {

/// `text` with each byte that belongs to no well-formed UTF-8 sequence (RFC 3629) replaced by
/// U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace stab
