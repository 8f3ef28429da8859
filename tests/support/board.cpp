// SPDX-License-Identifier: Apache-2.0
#include "support/board.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "support/real_world.h"

namespace stab::test {
namespace {

constexpr int k_refused = 77;  // the status of scripts/board where mounting is refused
constexpr int k_seconds_to_make = 1500;

/// The value of `NAME=value` or `NAME='value'` among the lines that scripts/board prints.
std::string assigned(const std::string& lines, const std::string& name) {
  const std::size_t at = ("\n" + lines).find("\n" + name + "=");
  if (at == std::string::npos) throw std::runtime_error("scripts/board start printed no " + name);
  std::string value = lines.substr(at + name.size() + 1);
  value.resize(value.find('\n'));
  if (value.starts_with('\'')) value = value.substr(1, value.size() - 2);
  return value;
}

[[noreturn]] void end_test(bool skipped, const std::string& reason) {
  const auto record = [&] {
    if (!skipped) GTEST_FAIL() << reason;
    GTEST_SKIP() << reason;
  };
  record();
  // Already recorded above: GoogleTest takes this exception as "leave the test" and adds nothing.
  throw testing::AssertionException(testing::TestPartResult(
      skipped ? testing::TestPartResult::kSkip : testing::TestPartResult::kFatalFailure, __FILE__,
      __LINE__, reason.c_str()));
}

}  // namespace

Board require_board(std::string_view arch) {
  ProcessOptions options;
  options.timeout_seconds = k_seconds_to_make;
  const ProcessResult started =
      run_process({STAB_SOURCE_DIR "/scripts/board", "start", std::string(arch)}, options);
  if (started.exit_code != 0) end_test(started.exit_code == k_refused, started.err);
  return {.arch = std::string(arch),
          .host = assigned(started.out, "STAB_BOARD_HOST"),
          .port = std::stoi(assigned(started.out, "STAB_BOARD_PORT")),
          .ssh_dir = assigned(started.out, "STAB_SSH_DIR")};
}

ProcessResult run_on_board(const Board& board, const std::string& command) {
  const std::string config = (board.ssh_dir / "config").string();
  return run_process({"ssh", "-F", config, "board-" + board.arch, command});
}

}  // namespace stab::test
