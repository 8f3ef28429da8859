// SPDX-License-Identifier: Apache-2.0
// stab-runner's command line and what it says when it cannot even start.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "runner/runner_process.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct BadCall {
  Arguments arguments;
  const char* reason;
};

class RunnerArguments : public testing::TestWithParam<BadCall> {};

TEST_P(RunnerArguments, AFaultIsNamedInOneLineWithStatus1) {
  const ProcessResult result = run_runner(GetParam().arguments);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, StartsWith("stab-runner: "));
  EXPECT_THAT(result.err, HasSubstr(GetParam().reason));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.out, "");
}

INSTANTIATE_TEST_SUITE_P(
    Bad, RunnerArguments,
    testing::Values(
        BadCall{{}, "no package is named"}, BadCall{{"/nowhere"}, "cannot find /nowhere"},
        BadCall{{"/", "/tmp"}, "more than one package"},
        BadCall{{"--what", "/"}, "unknown option --what"},
        BadCall{{"-w5", "/"}, "unknown option -w5"},
        BadCall{{"/", "-w"}, "option -w needs a value"},
        BadCall{{"-w", "-1", "/"}, "whole number from 0"},
        BadCall{{"-w", "", "/"}, "whole number from 0"}, BadCall{{"-w", "1e3", "/"}, "not '1e3'"},
        BadCall{{"-r", "0", "/"}, "from 1 to 100000"},
        BadCall{{"-r", "100001", "/"}, "from 1 to 100000"},
        BadCall{{"--seed", "18446744073709551616", "/"}, "option --seed"},
        BadCall{{"--shape_prepare", "", "/"}, "it starts with ["},
        BadCall{{"--shape_prepare", "[0,[1,8]", "/"}, "it ends with ]"},
        BadCall{{"--shape_prepare", "[0,[1,8]]x", "/"}, "nothing may follow"},
        BadCall{{"--shape_prepare", "[0,1]", "/"}, "needs a list of dimensions"},
        BadCall{{"--shape_prepare", "[0,[1 8]]", "/"}, "a shape ends with ]"},
        BadCall{{"--shape_prepare", "[0,[1,]]", "/"}, "whole number from 1"},
        BadCall{{"--shape_prepare", "[0,[0]]", "/"}, "whole number from 1"},
        BadCall{{"--shape_prepare", "[0,[-1]]", "/"}, "whole number from 1"},
        BadCall{{"--shape_prepare", "[0,[2147483648]]", "/"}, "whole number from 1"},
        BadCall{{"--shape_prepare", "[0,[1,1,1,1,1,1,1]]", "/"}, "at most 6 dimensions"},
        BadCall{{"--shape_prepare", "[[1],0]", "/"}, "whole number from 0"},
        BadCall{{"--shape_prepare", "[4294967296,[1]]", "/"}, "whole number from 0"},
        BadCall{{"--shape_prepare", "[0]", "/"}, "a comma stands after"},
        BadCall{{"--output_sizes", "[0,[4]]", "/"}, "needs a number of bytes"},
        BadCall{{"--per-op", "@/nowhere/map", "/"}, "cannot read /nowhere/map: No such file"},
        BadCall{{"--per-op", "@/", "/"}, "Is a directory"},
        BadCall{{"--trace", "/nowhere", "/"}, "/nowhere is not a folder"},
        BadCall{{"--dump:raw", "/nowhere/out", "/"}, "folder of /nowhere/out does not exist"},
        BadCall{{"--dump_input:raw", "", "/"}, "not empty"}));

TEST(Runner, RefusesAMapFileThatIsNotAText) {
  const TempDir dir;
  const std::string zero = dir.write("zero", std::string("0=cpu\0;", 7)).string();
  EXPECT_THAT(run_runner({"--per-op", "@" + zero, "/"}).err, HasSubstr("is not a text"));
  const std::string large = dir.write("large", std::string((1U << 20) + 1, '0')).string();
  EXPECT_THAT(run_runner({"--per-op", "@" + large, "/"}).err, HasSubstr("more than 1048576 bytes"));
}

TEST(Runner, HelpListsEveryOption) {
  const ProcessResult result = run_runner({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "");
  for (const char* option : {"-w,", "-r,", "--dump:raw", "--dump_input:raw", "--load:raw", "--seed",
                             "--fixed_input", "--shape_prepare", "--output_sizes", "--backends",
                             "--per-op", "--trace", "--library", "--version", "--help"}) {
    EXPECT_THAT(result.out, HasSubstr(std::string("  ") + option));
  }
}

TEST(Runner, TellsItsVersion) {
  const ProcessResult result = run_runner({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, testing::MatchesRegex("stab-runner [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(Runner, NamesEveryPlaceWhereItLookedForTheRuntime) {
  const ProcessResult result = run_runner({"/"});
  EXPECT_EQ(result.exit_code, 255);
  EXPECT_THAT(result.err, HasSubstr("libonert.so: cannot open shared object file"));
  EXPECT_THAT(result.err, HasSubstr("libnnfw-dev.so: cannot open shared object file"));
  EXPECT_THAT(result.err, HasSubstr("/runner: no libonert.so and no libnnfw-dev.so there"));
  EXPECT_THAT(result.err, EndsWith("/runner/../lib: no libonert.so and no libnnfw-dev.so there\n"));
}

TEST(Runner, PassesTheLoadersWordsOn) {
  const TempDir dir;
  const std::string text = dir.write("libonert.so", "no library").string();
  for (const std::string& library : {text, dir.path().string()}) {
    const ProcessResult result = run_runner({"--library", library, "/"});
    EXPECT_EQ(result.exit_code, 255);
    EXPECT_THAT(result.err, HasSubstr("libonert.so: file too short"));
  }
  EXPECT_THAT(run_runner({"--library", "/nowhere.so", "/"}).err,
              HasSubstr("/nowhere.so: cannot open shared object file: No such file"));
}

TEST(Runner, RefusesALibraryThatIsNoRuntime) {
  Dl_info info;
  void* address = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  ASSERT_NE(dladdr(address, &info), 0);
  const std::string library = std::filesystem::canonical(info.dli_fname).string();
  const ProcessResult result = run_runner({"--library", library, "/"});
  EXPECT_EQ(result.exit_code, 255);
  EXPECT_THAT(result.err, HasSubstr("no function nnfw_create_session"));
}

TEST(Runner, NamesALibraryOfAnotherArchitecture) {
  const std::filesystem::path arm = require_runtime("onert-1.26-armv7l");
  const ProcessResult result = run_runner({"--library", arm.string(), "/"});
  EXPECT_EQ(result.exit_code, 255);
  EXPECT_THAT(result.err, HasSubstr("libnnfw-dev.so: wrong ELF class: ELFCLASS32"));
}

}  // namespace
}  // namespace stab::test
