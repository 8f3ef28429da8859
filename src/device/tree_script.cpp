// SPDX-License-Identifier: Apache-2.0
#include "tree_script.h"

#include <algorithm>

namespace stab {

bool is_tree_name(std::string_view name) {
  const auto dash = name.find('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view kind = name.substr(0, dash);
  const std::string_view hash = name.substr(dash + 1);
  return (kind == "rt" || kind == "pkg" || kind == "in") && hash.size() == 16 &&
         std::all_of(hash.begin(), hash.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string is_tree_script() {
  return R"SH(
is_tree() {
  h_=${1%.part}
  case $h_ in rt-*|pkg-*|in-*) ;; *) return 1 ;; esac
  h_=${h_#*-}
  case $h_ in *[!0-9a-f]*) return 1 ;; esac
  [ ${#h_} = 16 ] && [ -d "$1" ] && [ ! -L "$1" ]
}
)SH";
}

std::string list_tree_script() {
  return R"SH(
lister_=
choose_lister() {
  if have find && have stat && [ -n "$(stat -c %f / 2>/dev/null)" ]; then lister_=stat; else lister_=ls; fi
}
list_tree() {
  [ -n "$lister_" ] || choose_lister
  case $lister_ in
    stat) (cd "$1" && echo stat && find . ! -type d -exec stat -c '%f %s %Y %n' {} +) ;;
    *) (cd "$1" && echo ls && ls -lnR .) ;;
  esac
}
)SH";
}

}  // namespace stab
