// SPDX-License-Identifier: Apache-2.0
// The kinds of devices that everything over the port has to work with: this machine seen through
// several shells and tool sets, and real SSH servers on it.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "stab/device/ssh_transport.h"
#include "stab/device/transport.h"
#include "support/temp_dir.h"

namespace stab::test {

struct DeviceKind {
  enum class Link { local, openssh, dropbear };

  const char* name;
  Link link = Link::local;
  const char* shell = "";            ///< words of the shell; empty: /bin/sh as it is
  bool busybox_only = false;         ///< nothing but BusyBox's applets is there
  std::vector<std::string> missing;  ///< of these applets

  /// Has all tools that make a difference.
  bool complete() const { return missing.empty(); }
};

inline void PrintTo(const DeviceKind& kind, std::ostream* out) {
  *out << kind.name;
}

/// dash, bash, BusyBox ash with its applets only, a shell with nothing but the few tools that are
/// needed; OpenSSH's server, and dropbear with BusyBox as its only userland.
std::vector<DeviceKind> all_devices();
/// Those of them that are this machine without a server.
std::vector<DeviceKind> local_devices();
/// Those with a server.
std::vector<DeviceKind> far_devices();
/// Two of them, for tests that take long.
std::vector<DeviceKind> few_devices();

/// A device of that kind. A test that lacks what it needs is skipped (skip_or_fail).
class TestDevice {
 public:
  explicit TestDevice(DeviceKind kind);

  const DeviceKind& kind() const { return kind_; }
  /// A new connection to it.
  std::unique_ptr<Transport> connect(StopRequested stop = [] { return false; });
  /// Of its SSH server.
  int port() const;
  /// A new connection by a proxy that listens on `port`.
  std::unique_ptr<Transport> connect_by(int port, const SshLimits& limits);
  /// A new connection as another user (nobody); null where that is not possible.
  std::unique_ptr<Transport> connect_as_nobody();

 private:
  std::unique_ptr<Transport> through_shell(std::unique_ptr<Transport> inner,
                                           const std::string& shell) const;

  DeviceKind kind_;
  TempDir tools_;
};

}  // namespace stab::test
