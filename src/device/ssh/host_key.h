// SPDX-License-Identifier: Apache-2.0
// Whether to trust the key that a host presents.
#pragma once

#include <vector>

#include "ssh/known_hosts.h"
#include "ssh/settings.h"
#include "stab/device/ssh_transport.h"

namespace stab {

/// The known_hosts files of a connection: the user's, then the system's; those that are missing are
/// left out.
std::vector<KnownHostsFile> read_known_hosts(const SshSettings& settings);

/// Returns when the key is known, or was unknown and may be accepted (it is then added to the
/// user's first file; a warning where that cannot be written). Throws Error(device) when it is
/// unknown, changed (with both fingerprints and the command that forgets the old key) or revoked.
void check_host_key(const HostKey& key, const std::vector<KnownHostsFile>& files,
                    const SshSettings& settings, const WarningSink& warn);

}  // namespace stab
