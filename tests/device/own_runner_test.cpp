// SPDX-License-Identifier: Apache-2.0
#include "stab/device/own_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace stab {
namespace {

using test::TempDir;

Machine machine(const std::string& arch, std::optional<std::string> float_abi = std::nullopt) {
  return *machine_of(arch, float_abi);
}

TEST(OwnRunner, HasANameForEachMachineThatOneIsBuiltFor) {
  EXPECT_EQ(own_runner_name(machine("x86_64")), "stab-runner-x86_64");
  EXPECT_EQ(own_runner_name(machine("aarch64")), "stab-runner-aarch64");
  EXPECT_EQ(own_runner_name(machine("armv7l", "hard")), "stab-runner-armhf");
  EXPECT_EQ(own_runner_name(machine("armv7l", "soft")), "stab-runner-armel");
  EXPECT_EQ(own_runner_name(machine("armv7l")), "stab-runner-armhf");
  EXPECT_EQ(own_runner_name(Machine{64, true, "riscv64", std::nullopt}), std::nullopt);
  EXPECT_EQ(own_runner_name(Machine{32, false, "arm", "hard"}), std::nullopt);
}

TEST(OwnRunner, IsFoundInAnInstallationAndInABuild) {
  const TempDir dir;
  const auto installed = dir.write("usr/libexec/stab/stab-runner-armhf", "x");
  const auto built = dir.write("build/runner/stab-runner-armhf", "x");
  const Machine arm = machine("armhf");
  EXPECT_EQ(find_own_runner(arm, {std::nullopt, dir.path() / "usr/bin/stab"}), installed);
  EXPECT_EQ(find_own_runner(arm, {std::nullopt, dir.path() / "build/stab"}), built);
  EXPECT_EQ(find_own_runner(arm, {std::nullopt, dir.path() / "build/bin/stab"}), built);
  EXPECT_EQ(find_own_runner(arm, {std::nullopt, dir.path() / "build/src/app/stab"}), built);
  EXPECT_EQ(find_own_runner(machine("x86_64"), {std::nullopt, dir.path() / "build/stab"}),
            std::nullopt);
}

TEST(OwnRunner, IsTakenFromTheEnvironmentsFolderAloneWhenThatIsSet) {
  const TempDir dir;
  const auto mine = dir.write("mine/stab-runner-armhf", "x");
  dir.write("build/runner/stab-runner-aarch64", "x");
  const RunnerSearch search{(dir.path() / "mine").string(), dir.path() / "build/stab"};
  EXPECT_EQ(find_own_runner(machine("armhf"), search), mine);
  EXPECT_EQ(find_own_runner(machine("aarch64"), search), std::nullopt);
}

}  // namespace
}  // namespace stab
