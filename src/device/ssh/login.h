// SPDX-License-Identifier: Apache-2.0
// Logging in: keys of agent and files, then (with a person there) a password.
#pragma once

#include "ssh/session.h"
#include "ssh/settings.h"
#include "stab/device/ssh_transport.h"

namespace stab {

/// Logs in over a session whose host key was checked. Throws Error(device) naming the cause: no key
/// there, none accepted (which were tried), an encrypted key and nobody to ask, only passwords, the
/// server hung up, no answer.
void log_in(SshSession& session, const SshSettings& settings, const SshLimits& limits,
            const StopRequested& stop, const SecretPrompt& prompt);

}  // namespace stab
