// SPDX-License-Identifier: Apache-2.0
// Standard input, output and error of a process that may have been started without them.
#pragma once

#include <ostream>

namespace stab {

/// A descriptor of 0, 1 and 2 that is closed becomes one that can neither be read nor written to
/// any effect. Otherwise the next file that is opened takes its number, and the report goes into
/// it. To be called before anything is opened.
void hold_standard_descriptors();

/// Writes out what `out` still holds. Throws Error(output) when that or anything before it failed.
void finish_standard_output(std::ostream& out);

}  // namespace stab
