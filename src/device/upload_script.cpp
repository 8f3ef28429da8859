// SPDX-License-Identifier: Apache-2.0
#include "upload_script.h"

#include "stab/device/shell.h"
#include "tree_script.h"

namespace stab {
namespace {

std::string quoted_names(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return shell_quote(text);
}

// Expects $DOUBT.
constexpr const char* k_inspect = R"SH(
for t in $DOUBT; do
  d=$t
  [ -d "$d" ] || d=$t.part
  cd "$W/$d" 2>/dev/null || continue
  say "tree $t"
  find . -type f -exec $HASH {} +
  find . -type f -perm -100 -exec printf 'x %s\n' {} +
  find . ! -type f ! -type d -exec printf 'o %s\n' {} +
done
)SH";

// Expects $BUILD, $DROP, $NEED, $PACKED.
constexpr const char* k_receive = R"SH(
free_of() {
  set -f
  l_=$(df -Pk . 2>/dev/null)
  set -- ${l_##*
}
  set +f
  [ -z "$4" ] || printf ', %s bytes free' "$(($4 * 1024))"
}
failed() {
  case $1 in
    *o\ space*|*uota*|*ile\ too\ large*)
      f_=$(free_of)
      for t in $BUILD; do rm -rf "$t.part"; done
      rm -rf up
      die full "no room in $W: $NEED bytes needed$f_" ;;
  esac
  die "${2:-write}" "cannot write in $W: $1"
}
for t in $DROP; do rm -rf "$t" "$t.part"; done
set --
for t in $BUILD; do
  [ ! -e "manifest/$t.list" ] && [ ! -e "manifest/$t.sums" ] || rm -f "manifest/$t.list" "manifest/$t.sums"
  if [ -d "$t" ]; then
    rm -rf "$t.part"
    e_=$(mv "$t" "$t.part" 2>&1) || failed "$e_"
  else
    [ -d "$t.part" ] || set -- "$@" "$t.part"
  fi
done
[ -d manifest ] || set -- "$@" manifest
e_=$( { mkdir up "$@" 2>/dev/null || { rm -rf up && mkdir -p up "$@"; }; } 2>&1) || failed "$e_"
# What openssl, which uses the processor's own instructions, says of the files that arrived; where
# it is not there or disagrees, the common tool decides. Two at a time, each with every second file.
half_right() {
  [ -s "up/$1.$2" ] || { [ -e "up/$1.$2" ]; return; }
  (cd "$1.part" && xargs openssl dgst -sha256 -r <"../up/$1.$2" 2>/dev/null) | cmp -s - "up/$1.$2.right"
}
quickly_right() {
  have openssl && have xargs && have cmp || return 1
  half_right "$1" half2 &
  half_right "$1" half1; h_=$?
  wait $! && [ $h_ = 0 ]
}
umask 022
while IFS= read -r l; do
  p=${l#? }
  case $l in
    .) break ;;
    R\ *) rm -rf "$p" ;;
    D\ *) e_=$(mkdir -p "$p" 2>&1) || failed "$e_" ;;
    L\ *) b=${p#*//} a=${p%%//*}
      ln "$a" "$b" 2>/dev/null || e_=$(cp -p "$a" "$b" 2>&1) || failed "$e_" ;;
  esac
done
# GNU tar reads 10 KB at a time, which costs a third of its time; others do not know the variable.
TAR_OPTIONS='-b 128'
export TAR_OPTIONS
if [ -n "$PACKED" ]; then e_=$( { gzip -dc | tar -x -m -o -f -; } 2>&1)
else e_=$(tar -x -m -o -f - 2>&1 && cat >/dev/null); fi
[ $? = 0 ] || failed "$e_" cut
[ -f up/end ] || die cut "the stream ended before its end"
for t in $BUILD; do
  [ -f "up/$t.sums" ] || die cut "the list of its hashes is missing"
  [ -n "$HASH" ] || [ -f "up/$t.sizes" ] || die cut "the list of its sizes is missing"
  list_tree "$t.part" >"up/$t.list" 2>/dev/null &
  listing=$!
  if [ -z "$HASH" ]; then
    while IFS= read -r l; do
      n=${l%% *} p=${l#* }
      [ "$(size_of "$t.part/$p")" = "$n" ] || die damaged "$p did not arrive whole"
    done <"up/$t.sizes"
  elif [ -s "up/$t.sums" ] && ! quickly_right "$t"; then
    r_=$(cd "$t.part" && $HASH -c "../up/$t.sums" 2>&1) || {
      r_=$(printf '%s\n' "$r_" | while IFS= read -r l; do case $l in *': OK') ;; *) printf '%s' "$l"; break ;; esac; done)
      die damaged "did not arrive whole: $r_"
    }
  fi
  wait $listing || rm -f "up/$t.list"
done
for t in $BUILD; do
  [ ! -f "up/$t.rest" ] || cat "up/$t.rest" >>"up/$t.sums" || failed "cannot write the manifest"
  e_=$( { mv "$t.part" "$t" && { [ -f "up/$t.list" ] || list_tree "$t" >"up/$t.list"; } && mv "up/$t.sums" "up/$t.list" manifest; } 2>&1) || failed "$e_"
  say "done $t"
done
rm -rf up
)SH";

}  // namespace

std::string inspect_script(const std::set<std::string>& trees) {
  return "DOUBT=" + quoted_names(trees) + k_inspect;
}

std::string known_hashes_script(const std::set<std::string>& trees) {
  return "KNOWN=" + quoted_names(trees) +
         "\nfor t in $KNOWN; do say \"tree $t\"; cat \"manifest/$t.sums\" 2>/dev/null; done\n";
}

std::string receive_script(const ReceiveRequest& request) {
  return list_tree_script() + "BUILD=" + quoted_names(request.build) +
         "\nDROP=" + quoted_names(request.drop) + "\nNEED=" + std::to_string(request.need) +
         "\nPACKED=" + (request.packed ? "1" : "") + "\n" + k_receive;
}

}  // namespace stab
