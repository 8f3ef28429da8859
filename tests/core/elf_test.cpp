// SPDX-License-Identifier: Apache-2.0
#include "stab/core/elf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/error.h"
#include "support/elf_builder.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

using test::ElfBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ElfInfo parse(const std::string& bytes) {
  return parse_elf(bytes, "lib.so");
}

ElfBuilder some_library() {
  return ElfBuilder("aarch64")
      .soname("libx.so")
      .needs("libc.so.6")
      .needs("liby.so.1")
      .runpath("$ORIGIN:/opt/lib");
}

TEST(Elf, ReadsALibraryOfEitherClassAndByteOrder) {
  for (const std::string& machine : {std::string("x86_64"), std::string("aarch64"),
                                     std::string("arm"), std::string("arm-big-endian")}) {
    const ElfInfo info = parse(ElfBuilder(machine)
                                   .soname("libx.so")
                                   .needs("libc.so.6")
                                   .needs("liby.so.1")
                                   .runpath("$ORIGIN:$ORIGIN/nnfw:")
                                   .version("libc.so.6", "GLIBC_2.9")
                                   .version("libc.so.6", "GLIBC_2.17")
                                   .version("libc.so.6", "GLIBC_PRIVATE")
                                   .version("libstdc++.so.6", "GLIBCXX_3.4.22")
                                   .bytes());
    EXPECT_EQ(info.machine.little_endian, machine != "arm-big-endian");
    EXPECT_EQ(info.machine.bits, machine.starts_with("arm") ? 32 : 64);
    EXPECT_EQ(info.soname, "libx.so");
    EXPECT_THAT(info.needed, ElementsAre("libc.so.6", "liby.so.1"));
    EXPECT_THAT(info.search_paths, ElementsAre("$ORIGIN", "$ORIGIN/nnfw"));
    EXPECT_EQ(highest_version(info, "GLIBC_"), "2.17");
    EXPECT_EQ(highest_version(info, "GLIBCXX_"), "3.4.22");
    EXPECT_EQ(highest_version(info, "CXXABI_"), std::nullopt);
    EXPECT_FALSE(info.executable);
    EXPECT_FALSE(info.debug_info);
  }
}

TEST(Elf, TellsAProgramAndDebugInformation) {
  const ElfInfo info = parse(ElfBuilder("x86_64")
                                 .interpreter("/lib64/ld-linux-x86-64.so.2")
                                 .section(".debug_info")
                                 .bytes());
  EXPECT_TRUE(info.executable);
  EXPECT_EQ(info.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_TRUE(info.debug_info);
}

TEST(Elf, TellsTheFloatAbiByFlagsOrElseByTheLoader) {
  EXPECT_EQ(parse(ElfBuilder("arm").flags(0x5000400).bytes()).machine.float_abi, "hard");
  EXPECT_EQ(parse(ElfBuilder("arm").flags(0x5000200).bytes()).machine.float_abi, "soft");
  EXPECT_EQ(parse(ElfBuilder("arm").flags(0x5000000).bytes()).machine.float_abi, std::nullopt);
  EXPECT_EQ(parse(ElfBuilder("arm").needs("ld-linux-armhf.so.3").bytes()).machine.float_abi,
            "hard");
  EXPECT_EQ(parse(ElfBuilder("arm").interpreter("/lib/ld-linux.so.3").bytes()).machine.float_abi,
            "soft");
  EXPECT_EQ(parse(ElfBuilder("x86_64").flags(0x400).bytes()).machine.float_abi, std::nullopt);
}

TEST(Elf, ReadsTheMachineFromTheStartOfAFile) {
  const std::string bytes = ElfBuilder("arm").flags(0x5000400).bytes();
  const auto machine = parse_elf_header(bytes.substr(0, 64));
  ASSERT_TRUE(machine.has_value());
  EXPECT_EQ(to_string(*machine), "32-bit ARM (hard float)");
  EXPECT_EQ(parse_elf_header(bytes.substr(0, 40)), std::nullopt);
  EXPECT_EQ(parse_elf_header("#!/bin/sh\n" + std::string(60, ' ')), std::nullopt);
}

TEST(Elf, KnowsWhatRunsWhere) {
  const Machine hard = *machine_of("armv7l", "hard");
  const Machine soft = *machine_of("armv7l", "soft");
  const Machine any = *machine_of("armv8l", std::nullopt);
  EXPECT_FALSE(compatible(hard, soft));
  EXPECT_TRUE(compatible(hard, any));
  EXPECT_TRUE(compatible(any, soft));
  EXPECT_EQ(*machine_of("armhf", std::nullopt), hard);
  EXPECT_EQ(*machine_of("armel", "hard"), soft);
  EXPECT_FALSE(compatible(*machine_of("aarch64", std::nullopt), hard));
  EXPECT_FALSE(
      compatible(*machine_of("aarch64", std::nullopt), *machine_of("x86_64", std::nullopt)));
  EXPECT_EQ(device_arch(hard), "armv7l");
  EXPECT_EQ(device_arch(*machine_of("arm64", std::nullopt)), "aarch64");
  EXPECT_EQ(machine_of("mips", std::nullopt), std::nullopt);
}

TEST(Elf, ComparesVersionsByNumber) {
  EXPECT_LT(compare_versions("2.9", "2.17"), 0);
  EXPECT_GT(compare_versions("2.17", "2.9"), 0);
  EXPECT_EQ(compare_versions("2.17", "2.17"), 0);
  EXPECT_EQ(compare_versions("2.17", "2.17.0"), 0);
  EXPECT_LT(compare_versions("2.2.5", "2.3"), 0);
  EXPECT_LT(compare_versions("", "2"), 0);
  EXPECT_EQ(compare_versions("99999999999999999999", "x"), 0);
}

TEST(Elf, FindsLiteralsThatStandAlone) {
  const std::string bytes("\0RUY_THREADS\0XNUM_THREADS\0TRACE_FILEPATH2\0EXECUTOR", 50);
  EXPECT_THAT(literals_in(bytes, {"RUY_THREADS", "NUM_THREADS", "TRACE_FILEPATH", "EXECUTOR"}),
              ElementsAre("RUY_THREADS"));
  EXPECT_THAT(literals_in(std::string("XA\0;A\0", 6), {"A"}), ElementsAre("A"));
  EXPECT_THAT(literals_in("", {"A"}), IsEmpty());
}

TEST(Elf, RefusesWhatIsNoElfFile) {
  for (const std::string& bytes : {std::string(),
                                   std::string("\x7f"
                                               "ELF"),
                                   std::string(200, 'x'),
                                   std::string("\x7f"
                                               "ELF\x03\x01") +
                                       std::string(100, '\0')}) {
    try {
      parse(bytes);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_THAT(error.what(), HasSubstr("'lib.so'"));
    }
  }
}

TEST(Elf, ReadsOrRefusesEveryTruncationAndDamage) {
  const std::string bytes =
      some_library().version("libc.so.6", "GLIBC_2.17").section(".debug_info").bytes();
  int refused = 0;
  const auto attempt = [&refused](const std::string& damaged) {
    try {
      parse(damaged);
    } catch (const Error&) {
      ++refused;
    }
  };
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) attempt(bytes.substr(0, cut));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = value;
      attempt(damaged);
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Elf, ReadsRealRuntimes) {
  const auto newest = test::require_runtime("onert-1.30-x86_64");
  const ElfInfo api = parse(test::read_text(newest / "libonert.so"));
  EXPECT_EQ(to_string(api.machine), "x86_64");
  EXPECT_EQ(api.soname, "libonert.so");
  EXPECT_THAT(api.needed, Contains("libonert_core.so"));
  EXPECT_THAT(api.search_paths, ElementsAre("$ORIGIN", "$ORIGIN/nnfw"));
  EXPECT_TRUE(highest_version(api, "GLIBC_").has_value());
  const auto arm = test::require_runtime("onert-1.26-armv7l");
  const std::string core = test::read_text(arm / "libonert_core.so");
  EXPECT_EQ(to_string(parse(core).machine), "32-bit ARM (hard float)");
  EXPECT_THAT(parse(core).needed, Contains("libhdf5_cpp.so.103"));
  EXPECT_THAT(literals_in(core, {"TRACE_FILEPATH", "TRACING_MODE", "RUY_THREADS", "NUM_THREADS"}),
              ElementsAre("TRACE_FILEPATH", "RUY_THREADS"));
}

}  // namespace
}  // namespace stab
