// SPDX-License-Identifier: Apache-2.0
// One lock per device: whoever measures there holds it, and it goes away with its holder.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "stab/device/transport.h"

namespace stab {

/// The one place on a device: another user or another work folder measures on the same cores.
inline constexpr const char* k_lock_path = "/tmp/.stab-lock";

/// Who has the lock, as the lock itself tells. Nothing of it is trusted; all texts are short and
/// printable.
struct LockHolder {
  std::string who;                          ///< "anna@laptop:4242", as the other stab wrote it
  std::string user;                         ///< owner of the lock on the device
  int pid = 0;                              ///< of the holding process on the device
  std::optional<std::chrono::seconds> age;  ///< by the device's uptime; absent over a reboot
  bool stale = false;  ///< that process is gone, or the device was started anew
};

/// "anna@laptop:4242 (user pi, process 812 on the device, for 125 s)".
std::string describe(const LockHolder& holder);

struct LockOptions {
  std::string path = k_lock_path;
  std::string who = {};  ///< shown to others; characters outside `[A-Za-z0-9@:._-]` become '_'
  std::chrono::seconds wait{0};                         ///< how long to wait for another holder
  std::function<void(const LockHolder&)> on_wait = {};  ///< called once for each holder waited for
};

/// The lock, held for the life of the object: a process on the device that ends with this
/// connection holds it.
class DeviceLock {
 public:
  /// Takes the lock; a stale one is taken over. Throws Error(device) naming the holder when it
  /// stays busy, and naming the user when a stale lock is another user's and cannot be removed.
  /// Returns false in `held()` once lost.
  DeviceLock(Transport& transport, const LockOptions& options);
  ~DeviceLock();  ///< releases it; never throws
  DeviceLock(const DeviceLock&) = delete;
  DeviceLock& operator=(const DeviceLock&) = delete;

  /// False once the holding process ended, because of a silence of 30 s or somebody's unlock.
  bool held();
  void release();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Who holds the lock; absent when nobody does. Throws Error(device) when something else stands
/// there.
std::optional<LockHolder> look_at_lock(Transport& transport, const std::string& path = k_lock_path);

/// Removes a lock and returns what it was; absent when there was none. A live holder is ended only
/// with `force`, otherwise Error(device) names it.
std::optional<LockHolder> unlock(Transport& transport, bool force,
                                 const std::string& path = k_lock_path);

}  // namespace stab
