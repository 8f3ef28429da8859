// SPDX-License-Identifier: Apache-2.0
// The main job on emulated ARM boards with BusyBox and dropbear, with real ARM runtimes.
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/board.h"
#include "support/far_job.h"
#include "support/real_world.h"

namespace stab {
namespace {

struct Kind {
  const char* name;
  const char* board;
  const char* runtime;
  const char* delivery;
  const char* processor;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class ScheduleOnBoard : public ::testing::TestWithParam<Kind> {};

TEST_P(ScheduleOnBoard, WritesAProvenPackageAndLeavesNothingButItsCache) {
  test::require_runtime(GetParam().runtime);
  const test::Board board = test::require_board(GetParam().board);
  test::FarDevice device;
  device.ip = "root@" + board.host + ":" + std::to_string(board.port);
  device.ssh_dir = board.ssh_dir;
  device.work_folder = "/tmp/stab-test-" + std::to_string(getpid()) + "-" + GetParam().name;
  device.processor = GetParam().processor;
  device.shell = [&](const std::string& command) { return test::run_on_board(board, command).out; };
  test::expect_whole_job(device, GetParam().runtime, GetParam().delivery);
}

INSTANTIATE_TEST_SUITE_P(
    Boards, ScheduleOnBoard,
    ::testing::Values(Kind{"armhf_126", "armhf", "onert-1.26-armv7l", "config", "ARMv7"},
                      Kind{"arm64_126", "arm64", "onert-1.26-aarch64", "config", "Cortex-A72"},
                      Kind{"arm64_130", "arm64", "onert-1.30-aarch64", "env", "Cortex-A72"}),
    [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace stab
