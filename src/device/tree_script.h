// SPDX-License-Identifier: Apache-2.0
// Shell text about trees below the work folder that several scripts share, and the form of their
// names.
#pragma once

#include <string>
#include <string_view>

namespace stab {

/// True for a kind, a dash and 16 hexadecimal digits: "pkg-0123456789abcdef".
bool is_tree_name(std::string_view name);

/// Defines `is_tree NAME`: the same test there, with or without ".part" at the end.
std::string is_tree_script();

/// Defines `list_tree FOLDER`, which prints mode, size, time and name of all that is in it. The
/// text is only ever compared with text of the same function on the same device. `choose_lister`
/// before spares each call in a subshell from finding out how.
std::string list_tree_script();

}  // namespace stab
