// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM as a flag that everything that waits looks at.
#pragma once

namespace stab {

/// From here on SIGINT and SIGTERM set the flag, and SIGPIPE is ignored. A second SIGINT ends the
/// process at once.
void catch_interrupts();

/// True once one of them arrived.
bool interrupted();

/// A descriptor that becomes readable once one of them arrived, for poll(); -1 before
/// catch_interrupts().
int interrupt_descriptor();

}  // namespace stab
