// SPDX-License-Identifier: Apache-2.0
// The shell text around a command on the device: it gets past any login shell, marks where the
// command's own output begins, and makes sure that the command dies with us. The same text runs on
// this machine.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace stab {

/// How a command is looked after on the far side.
struct Supervision {
  /// True: what follows the program on standard input is the command's own input. False: the
  /// command reads /dev/null, and what follows is the lifeline: lines that say that we are still
  /// there; at end-of-file the command is ended.
  bool input = false;
  std::chrono::seconds silence{
      30};  ///< without a line for so long (and up to a third more) the command is ended
};

/// What a login shell is asked to execute, always the same: one line without `!` or backslash,
/// which bash, dash, BusyBox ash, fish and tcsh read alike. It makes /bin/sh read the program from
/// standard input; so neither a login shell nor the limits on the length of an argument or an exec
/// request (9000 bytes in dropbear) ever meet a script.
std::string_view remote_command_line();

/// The program for remote_command_line(): one line with its line feed, to be sent first on standard
/// input. It runs `script` with /bin/sh, LC_ALL=C and, where `setsid` exists, in a session of its
/// own; just before, it prints the line "TOKEN PID" on standard output and "TOKEN" on standard
/// error, PID being the command's (and its process group's, in a session of its own). When the
/// command is over, what is left of its group is ended; ending is TERM, and KILL 3 s later. The
/// status is the command's; 128 + n when signal n ended it; 143 when we did. `token` is a plain
/// word.
std::string remote_program(std::string_view script, std::string_view token, const Supervision& how);

}  // namespace stab
