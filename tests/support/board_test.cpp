// SPDX-License-Identifier: Apache-2.0
#include "support/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Kind {
  std::string arch;
  std::string machine;
  std::string features;
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.arch;
}

class EmulatedBoard : public testing::TestWithParam<Kind> {};

TEST_P(EmulatedBoard, SaysThatItIsAnArmMachine) {
  const Board board = require_board(GetParam().arch);

  EXPECT_EQ(run_on_board(board, "uname -m").out, GetParam().machine + "\n");
  EXPECT_EQ(run_on_board(board, "hostname").out, "board-" + GetParam().arch + "\n");
  EXPECT_THAT(run_on_board(board, "cat /proc/cpuinfo").out, HasSubstr(GetParam().features));
}

TEST_P(EmulatedBoard, HasNothingForFilesButTar) {
  const Board board = require_board(GetParam().arch);

  const ProcessResult found = run_on_board(
      board, "for i in rsync scp sftp python3; do command -v $i; done; ls /usr/lib/openssh");
  EXPECT_EQ(found.out, "");
  EXPECT_THAT(run_on_board(board, "tar --help 2>&1 | head -n 1").out, StartsWith("BusyBox"));
}

TEST_P(EmulatedBoard, StaysTheSameWhenStartedTwice) {
  const Board board = require_board(GetParam().arch);
  ASSERT_EQ(run_on_board(board, "echo kept > /tmp/board-test").exit_code, 0);

  const Board again = require_board(GetParam().arch);

  EXPECT_EQ(again.port, board.port);
  EXPECT_EQ(run_on_board(again, "cat /tmp/board-test; rm /tmp/board-test").out, "kept\n");
}

TEST_P(EmulatedBoard, HidesTheProcessesOfTheMachineThatRunsIt) {
  const Board board = require_board(GetParam().arch);

  const ProcessResult processes = run_on_board(board, "ls -d /proc/[0-9]* | wc -l");

  EXPECT_LT(std::stoi(processes.out), 30) << processes.out;
}

INSTANTIATE_TEST_SUITE_P(Boards, EmulatedBoard,
                         testing::Values(Kind{"armhf", "armv7l", "neon vfpv3"},
                                         Kind{"arm64", "aarch64", "fp asimd"}),
                         [](const auto& kind) { return kind.param.arch; });

}  // namespace
}  // namespace stab::test
