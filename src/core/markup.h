// SPDX-License-Identifier: Apache-2.0
// Text inside XML and HTML: names come from models and devices, so nothing of them may act as
// markup.
#pragma once

#include <string>
#include <string_view>

namespace stab {

/// The text with &, <, >, " and ' as references, fit for elements and quoted attributes. What XML
/// 1.0 has no place for (control characters, bytes that are not UTF-8) becomes U+FFFD; tabs and
/// line breaks become references, so that attributes keep them.
std::string escape_markup(std::string_view text);

}  // namespace stab
