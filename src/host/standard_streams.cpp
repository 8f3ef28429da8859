// SPDX-License-Identifier: Apache-2.0
#include "stab/host/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include "stab/core/error.h"

namespace stab {

void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // Read-only: what is written to it fails, and is noticed. The lowest free number is this one.
    if (open("/dev/null", O_RDONLY) != descriptor) return;
  }
}

void finish_standard_output(std::ostream& out) {
  out.flush();
  if (!out) {
    throw Error(ErrorKind::output, "cannot write the results", "standard output",
                "it is closed, or what it leads to is full", "--json, --html or --csv with a file");
  }
}

}  // namespace stab
