// SPDX-License-Identifier: Apache-2.0
// What the device is doing at one moment: governor, frequencies, temperature, throttling, load.
#pragma once

#include <string>
#include <string_view>

#include "stab/core/context.h"

namespace stab {

/// Shell text that defines `device_state WHEN`, which says what it finds as lines `state WHEN KEY
/// VALUE`. It reads /sys and /proc below `root` (empty on a real device), and asks vcgencmd where
/// that is there.
std::string device_state_script(std::string_view root = {});

/// Gathers the lines `KEY VALUE` of one moment. Values that make no sense (a temperature of 0 or of
/// 300 degrees) are left out: they are not trusted.
class DeviceStateReader {
 public:
  void take(std::string_view line);
  DeviceState state() const;

 private:
  DeviceState state_;
  std::optional<std::int64_t> cpu_temperature_mc_;
  std::optional<std::int64_t> any_temperature_mc_;
};

}  // namespace stab
