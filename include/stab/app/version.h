// SPDX-License-Identifier: Apache-2.0
// What this program is.
#pragma once

#include <string>

namespace stab {

extern const char* const k_version;  ///< "0.1.0"
extern const char* const k_commit;   ///< short commit of the sources, or "unknown"

/// Version of the SSH library in use.
std::string libssh_version();

}  // namespace stab
