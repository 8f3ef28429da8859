// SPDX-License-Identifier: Apache-2.0
#include "stab/host/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace stab {
namespace {

using std::chrono::seconds;

TEST(Progress, SaysStagePartTimeLeftAndWhatWasFound) {
  EXPECT_EQ(render_progress("profile", 5, 10, "round 6: ruy; so far cpu 59.5 ms", seconds(60), 100),
            "profile  50 %, 1 min 0 s left  round 6: ruy; so far cpu 59.5 ms");
}

TEST(Progress, GuessesNoTimeWhereItCannotKnow) {
  EXPECT_EQ(render_progress("connect", 0, 0, "board", seconds(5), 80), "connect  board");
  EXPECT_EQ(render_progress("profile", 0, 10, "", seconds(5), 80), "profile  0 %");
  EXPECT_EQ(render_progress("profile", 10, 10, "", seconds(5), 80), "profile  100 %");
}

TEST(Progress, IsCutToTheWidthBetweenCharacters) {
  EXPECT_EQ(render_progress("profile", 0, 0, "ééééé", seconds(0), 12), "profile  ééé");
}

class Columns : public ::testing::Test {
 protected:
  ~Columns() override { unsetenv("COLUMNS"); }
  static int width_with(const char* columns) {
    setenv("COLUMNS", columns, 1);
    return terminal_width(-1, 100);
  }
};

TEST_F(Columns, AreWhatTheEnvironmentAsksFor) {
  EXPECT_EQ(width_with("64"), 64);
  unsetenv("COLUMNS");
  EXPECT_EQ(terminal_width(-1, 100), 100);
}

TEST_F(Columns, ThatMakeNoSenseAreIgnored) {
  for (const char* columns : {"", "0", "-80", "3", "80x", "99999999999", "wide"})
    EXPECT_EQ(width_with(columns), 100) << columns;
}

}  // namespace
}  // namespace stab
