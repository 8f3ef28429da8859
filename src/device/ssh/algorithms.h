// SPDX-License-Identifier: Apache-2.0
// The lists of algorithms that a key exchange asks for: names with commas between them, the best
// first.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace stab {

/// Those for host keys, of known kinds first; without certificates and hardware keys, which are not
/// for libssh. An empty list stands for all that libssh has.
std::string host_key_algorithms(std::string_view list, const std::set<std::string>& known);

/// Ciphers with those of AES-GCM first; an empty list stands for libssh's own. Empty where the list
/// has none, or has them first already.
std::string with_aes_gcm_first(std::string_view ciphers);

/// Whether this machine's processor computes AES-GCM in hardware. Where both ends do it is the
/// fastest cipher; elsewhere ChaCha20-Poly1305 is, two to four times as fast.
bool computes_aes_gcm();

}  // namespace stab
