// SPDX-License-Identifier: Apache-2.0
#include "stab/device/preflight.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include "stab/core/error.h"
#include "support/devices.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

const Check& check_of(const Preflight& preflight, const std::string& id) {
  for (const Check& check : preflight.checks) {
    if (check.id == id) return check;
  }
  static const Check nothing{"", Verdict::fail, "no such check", "", std::nullopt};
  return nothing;
}

class PreflightOnDevice : public testing::TestWithParam<test::DeviceKind> {
 protected:
  void SetUp() override {
    device_.emplace(GetParam());
    transport_ = device_->connect();
    options_.work_folder = (dir_.path() / "ONE").string();
    options_.lock_path = (dir_.path() / "lock").string();
  }

  // Files of a board with four fast and two slow cores.
  void make_board() {
    const fs::path root = "root";
    options_.system_root = (dir_.path() / root).string();
    const auto file = [&](const std::string& name, const std::string& text) {
      dir_.write((root / name).string(), text);
    };
    for (int core = 0; core < 6; ++core) {
      file("sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/cpuinfo_max_freq",
           core < 2 ? "1400000\n" : "2400000\n");
    }
    file("sys/devices/system/cpu/cpu7/online", "0\n");
    file("sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "ondemand\n");
    file("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n");
    file("sys/class/thermal/thermal_zone0/temp", "81000\n");
    file("proc/device-tree/model", std::string("Odroid XU4\0", 11));
    file("proc/cpuinfo",
         "processor\t: 0\nFeatures\t: neon\nHardware\t: SAMSUNG EXYNOS\nSerial\t: 00c0ffee\n");
    file("proc/meminfo", "MemTotal:        2000000 kB\nMemFree: 1 kB\n");
    file("proc/uptime", "4711.25 100.00\n");
    file("proc/loadavg", "1.70 0 0 1/2 3\n");
    file("proc/sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n");
    file("etc/machine-id", "0123456789abcdef0123456789abcdef\n");
  }

  Preflight look() { return preflight(*transport_, options_); }

  test::TempDir dir_;
  std::optional<test::TestDevice> device_;
  std::unique_ptr<Transport> transport_;
  PreflightOptions options_;
};

TEST_P(PreflightOnDevice, TellsWhatThisMachineIs) {
  const Preflight found = look();
  ASSERT_TRUE(found.machine.has_value());
  EXPECT_EQ(found.os, "Linux");
  EXPECT_EQ(found.machine->bits, static_cast<int>(8 * sizeof(void*)));
  EXPECT_FALSE(found.device.kernel.empty());
  EXPECT_EQ(found.device.boot_id.size(), 36);
  EXPECT_GT(found.device.memory_bytes, 0);
  EXPECT_EQ(found.device.transport,
            GetParam().link == test::DeviceKind::Link::local ? "local" : "ssh");
  EXPECT_THAT(found.device.libc, testing::StartsWith("glibc 2."));
  EXPECT_THAT(found.glibcxx.value_or(""), testing::StartsWith("3.4."));
  int cores = 0;
  for (const CoreGroup& group : found.device.cores) cores += group.count;
  EXPECT_EQ(cores, sysconf(_SC_NPROCESSORS_ONLN));
  EXPECT_THAT(found.user_id, Optional(static_cast<int>(geteuid())));
  EXPECT_TRUE(found.uptime_seconds.has_value());
  EXPECT_THAT(found.can_execute, Optional(true));
  EXPECT_EQ(check_of(found, "lock").value, "free");
}

TEST_P(PreflightOnDevice, ChangesNothing) {
  look();
  EXPECT_FALSE(fs::exists(options_.work_folder));
  EXPECT_FALSE(fs::exists(options_.lock_path));
  EXPECT_TRUE(fs::is_empty(dir_.path()));
}

TEST_P(PreflightOnDevice, ReadsABoard) {
  make_board();
  const Preflight found = look();
  ASSERT_EQ(found.device.cores.size(), 2);
  EXPECT_EQ(found.device.cores[0].mask, "0x3c");
  EXPECT_EQ(found.device.cores[0].count, 4);
  EXPECT_THAT(found.device.cores[0].max_khz, Optional(2'400'000));
  EXPECT_EQ(found.device.cores[1].mask, "0x3");
  EXPECT_THAT(found.device.soc, Optional(std::string("Odroid XU4")));
  EXPECT_EQ(found.device.memory_bytes, 2'000'000'000LL / 1000 * 1024);
  EXPECT_THAT(found.uptime_seconds, Optional(4711.25));
  EXPECT_EQ(found.device.boot_id, "01234567-89ab-cdef-0123-456789abcdef");
  EXPECT_EQ(found.device.id, device_id("0123456789abcdef0123456789abcdef", "00c0ffee"));
  EXPECT_THAT(found.device.id, Not(HasSubstr("0123456789abcdef")));
  EXPECT_EQ(check_of(found, "governor").verdict, Verdict::warning);
  EXPECT_THAT(check_of(found, "cores").remedy, Optional(HasSubstr("0x3c")));
  EXPECT_EQ(check_of(found, "temperature").verdict, Verdict::warning);
  EXPECT_EQ(check_of(found, "load").value, "1.70");
}

TEST_P(PreflightOnDevice, LeavesUnknownWhatADeviceDoesNotTell) {
  options_.system_root = (dir_.path() / "nothing").string();
  const Preflight found = look();
  EXPECT_TRUE(found.device.cores.empty());
  EXPECT_EQ(found.device.memory_bytes, 0);
  EXPECT_EQ(found.device.boot_id, "");
  EXPECT_FALSE(found.uptime_seconds.has_value());
  EXPECT_FALSE(found.state.governor.has_value());
  EXPECT_EQ(check_of(found, "cores").value, "unknown");
}

TEST_P(PreflightOnDevice, ReportsReducedFeaturesAndNotFailuresWithoutTools) {
  const Preflight found = look();
  const bool bare = !GetParam().complete();
  EXPECT_EQ(check_of(found, "tools").verdict, bare ? Verdict::warning : Verdict::ok)
      << check_of(found, "tools").text;
  if (bare) {
    EXPECT_THAT(check_of(found, "tools").text,
                testing::AllOf(HasSubstr("sha256sum"), HasSubstr("taskset")));
    EXPECT_FALSE(found.clock.has_value());
  }
}

TEST_P(PreflightOnDevice, FindsANoexecMountBeforeAnythingIsSent) {
  fs::create_directories(options_.work_folder);
  if (mount("tmpfs", options_.work_folder.c_str(), "tmpfs", MS_NOEXEC, "size=1m,mode=0700") != 0)
    GTEST_SKIP() << "cannot mount here";
  const Preflight found = look();
  umount2(options_.work_folder.c_str(), MNT_DETACH);
  EXPECT_THAT(found.can_execute, Optional(false));
  EXPECT_EQ(check_of(found, "execution").verdict, Verdict::fail);
  EXPECT_THAT(check_of(found, "execution").text, HasSubstr("noexec"));
  EXPECT_THAT(check_of(found, "execution").remedy, Optional(HasSubstr("--remote-dir")));
}

TEST_P(PreflightOnDevice, TellsWhyAWorkFolderCannotBeUsed) {
  fs::create_symlink("/nowhere", options_.work_folder);
  EXPECT_EQ(check_of(look(), "work_folder").verdict, Verdict::fail);
  EXPECT_THAT(check_of(look(), "work_folder").text, HasSubstr("symbolic link"));
}

TEST_P(PreflightOnDevice, TellsWhoIsMeasuringThere) {
  DeviceLock lock(*transport_, {.path = options_.lock_path, .who = "anna@laptop:42"});
  const Preflight found = look();
  ASSERT_TRUE(found.lock.has_value());
  EXPECT_EQ(check_of(found, "lock").verdict, Verdict::warning);
  EXPECT_THAT(check_of(found, "lock").text, HasSubstr("anna@laptop:42"));
}

TEST_P(PreflightOnDevice, FindsLibrariesOfTheRightMachine) {
  const Machine machine = look().machine.value();
  const DeviceLibraries libraries = find_device_libraries(
      *transport_, {"libstdc++.so.6", "libnowhere.so.1", "bad name", "$(reboot)"}, machine);
  EXPECT_THAT(libraries.found, ElementsAre("libstdc++.so.6"));
  EXPECT_THAT(libraries.looked_in, HasSubstr("/usr/lib"));
  const Machine other{32, false, "mips", std::nullopt};
  EXPECT_TRUE(find_device_libraries(*transport_, {"libstdc++.so.6"}, other).found.empty());
}

INSTANTIATE_TEST_SUITE_P(Devices, PreflightOnDevice, testing::ValuesIn(test::all_devices()),
                         [](const auto& one) { return std::string(one.param.name); });

// An answer as a device would give it.
class ParsePreflight : public testing::Test {
 protected:
  ParsePreflight() {
    line("work requested absent");
    line("work state absent");
    line("lock free");
    line("dev os Linux");
  }
  void line(const std::string& text) {
    const auto blank = text.find(' ');
    answer_.lines.emplace_back(text.substr(0, blank), text.substr(blank + 1));
  }
  // 64 bytes of a 32-bit little-endian ARM file with these flags, and what follows.
  void arm_shell(std::uint32_t flags, const std::string& interpreter) {
    std::string elf(
        "\x7f"
        "ELF\1\1\1",
        7);
    elf.resize(52, '\0');
    elf[16] = 2;
    elf[18] = 40;
    elf[20] = 1;
    for (int i = 0; i < 4; ++i)
      elf[static_cast<std::size_t>(36 + i)] = static_cast<char>(flags >> (8 * i));
    elf.resize(200, '\0');
    answer_.blobs["sh"] = elf + interpreter + std::string(100, '\0');
  }
  Preflight parse(std::int64_t now = 1'800'000'000) const {
    return parse_preflight(answer_, {.work_folder = "/tmp/ONE"},
                           LinkInfo{false, {}, "", "root@board"}, now);
  }

  Answer answer_;
};

TEST_F(ParsePreflight, TellsTheFloatAbiByFlagsOrLoader) {
  arm_shell(0x5000400, "/lib/ld-linux.so.3");
  EXPECT_THAT(parse().device.float_abi, Optional(std::string("hard")));
  EXPECT_EQ(parse().device.arch, "armv7l");
  arm_shell(0x5000200, "");
  EXPECT_THAT(parse().device.float_abi, Optional(std::string("soft")));
  arm_shell(0x5000000, "/lib/ld-linux-armhf.so.3");
  EXPECT_THAT(parse().device.float_abi, Optional(std::string("hard")));
  arm_shell(0x5000000, "/lib/ld-linux.so.3");
  EXPECT_THAT(parse().device.float_abi, Optional(std::string("soft")));
  arm_shell(0x5000000, "");
  EXPECT_FALSE(parse().device.float_abi.has_value());
}

TEST_F(ParsePreflight, SeesA32BitUserlandUnderA64BitKernel) {
  arm_shell(0x5000400, "/lib/ld-linux-armhf.so.3");
  line("dev processor aarch64");
  EXPECT_EQ(parse().device.arch, "armv7l");
}

TEST_F(ParsePreflight, TakesAHexadecimalDumpWhereNothingElseIsThere) {
  line("dev sh 7f 45 4c 46 02 01 01 00 00 00 00 00 00 00 00 00");
  line("dev sh 03 00 b7 00 01 00 00 00 00 00 00 00 00 00 00 00");
  line("dev sh 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  line("dev sh 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
  EXPECT_EQ(parse().device.arch, "aarch64");
}

TEST_F(ParsePreflight, KnowsTheCLibraryFromWhateverSpeaksOfIt) {
  const auto libc = [this](const std::string& text) {
    const Answer before = answer_;
    line(text);
    const std::string found = parse().device.libc;
    answer_ = before;
    return found;
  };
  EXPECT_EQ(libc("dev getconf glibc 2.36"), "glibc 2.36");
  EXPECT_EQ(libc("dev ldd ldd (Debian GLIBC 2.36-9+deb12u4) 2.36"), "glibc 2.36");
  EXPECT_EQ(libc("dev ldd ldd (GNU libc) 2.31"), "glibc 2.31");
  EXPECT_EQ(libc("dev libc /lib/arm-linux-gnueabihf/libc.so.6 libc-2.28.so"), "glibc 2.28");
  EXPECT_EQ(libc("dev libc /lib/libc.so.6  GNU C Library (Ubuntu GLIBC 2.31-0ubuntu9) stable "
                 "release version 2.31.; x"),
            "glibc 2.31");
  EXPECT_EQ(libc("dev libc /lib/ld-musl-aarch64.so.1  musl libc (aarch64); Version 1.2.3"),
            "musl 1.2.3");
  EXPECT_EQ(libc("dev node x"), "");
}

TEST_F(ParsePreflight, NamesACoreByItsNumbersWhereNothingElseDoes) {
  line("dev cpuinfo CPU implementer\t: 0x41");
  line("dev cpuinfo CPU part\t: 0xd08");
  EXPECT_THAT(parse().device.soc, Optional(std::string("Cortex-A72")));
}

TEST_F(ParsePreflight, TellsAnEmulatedDevice) {
  EXPECT_FALSE(parse().device.emulated);
  const Answer before = answer_;
  line("dev exe lrwxrwxrwx 1 root root 0 Jan 1 00:00 /proc/12/exe -> /usr/bin/qemu-arm-static");
  EXPECT_TRUE(parse().device.emulated);
  answer_ = before;
  line("dev cpuinfo model name : QEMU TCG CPU version 2.5+");
  EXPECT_TRUE(parse().device.emulated);
  answer_ = before;
  arm_shell(0x5000400, "");
  line("dev cpuinfo vendor_id : AuthenticAMD");
  EXPECT_TRUE(parse().device.emulated);
  EXPECT_EQ(check_of(parse(), "emulated").verdict, Verdict::warning);
}

TEST_F(ParsePreflight, TellsTheHighestSymbolVersionOfTheCxxLibrary) {
  line("dev libstdcxx libstdc++.so.6.0.28");
  line("dev libstdcxx libstdc++.so.6.0.30");
  line("dev libstdcxx libstdc++.so.6.0.30-gdb.py");
  EXPECT_THAT(parse().glibcxx, Optional(std::string("3.4.30")));
}

TEST_F(ParsePreflight, ToleratesAClockThatIsYearsOff) {
  line("dev clock 12");
  EXPECT_EQ(check_of(parse(), "clock").verdict, Verdict::warning);
  EXPECT_THAT(check_of(parse(), "clock").value, HasSubstr("days off"));
}

TEST_F(ParsePreflight, FailsOnlyForToolsThatAreNeeded) {
  EXPECT_EQ(check_of(parse(), "tools").verdict, Verdict::fail);
  EXPECT_THAT(check_of(parse(), "tools").value, HasSubstr("tar"));
}

TEST_F(ParsePreflight, CountsMemoryWhereTheFolderLiesInMemory) {
  line("work space tmpfs 4000000 0 4000000 0% /tmp");
  line("work mount tmpfs rw,nosuid,nodev");
  line("work memory 50000");
  EXPECT_EQ(check_of(parse(), "space").verdict, Verdict::warning);
  EXPECT_EQ(check_of(parse(), "space").value, "51 MB free");
  EXPECT_THAT(check_of(parse(), "space").text, HasSubstr("memory"));
}

TEST_F(ParsePreflight, KnowsAProcessorThatComputesAes) {
  EXPECT_FALSE(parse().folder.computes_aes);
  line("work aes");
  EXPECT_TRUE(parse().folder.computes_aes);
}

TEST_F(ParsePreflight, TakesNothingOddFromADevice) {
  line("dev core 99999999 1");
  line("dev core -1 1");
  line("dev core x");
  line("dev memory 99999999999999999999");
  line("dev uptime nan");
  line("dev boot ; rm -rf /");
  line("dev kernel 6.1\x1b[31m");
  const Preflight found = parse();
  EXPECT_TRUE(found.device.cores.empty());
  EXPECT_EQ(found.device.memory_bytes, 0);
  EXPECT_FALSE(found.uptime_seconds.has_value());
  EXPECT_EQ(found.device.boot_id, "");
  EXPECT_EQ(found.device.kernel, "6.1?[31m");
}

TEST(GroupCores, OrdersByFrequencyAndMakesMasks) {
  const std::vector<CoreGroup> groups =
      group_cores({{0, 1000}, {1, 2000}, {9, 2000}, {2, std::nullopt}});
  ASSERT_EQ(groups.size(), 3);
  EXPECT_EQ(groups[0].mask, "0x202");
  EXPECT_EQ(groups[1].mask, "0x1");
  EXPECT_EQ(groups[2].mask, "0x4");
  EXPECT_FALSE(groups[2].max_khz.has_value());
}

TEST(DeviceId, IsSaltedAndTellsClonedImagesApart) {
  const std::string id = device_id("abc", "1");
  EXPECT_EQ(id.size(), 16);
  EXPECT_NE(id, device_id("abc", "2"));
  EXPECT_EQ(device_id("", ""), "");
}

}  // namespace
}  // namespace stab
