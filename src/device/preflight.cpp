// SPDX-License-Identifier: Apache-2.0
#include "stab/device/preflight.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <utility>

#include "checks.h"
#include "lock_script.h"
#include "preflight_script.h"
#include "stab/core/elf.h"
#include "stab/core/sha256.h"
#include "stab/device/device_state.h"

namespace stab {
namespace {

constexpr std::size_t k_longest_text = 200;
constexpr int k_most_cores = 4096;

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r' ||
                           text.back() == '\0')) {
    text.remove_suffix(1);
  }
  return text;
}

// What the lines `dev KEY VALUE` say, by key.
class Facts {
 public:
  explicit Facts(const Answer& answer) {
    for (const std::string& line : answer.all("dev")) {
      const auto blank = line.find(' ');
      if (blank == std::string::npos) continue;
      by_key_[line.substr(0, blank)].push_back(
          printable(trim(std::string_view(line).substr(blank + 1)), k_longest_text));
    }
  }

  const std::vector<std::string>& all(const std::string& key) const {
    static const std::vector<std::string> nothing;
    const auto found = by_key_.find(key);
    return found == by_key_.end() ? nothing : found->second;
  }
  std::string first(const std::string& key) const {
    return all(key).empty() ? std::string() : all(key).front();
  }

  /// The value of the first line `NAME : VALUE` of /proc/cpuinfo.
  std::string cpuinfo(std::string_view name) const {
    for (const std::string& line : all("cpuinfo")) {
      const auto colon = line.find(':');
      if (colon == std::string::npos || trim(std::string_view(line).substr(0, colon)) != name)
        continue;
      return std::string(trim(std::string_view(line).substr(colon + 1)));
    }
    return {};
  }

 private:
  std::map<std::string, std::vector<std::string>> by_key_;
};

// The begin of /bin/sh: as it is, or from the lines of a hexadecimal dump.
std::string shell_bytes(const Answer& answer, const Facts& facts) {
  if (const auto blob = answer.blobs.find("sh"); blob != answer.blobs.end()) return blob->second;
  std::string bytes;
  for (const std::string& line : facts.all("sh")) {
    for (std::size_t at = 0; at + 1 < line.size(); at += 3) {
      unsigned int value = 0;
      const auto [end, error] = std::from_chars(line.data() + at, line.data() + at + 2, value, 16);
      if (error != std::errc() || end != line.data() + at + 2) return {};
      bytes += static_cast<char>(value);
    }
  }
  return bytes;
}

// The loader that a program names near its begin.
std::string interpreter_in(std::string_view bytes) {
  for (auto at = bytes.find("/ld"); at != std::string_view::npos; at = bytes.find("/ld", at + 1)) {
    const auto start = bytes.rfind('\0', at);
    const auto end = bytes.find('\0', at);
    if (start == std::string_view::npos || end == std::string_view::npos) continue;
    const std::string_view path = bytes.substr(start + 1, end - start - 1);
    if (path.front() == '/' && path.size() < 100 && path.find(".so") != std::string_view::npos)
      return std::string(path);
  }
  return {};
}

std::optional<Machine> machine_of_shell(std::string_view bytes) {
  std::optional<Machine> machine = parse_elf_header(bytes);
  if (!machine || machine->arch != "arm" || machine->float_abi) return machine;
  const std::string loader = interpreter_in(bytes);
  if (loader.find("armhf") != std::string::npos) machine->float_abi = "hard";
  if (loader == "/lib/ld-linux.so.3" || loader == "/lib/ld-musl-arm.so.1")
    machine->float_abi = "soft";
  return machine;
}

// The first number with a dot after `at`: "2.36".
std::string version_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9' ||
        (at > 0 && (text[at - 1] == '.' || (text[at - 1] >= '0' && text[at - 1] <= '9'))))
      continue;
    const auto end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    std::string version(text.substr(at, end - at));
    while (!version.empty() && version.back() == '.') version.pop_back();
    if (version.find('.') != std::string::npos) return version;
  }
  return {};
}

// "glibc 2.36" from whatever speaks of the C library that belongs to the shell's loader.
std::string libc_of(const Facts& facts, std::string_view shell) {
  const std::string loader = interpreter_in(shell);
  const bool musl = loader.find("musl") != std::string::npos;
  const std::string& getconf = facts.first("getconf");
  if (getconf.starts_with("glibc ") && !musl) return "glibc " + version_in(getconf);
  std::string ldd;
  for (const std::string& line : facts.all("ldd")) ldd += line + " ";
  if (ldd.find("musl") != std::string::npos) return "musl " + version_in(ldd);
  if (!musl &&
      (ldd.find("GLIBC") != std::string::npos || ldd.find("GNU libc") != std::string::npos)) {
    const auto last = ldd.find_last_of(' ', ldd.find_last_not_of(' '));
    if (const std::string version = version_in(ldd.substr(last + 1)); !version.empty())
      return "glibc " + version;
    if (const auto at = ldd.find("GLIBC"); at != std::string::npos)
      return "glibc " + version_in(ldd.substr(at));
  }
  for (const std::string& line : facts.all("libc")) {
    const std::string text = line.substr(std::min(line.find(' '), line.size()));
    if (line.find("ld-musl") != std::string::npos) {
      const std::string version = version_in(text);
      return version.empty() ? "musl" : "musl " + version;
    }
    if (line.find("uClibc") != std::string::npos) return "uclibc";
    if (musl) continue;
    const auto said = text.find("version ");
    const std::string version = version_in(said == std::string::npos ? text : text.substr(said));
    if (!version.empty()) return "glibc " + version;
  }
  return musl ? "musl" : "";
}

std::optional<std::string> glibcxx_of(const Facts& facts) {
  constexpr std::string_view prefix = "libstdc++.so.6.0.";
  std::optional<int> highest;
  for (const std::string& name : facts.all("libstdcxx")) {
    if (!name.starts_with(prefix)) continue;
    const auto number = parse_number<int>(std::string_view(name).substr(prefix.size()));
    if (number && *number >= 0 && *number < 1000) highest = std::max(highest.value_or(0), *number);
  }
  // libstdc++.so.6.0.N defines the symbol versions up to GLIBCXX_3.4.N, by GCC's ABI policy.
  if (!highest) return std::nullopt;
  return "3.4." + std::to_string(*highest);
}

std::vector<CoreGroup> cores_of(const Facts& facts) {
  std::vector<Core> cores;
  for (const std::string& line : facts.all("core")) {
    const auto blank = line.find(' ');
    const auto number = parse_number<int>(std::string_view(line).substr(0, blank));
    if (!number || *number < 0 || *number >= k_most_cores || blank == std::string::npos) continue;
    auto khz = parse_number<std::int64_t>(std::string_view(line).substr(blank + 1));
    if (khz && (*khz <= 0 || *khz > 100'000'000)) khz.reset();
    cores.push_back({*number, khz});
  }
  if (cores.empty()) {
    for (const std::string& line : facts.all("cpuinfo")) {
      if (line.starts_with("processor") && static_cast<int>(cores.size()) < k_most_cores) {
        cores.push_back({static_cast<int>(cores.size()), std::nullopt});
      }
    }
  }
  return group_cores(cores);
}

/// Cores of Arm's own by their part number, as /proc/cpuinfo has it where it names nothing.
std::optional<std::string> arm_core(std::string_view part) {
  constexpr std::pair<std::string_view, std::string_view> k_cores[] = {
      {"0xc05", "Cortex-A5"},  {"0xc07", "Cortex-A7"},  {"0xc08", "Cortex-A8"},
      {"0xc09", "Cortex-A9"},  {"0xc0d", "Cortex-A17"}, {"0xc0e", "Cortex-A17"},
      {"0xc0f", "Cortex-A15"}, {"0xd01", "Cortex-A32"}, {"0xd03", "Cortex-A53"},
      {"0xd04", "Cortex-A35"}, {"0xd05", "Cortex-A55"}, {"0xd07", "Cortex-A57"},
      {"0xd08", "Cortex-A72"}, {"0xd09", "Cortex-A73"}, {"0xd0a", "Cortex-A75"},
      {"0xd0b", "Cortex-A76"}, {"0xd41", "Cortex-A78"}, {"0xd44", "Cortex-X1"}};
  for (const auto& [number, name] : k_cores) {
    if (number == part) return std::string(name);
  }
  return std::nullopt;
}

std::optional<std::string> soc_of(const Facts& facts) {
  for (const std::string& text :
       {facts.first("model"), facts.cpuinfo("Model"), facts.first("soc"), facts.cpuinfo("Hardware"),
        facts.cpuinfo("model name"), facts.cpuinfo("Processor"), facts.first("board")}) {
    if (!text.empty()) return text;
  }
  if (facts.cpuinfo("CPU implementer") == "0x41") return arm_core(facts.cpuinfo("CPU part"));
  return std::nullopt;
}

bool is_emulated(const Facts& facts, const std::optional<Machine>& machine) {
  if (facts.first("exe").find("qemu") != std::string::npos) return true;
  const std::string processor = facts.cpuinfo("model name");
  if (processor.find("QEMU TCG") != std::string::npos ||
      processor.find("QEMU Virtual CPU") != std::string::npos)
    return true;
  const bool arm = machine && (machine->arch == "arm" || machine->arch == "aarch64");
  if (arm && (!facts.cpuinfo("vendor_id").empty() || processor.find("Intel") != std::string::npos))
    return true;
  const std::string model = facts.first("model");
  return model.find("dummy-virt") != std::string::npos || model.find("QEMU") != std::string::npos;
}

bool is_boot_id(std::string_view text) {
  return text.size() == 36 && text.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

DeviceInfo device_info(const Facts& facts, const LinkInfo& link,
                       const std::optional<Machine>& machine, std::string_view shell) {
  DeviceInfo device;
  std::string serial = facts.first("serial");
  if (serial.empty()) serial = facts.cpuinfo("Serial");
  device.id = device_id(facts.first("machine"), serial);
  if (device.id.empty()) device.id = device_id(facts.first("node"), facts.first("model"));
  device.transport = link.local ? "local" : "ssh";
  device.host = link.address;
  device.kernel = facts.first("kernel");
  if (is_boot_id(facts.first("boot"))) device.boot_id = facts.first("boot");
  device.emulated = is_emulated(facts, machine);
  device.arch = machine ? device_arch(*machine) : facts.first("processor");
  if (machine) device.float_abi = machine->float_abi;
  device.libc = libc_of(facts, shell);
  device.soc = soc_of(facts);
  device.cores = cores_of(facts);
  const auto kilobytes = parse_number<std::int64_t>(facts.first("memory"));
  if (kilobytes && *kilobytes > 0 && *kilobytes < (INT64_MAX >> 11))
    device.memory_bytes = *kilobytes * 1024;
  return device;
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::warning:
      return "warning";
    case Verdict::fail:
      return "fail";
  }
  return "fail";
}

std::string device_id(std::string_view machine_id, std::string_view serial) {
  if (machine_id.empty() && serial.empty()) return {};
  return Sha256()
      .update("stab device\n")
      .update(machine_id)
      .update("\n")
      .update(serial)
      .update("\n")
      .finish()
      .substr(0, 16);
}

std::vector<CoreGroup> group_cores(const std::vector<Core>& cores) {
  std::map<std::int64_t, std::set<int>, std::greater<>> groups;  // unknown as 0, thus last
  for (const Core& core : cores) groups[core.max_khz.value_or(0)].insert(core.number);
  std::vector<CoreGroup> result;
  for (const auto& [khz, numbers] : groups) {
    CoreGroup group;
    if (khz > 0) group.max_khz = khz;
    group.count = static_cast<int>(numbers.size());
    constexpr std::string_view digits = "0123456789abcdef";
    for (int digit = *numbers.rbegin() / 4; digit >= 0; --digit) {
      unsigned int bits = 0;
      for (int bit = 0; bit < 4; ++bit) {
        if (numbers.contains(4 * digit + bit)) bits |= 1U << bit;
      }
      group.mask += digits[bits];
    }
    group.mask.insert(0, "0x");
    result.push_back(std::move(group));
  }
  return result;
}

Preflight parse_preflight(const Answer& answer, const PreflightOptions& options,
                          const LinkInfo& link, std::int64_t now) {
  const Facts facts(answer);
  const std::string shell = shell_bytes(answer, facts);
  Preflight result;
  result.machine = machine_of_shell(shell);
  result.device = device_info(facts, link, result.machine, shell);
  DeviceStateReader state;
  for (const std::string& line : answer.all("state")) {
    if (line.starts_with("now ")) state.take(std::string_view(line).substr(4));
  }
  result.state = state.state();
  result.folder = parse_work_folder(options.work_folder, answer);
  if (!facts.all("execute").empty()) result.can_execute = facts.first("execute") == "42";
  result.cannot_write = facts.first("nowrite");
  const LockState lock = parse_lock_state(answer);
  result.lock_is_odd = lock.kind == LockState::Kind::odd;
  if (lock.kind == LockState::Kind::held || lock.kind == LockState::Kind::stale)
    result.lock = lock.holder;
  result.user = facts.first("user");
  result.user_id = parse_number<int>(facts.first("uid"));
  result.os = facts.first("os");
  result.node = facts.first("node");
  result.glibcxx = glibcxx_of(facts);
  for (const std::string& tool : facts.all("tool")) result.tools.insert(tool);
  const std::string uptime = facts.first("uptime");
  result.uptime_seconds =
      parse_number<double>(std::string_view(uptime).substr(0, uptime.find(' ')));
  if (result.uptime_seconds &&
      !(std::isfinite(*result.uptime_seconds) && *result.uptime_seconds >= 0))
    result.uptime_seconds.reset();
  result.clock = parse_number<std::int64_t>(facts.first("clock"));
  result.checks = make_checks(result, now);
  return result;
}

Preflight preflight(Transport& transport, const PreflightOptions& options) {
  const Answer answer =
      exchange(transport, "cannot look at the device",
               preflight_script(options.work_folder, options.lock_path, options.system_root));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return parse_preflight(answer, options, transport.link(),
                         std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace stab
