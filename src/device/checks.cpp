// SPDX-License-Identifier: Apache-2.0
#include "checks.h"

#include <algorithm>
#include <cstdlib>

#include "preflight_script.h"

namespace stab {
namespace {

constexpr std::int64_t k_hot_mc = 75'000;
constexpr std::int64_t k_day = 86'400;
constexpr std::uint64_t k_little_room = 200'000'000;

std::string megabytes(std::uint64_t bytes) {
  return std::to_string(bytes / 1'000'000) + " MB";
}

// "2 cores up to 2400 MHz (0xc), 4 cores (0x33)"
std::string cores_text(const std::vector<CoreGroup>& cores) {
  std::string text;
  for (const CoreGroup& group : cores) {
    text += (text.empty() ? "" : ", ") + std::to_string(group.count) +
            (group.count == 1 ? " core" : " cores");
    if (group.max_khz) text += " up to " + std::to_string(*group.max_khz / 1000) + " MHz";
    text += " (" + group.mask + ")";
  }
  return text;
}

class Checks {
 public:
  Checks(const Preflight& preflight, std::int64_t now) : p_(preflight), now_(now) {}

  std::vector<Check> all() {
    processor();
    c_library();
    cores();
    user();
    tools();
    work_folder();
    execution();
    room();
    lock();
    governor();
    heat();
    load();
    clock();
    return std::move(checks_);
  }

 private:
  void add(std::string id, Verdict verdict, std::string value, std::string text,
           std::optional<std::string> remedy = std::nullopt) {
    checks_.push_back(
        {std::move(id), verdict, std::move(value), std::move(text), std::move(remedy)});
  }

  void processor() {
    const std::string value = p_.machine ? to_string(*p_.machine) : p_.device.arch;
    std::string text = "programs there are built for " + value;
    if (p_.device.soc) text += " (" + *p_.device.soc + ")";
    if (!p_.machine) {
      add("arch", Verdict::warning, value,
          "its /bin/sh is no ELF file that could be read: " + value + " is what the kernel says");
    } else if (p_.os != "Linux") {
      add("arch", Verdict::fail, p_.os, "the runtime needs Linux");
    } else {
      add("arch", Verdict::ok, value, text);
    }
    if (p_.device.emulated) {
      add("emulated", Verdict::warning, "yes",
          "the device is emulated: its times say nothing about a real board",
          "measuring on the board itself");
    }
  }

  void c_library() {
    if (p_.device.libc.empty()) {
      add("libc", Verdict::warning, "unknown",
          "the C library does not tell its version: whether the runtime fits shows at the first "
          "run");
    } else if (p_.device.libc.starts_with("glibc")) {
      add("libc", Verdict::ok, p_.device.libc, "the C library");
    } else {
      add("libc", Verdict::warning, p_.device.libc, "the runtime's builds are for glibc",
          "a runtime built for " + p_.device.libc);
    }
  }

  void cores() {
    int count = 0;
    for (const CoreGroup& group : p_.device.cores) count += group.count;
    if (count == 0) {
      add("cores", Verdict::warning, "unknown", "the device does not tell its cores");
    } else if (p_.device.cores.size() > 1) {
      add("cores", Verdict::warning, std::to_string(count),
          cores_text(p_.device.cores) + ": times depend on where the runtime runs",
          "--affinity " + p_.device.cores.front().mask);
    } else {
      add("cores", Verdict::ok, std::to_string(count), cores_text(p_.device.cores));
    }
  }

  void user() {
    const std::string name =
        p_.user.empty() ? (p_.user_id ? std::to_string(*p_.user_id) : "unknown") : p_.user;
    add("user", Verdict::ok, name, "who stab is there");
  }

  void tools() {
    std::string missing;
    for (const char* tool : k_needed_tools) {
      if (!p_.tools.contains(tool)) missing += (missing.empty() ? "" : ", ") + std::string(tool);
    }
    if (!missing.empty()) {
      add("tools", Verdict::fail, "missing: " + missing, "stab cannot work without",
          "installing them (BusyBox has them all)");
      return;
    }
    std::string reduced;
    const auto lacks = [&](const char* tool, const char* meaning) {
      if (!p_.tools.contains(tool))
        reduced += (reduced.empty() ? "" : "; ") + std::string(tool) + ": " + meaning;
    };
    lacks("sha256sum", "uploads are compared by size only");
    lacks("find", "a cut or changed upload starts anew");
    lacks("gzip", "nothing is compressed on its way");
    lacks("taskset", "--affinity cannot be used");
    lacks("df", "free space is not known before an upload");
    lacks("setsid", "a program that ignores being ended may go on");
    if (reduced.empty()) {
      add("tools", Verdict::ok, "complete", "all tools that stab makes use of are there");
    } else {
      add("tools", Verdict::warning, "some missing", "without " + reduced,
          "installing them, where that matters");
    }
  }

  void work_folder() {
    const std::string& path = p_.folder.path;
    if (const std::string problem = problem_of(p_.folder); !problem.empty()) {
      add("work_folder", Verdict::fail, path, "stab cannot work there: " + problem,
          "--remote-dir with another folder");
    } else if (!p_.cannot_write.empty()) {
      add("work_folder", Verdict::fail, path, "nothing can be written there: " + p_.cannot_write,
          "--remote-dir with another folder");
    } else if (p_.folder.state == FolderState::ours) {
      const auto partial =
          std::count_if(p_.folder.trees.begin(), p_.folder.trees.end(),
                        [](const auto& tree) { return tree.second != TreeState::same; });
      add("work_folder", Verdict::ok, path,
          std::to_string(p_.folder.trees.size()) + " folders of earlier uploads are there" +
              (partial > 0 ? ", " + std::to_string(partial) + " of them not whole" : ""));
    } else {
      add("work_folder", Verdict::ok, path,
          p_.folder.path == p_.folder.requested
              ? "it will be made"
              : "it will be made beside what else is in " + p_.folder.requested);
    }
  }

  void execution() {
    const bool mounted_noexec = p_.folder.space && p_.folder.space->no_execute;
    if (p_.can_execute == false || (mounted_noexec && !p_.can_execute)) {
      add("execution", Verdict::fail, "refused",
          mounted_noexec ? "programs in " + p_.folder.path +
                               " cannot be started: its file system is mounted with noexec"
                         : "a program in " + p_.folder.path + " could not be started",
          "--remote-dir with a folder where programs may run, such as the home folder");
    } else if (p_.can_execute) {
      add("execution", Verdict::ok, "allowed", "a program in the work folder could be started");
    }
  }

  void room() {
    if (!p_.folder.space) {
      add("space", Verdict::warning, "unknown",
          "the device does not tell the free space of " + p_.folder.path);
    } else {
      const DiskSpace& space = *p_.folder.space;
      std::uint64_t room = space.free_bytes;
      const bool in_memory = space.file_system == "tmpfs" || space.file_system == "ramfs";
      if (in_memory && p_.folder.available_memory_bytes)
        room = std::min(room, *p_.folder.available_memory_bytes);
      std::string text = "in " + p_.folder.path +
                         (space.file_system.empty() ? "" : " (" + space.file_system + ")");
      if (in_memory) text += ", which lies in memory and is lost at each start";
      add("space", room < k_little_room ? Verdict::warning : Verdict::ok, megabytes(room) + " free",
          text,
          room < k_little_room ? std::optional<std::string>(
                                     "--remote-dir with a folder on another disk, or `stab clean`")
                               : std::nullopt);
    }
    if (p_.device.memory_bytes > 0) {
      std::string text = "in all";
      if (p_.folder.available_memory_bytes)
        text += "; " + megabytes(*p_.folder.available_memory_bytes) + " available";
      add("memory", Verdict::ok, megabytes(static_cast<std::uint64_t>(p_.device.memory_bytes)),
          text);
    }
  }

  void lock() {
    if (p_.lock_is_odd) {
      add("lock", Verdict::fail, "unusable", "something that is no lock stands at the lock's place",
          "removing it on the device");
    } else if (!p_.lock) {
      add("lock", Verdict::ok, "free", "nobody else measures there");
    } else if (p_.lock->stale) {
      add("lock", Verdict::ok, "stale",
          "left behind by " + describe(*p_.lock) + "; it will be taken over");
    } else {
      add("lock", Verdict::warning, "busy", "in use by " + describe(*p_.lock),
          "--lock-wait 10m, or `stab unlock`");
    }
  }

  void governor() {
    if (!p_.state.governor) {
      add("governor", Verdict::ok, "unknown",
          "the device does not tell how its clocks are governed");
    } else if (*p_.state.governor == "performance") {
      add("governor", Verdict::ok, *p_.state.governor, "clocks stay up");
    } else {
      add("governor", Verdict::warning, *p_.state.governor,
          "clocks follow the load: times vary more",
          "on the device: for g in /sys/devices/system/cpu/cpufreq/policy*/scaling_governor; do "
          "echo performance > $g; done");
    }
  }

  void heat() {
    if (p_.state.temperature_mc) {
      const std::string value = std::to_string(*p_.state.temperature_mc / 1000) + " C";
      const bool hot = *p_.state.temperature_mc >= k_hot_mc;
      add("temperature", hot ? Verdict::warning : Verdict::ok, value,
          hot ? "hot already: clocks may be held down" : "of the processor",
          hot ? std::optional<std::string>("cooling, or a pause") : std::nullopt);
    }
    if (p_.state.throttled) {
      add("throttling", *p_.state.throttled ? Verdict::warning : Verdict::ok,
          *p_.state.throttled ? "yes" : "no",
          *p_.state.throttled ? "clocks are held down at this moment" : "clocks are not held down",
          *p_.state.throttled ? std::optional<std::string>("cooling, or a better power supply")
                              : std::nullopt);
    }
  }

  void load() {
    if (!p_.state.load1) return;
    const std::string text = std::to_string(*p_.state.load1);
    const std::string value = text.substr(0, text.find('.') + 3);
    const bool busy = *p_.state.load1 >= 0.7;
    add("load", busy ? Verdict::warning : Verdict::ok, value,
        busy ? "other programs are at work" : "little else is at work",
        busy ? std::optional<std::string>("ending what else runs there") : std::nullopt);
  }

  void clock() {
    if (!p_.clock) return;
    const std::int64_t off = *p_.clock - now_;
    if (std::llabs(off) > k_day) {
      add("clock", Verdict::warning, std::to_string(off / k_day) + " days off",
          "its clock differs from ours; stab does not rely on it");
    } else {
      add("clock", Verdict::ok, "right", "it agrees with ours to a day");
    }
  }

  const Preflight& p_;
  std::int64_t now_;
  std::vector<Check> checks_;
};

}  // namespace

std::vector<Check> make_checks(const Preflight& preflight, std::int64_t now) {
  return Checks(preflight, now).all();
}

}  // namespace stab
