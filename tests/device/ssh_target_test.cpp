// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ssh/target.h"
#include "stab/core/error.h"

namespace stab {
namespace {

TEST(SshTarget, TakesEveryWayToWriteADevice) {
  EXPECT_EQ(parse_ssh_target("board"), (SshTarget{{}, "board", {}}));
  EXPECT_EQ(parse_ssh_target("my_board"), (SshTarget{{}, "my_board", {}}));
  EXPECT_EQ(parse_ssh_target("10.0.0.5"), (SshTarget{{}, "10.0.0.5", {}}));
  EXPECT_EQ(parse_ssh_target("root@board:2222"), (SshTarget{"root", "board", 2222}));
  EXPECT_EQ(parse_ssh_target("me@corp@board"), (SshTarget{"me@corp", "board", {}}));
  EXPECT_EQ(parse_ssh_target("::1"), (SshTarget{{}, "::1", {}}));
  EXPECT_EQ(parse_ssh_target("fe80::1%eth0"), (SshTarget{{}, "fe80::1%eth0", {}}));
  EXPECT_EQ(parse_ssh_target("root@[fe80::1%eth0]:22"), (SshTarget{"root", "fe80::1%eth0", 22}));
  EXPECT_EQ(parse_ssh_target("[board]"), (SshTarget{{}, "board", {}}));
}

TEST(SshTarget, RefusesWhatIsNoDevice) {
  for (const char* text :
       {"", "-oProxyCommand=x", "root@-x", "-x@board", "@board", "root@", "board:", "board:0",
        "board:70000", "board:22x", "[::1", "[::1]22", "a b", "a\nb"}) {
    try {
      parse_ssh_target(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    }
  }
}

TEST(SshTarget, IsWrittenAsItWasRead) {
  for (const char* text : {"board", "root@board:2222", "root@fe80::1%eth0", "[::1]:2222"}) {
    EXPECT_EQ(to_string(parse_ssh_target(text)), text);
  }
}

}  // namespace
}  // namespace stab
