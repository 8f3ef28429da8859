// SPDX-License-Identifier: Apache-2.0
#include "stab/device/device_state.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "stab/device/exchange.h"
#include "stab/device/shell.h"

namespace stab {
namespace {

constexpr std::size_t k_most_policies = 1024;

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "0x50005" of the Raspberry Pi's firmware: bits 1 to 3 say that the frequency is held down at this
// moment.
std::optional<bool> parse_firmware_flags(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  unsigned long flags = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), flags, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return (flags & 0xeU) != 0;
}

bool is_processor_zone(std::string_view type) {
  for (const std::string_view word :
       {"cpu", "soc", "pkg", "cluster", "big", "little", "core", "Tdie", "coretemp"}) {
    if (type.find(word) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

std::string device_state_script(std::string_view root) {
  return "R=" + shell_quote(root) + R"SH(
state_of() { v_=; read -r v_ 2>/dev/null <"$2" && [ -n "$v_" ] && say "state $w_ $1 $v_"; }
device_state() {
  w_=$1
  for p_ in "$R"/sys/devices/system/cpu/cpufreq/policy*; do
    state_of governor "$p_/scaling_governor"
    state_of khz "$p_/scaling_cur_freq"
  done
  for p_ in "$R"/sys/class/thermal/thermal_zone*; do
    t_=
    read -r t_ 2>/dev/null <"$p_/type"
    state_of "temperature ${t_:--}" "$p_/temp"
  done
  for p_ in "$R"/sys/class/thermal/cooling_device*; do
    t_=
    read -r t_ 2>/dev/null <"$p_/type"
    case $t_ in *cpufreq*|*cpu-freq*|Processor) state_of cooling "$p_/cur_state" ;; esac
  done
  if have vcgencmd; then t_=$(vcgencmd get_throttled 2>/dev/null) && say "state $w_ firmware ${t_#throttled=}"; fi
  state_of load "$R/proc/loadavg"
}
)SH";
}

void DeviceStateReader::take(std::string_view line) {
  const auto blank = line.find(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view key = line.substr(0, blank);
  std::string_view value = line.substr(blank + 1);
  if (key == "governor") {
    const std::string governor = printable(value, 40);
    if (!state_.governor) {
      state_.governor = governor;
    } else if (("," + *state_.governor + ",").find("," + governor + ",") == std::string::npos &&
               state_.governor->size() < 200) {
      *state_.governor += "," + governor;
    }
  } else if (key == "khz") {
    const auto khz = parse_number<std::int64_t>(value);
    if (khz && *khz > 0 && *khz < 100'000'000 && state_.khz.size() < k_most_policies)
      state_.khz.push_back(*khz);
  } else if (key == "temperature") {
    const auto last = value.rfind(' ');
    const auto mc =
        parse_number<std::int64_t>(value.substr(last == std::string_view::npos ? 0 : last + 1));
    if (!mc || *mc <= 0 || *mc >= 200'000) return;
    auto& hottest =
        is_processor_zone(value.substr(0, last)) ? cpu_temperature_mc_ : any_temperature_mc_;
    hottest = std::max(hottest.value_or(0), *mc);
  } else if (key == "cooling") {
    const auto level = parse_number<std::int64_t>(value);
    if (level && *level >= 0) state_.throttled = state_.throttled.value_or(false) || *level > 0;
  } else if (key == "firmware") {
    const auto throttled = parse_firmware_flags(value);
    if (throttled) state_.throttled = state_.throttled.value_or(false) || *throttled;
  } else if (key == "load") {
    const auto load = parse_number<double>(value.substr(0, value.find(' ')));
    if (load && std::isfinite(*load) && *load >= 0 && *load < 1e6) state_.load1 = load;
  }
}

DeviceState DeviceStateReader::state() const {
  DeviceState state = state_;
  state.temperature_mc = cpu_temperature_mc_ ? cpu_temperature_mc_ : any_temperature_mc_;
  return state;
}

}  // namespace stab
