// SPDX-License-Identifier: Apache-2.0
// A private ssh-agent.
#pragma once

#include <sys/types.h>

#include <filesystem>

#include "support/temp_dir.h"

namespace stab::test {

/// Runs while it lives, and for so long SSH_AUTH_SOCK names it. A test that lacks ssh-agent ends
/// (skip_or_fail).
class SshAgent {
 public:
  SshAgent();
  ~SshAgent();
  SshAgent(const SshAgent&) = delete;
  SshAgent& operator=(const SshAgent&) = delete;

  /// Adds a key without a passphrase.
  void add(const std::filesystem::path& key) const;

 private:
  TempDir folder_;
  pid_t process_ = -1;
};

}  // namespace stab::test
