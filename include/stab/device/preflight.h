// SPDX-License-Identifier: Apache-2.0
// What a device is, what it is doing, and whether stab can work there: asked in one exchange,
// changing nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/context.h"
#include "stab/core/machine.h"
#include "stab/device/exchange.h"
#include "stab/device/lock.h"
#include "stab/device/transport.h"
#include "stab/device/work_folder.h"

namespace stab {

enum class Verdict { ok, warning, fail };

/// As the documents write it: "ok", "warning", "fail".
std::string_view to_string(Verdict verdict);

/// One line of `stab doctor`.
struct Check {
  std::string id;  ///< stable: "arch", "work_folder", "governor", …
  Verdict verdict = Verdict::ok;
  std::string value;                  ///< short: "aarch64", "412 MB free"
  std::string text;                   ///< one sentence
  std::optional<std::string> remedy;  ///< what to do, where something can be done

  bool operator==(const Check&) const = default;
};

struct PreflightOptions {
  std::string work_folder;
  std::string lock_path = k_lock_path;
  std::string system_root = {};  ///< prefix of /sys, /proc and /etc there; empty on a real device
};

struct Preflight {
  DeviceInfo device;  ///< without a name; `host` is the address of the link
  std::optional<Machine>
      machine;  ///< of the userland, by its /bin/sh; absent when that is no ELF file
  DeviceState state;
  WorkFolder folder;
  std::optional<bool> can_execute;  ///< a script of one line ran in the work folder (or where that
                                    ///< would be made); absent: not tried
  std::string cannot_write;         ///< why nothing can be written there; empty when it can
  std::optional<LockHolder> lock;   ///< absent: free
  bool lock_is_odd = false;         ///< something that is no lock stands there
  std::string user;
  std::optional<int> user_id;
  std::string os;    ///< "Linux"
  std::string node;  ///< name that the device gives itself
  std::optional<std::string>
      glibcxx;  ///< highest version of its libstdc++ that the file's name tells, "3.4.30"
  std::set<std::string> tools;  ///< those of k_tools that it has
  std::optional<double> uptime_seconds;
  std::optional<std::int64_t> clock;  ///< its own, seconds since 1970; absent without `date`
  std::vector<Check> checks;
};

/// Asks the device. Throws Error(device) when it does not answer or answers nonsense, Error(usage)
/// for a work folder that is none.
Preflight preflight(Transport& transport, const PreflightOptions& options);

/// Reads the answer of the device; pure. `link` and `now` (seconds since 1970 here) are ours.
Preflight parse_preflight(const Answer& answer, const PreflightOptions& options,
                          const LinkInfo& link, std::int64_t now);

/// The id of a device: a hash of what it says about itself, salted, so that the id tells devices
/// apart and nothing else. Empty when it says nothing.
std::string device_id(std::string_view machine_id, std::string_view serial);

/// Groups of cores by their highest frequency, fastest first, with taskset masks.
struct Core {
  int number = 0;
  std::optional<std::int64_t> max_khz;
};
std::vector<CoreGroup> group_cores(const std::vector<Core>& cores);

/// Those of `names` that the device has for `machine` in the folders its loader looks in, or in
/// `more_folders`.
struct DeviceLibraries {
  std::set<std::string> found;
  std::string looked_in;  ///< for messages
};
DeviceLibraries find_device_libraries(Transport& transport, const std::vector<std::string>& names,
                                      const Machine& machine,
                                      const std::vector<std::string>& more_folders = {});

}  // namespace stab
