// SPDX-License-Identifier: Apache-2.0
#include "stab/core/error.h"

#include <gtest/gtest.h>

namespace stab {
namespace {

TEST(Error, SaysWhatFailedOnWhichThingWhyAndWhatToTry) {
  const Error error(ErrorKind::input, "cannot read model", "a.tflite", "the file ends\nearly",
                    "exporting it again");
  EXPECT_STREQ(error.what(),
               "cannot read model 'a.tflite': the file ends early; try exporting it again");
  EXPECT_EQ(error.why(), "the file ends early");
}

TEST(Error, GivesEachKindItsExitStatus) {
  EXPECT_EQ(exit_status(ErrorKind::usage), 2);
  EXPECT_EQ(exit_status(ErrorKind::input), 3);
  EXPECT_EQ(exit_status(ErrorKind::device), 4);
  EXPECT_EQ(exit_status(ErrorKind::output), 5);
  EXPECT_EQ(exit_status(ErrorKind::proof), 6);
  EXPECT_EQ(exit_status(ErrorKind::interrupted), 130);
  EXPECT_EQ(exit_status(ErrorKind::internal), 1);
}

}  // namespace
}  // namespace stab
