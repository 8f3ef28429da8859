// SPDX-License-Identifier: Apache-2.0
#include "remote_script.h"

#include <algorithm>

#include "stab/device/shell.h"

namespace stab {
namespace {

// The parts of the program. Variables: c the command, p its process, d "setsid" or nothing, l who
// is to be ended, w and r the two watchers. Without setsid, tree() adds their descendants. alive()
// overlooks zombies, which a container without an init keeps for ever.
//
// `wait` must not be disturbed by signals, or the status would be lost (dash reports it once only).
// So the shell that waits has helpers: r reads the lifeline and ends the command at end-of-file; w
// counts silent ticks, and starts again at each USR1 that r sends it for a line. No shell needs
// `read -t`, which dash lacks. USR1 is ignored until w has its own trap.
//
// Once p is gone, its descendants cannot be found any more. So without setsid a watcher that has
// begun to end them cannot be ended itself, and is waited for.
//
// Whoever is to end is asked more than once: bash misses a signal that comes just before it waits,
// and a child of bash or dash one that comes just after its fork.
constexpr std::string_view k_prepare = R"sh(
export LC_ALL=C
command -v tar >/dev/null 2>&1 && command -v sleep >/dev/null 2>&1 ||
  PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
d=; command -v setsid >/dev/null 2>&1 && d=setsid
w= r=
exec 3<&0 </dev/null
tree() {
  o=
  while [ "$l" != "$o" ]; do
    o=$l
    for f in /proc/[0-9]*/stat; do
      read -r x <"$f" || continue
      q=${x%% *} x=${x##*) } x=${x#* }
      case " $l " in *" $q "*) continue ;; esac
      case " $l " in *" ${x%% *} "*) l="$l $q" ;; esac
    done
  done
}
alive() {
  for q in $l; do
    kill -0 "$q" || continue
    [ -r /proc/$$/stat ] || return 0
    if [ -n "$d" ]; then g=/proc/[0-9]*/stat y="$p "; else g=/proc/$q/stat y=; fi
    for f in $g; do
      read -r x <"$f" || continue
      x=${x##*) }
      case $x in Z*) ;; *" $y"*) return ;; esac
    done
  done
  return 1
}
end() {
  if [ -n "$d" ]; then l=-$p; else trap '' TERM; l=$p; tree; fi
  for n in 0.02 0.1 0.2 0.7 1 1; do
    kill -TERM $l
    alive || return
    sleep $n || sleep 1
    [ -n "$d" ] || tree
  done
  kill -KILL $l
}
trap 'kill $w $r; end; exit 143' HUP INT TERM
)sh";

constexpr std::string_view k_with_input = R"sh(
$d "$0" -c "$c" <&3 3<&- &
p=$!
exec >/dev/null 2>&1 3<&-
)sh";

constexpr std::string_view k_with_lifeline = R"sh(
$d "$0" -c "$c" 3<&- &
p=$!
exec >/dev/null 2>&1
trap '' USR1
(
  exec 3<&-
  s= n=0
  trap 'n=0' USR1
  trap 'kill $s; exit' HUP INT TERM
  while [ $n -lt 3 ]; do
    n=$((n + 1))
    sleep "$tick" & s=$!
    while kill -0 $s; do wait $s; done
  done
  end
) &
w=$!
(
  while read -r x <&3; do kill -USR1 $w; done
  end
) &
r=$!
exec 3<&-
)sh";

constexpr std::string_view k_finish = R"sh(
wait $p
s=$?
kill $w $r
if [ -n "$d" ]; then
  end
else
  for q in $w $r; do
    n=0
    while [ $n -lt 400 ] && kill $q; do
      n=$((n + 1))
      sleep 0.02 || { n=$((n + 40)) && sleep 1; }
    done
  done
fi
exit $s
)sh";

/// `text` on one line, for printf's %b.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '\\') {
      line += "\\\\";
    } else if (c == '\n') {
      line += "\\n";
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace

std::string_view remote_command_line() {
  return R"sh(exec /bin/sh -c 'IFS= read -r s; eval "$(printf %b "$s")"' /bin/sh)sh";
}

std::string remote_program(std::string_view script, std::string_view token,
                           const Supervision& how) {
  const std::string word(token);
  const std::string command = "echo " + word + " $$; echo " + word + " >&2\n" + std::string(script);
  const auto tick = std::max<std::chrono::seconds::rep>(1, how.silence.count() / 3);
  std::string program = "c=" + shell_quote(command) + " tick=" + std::to_string(tick);
  program += k_prepare;
  program += how.input ? k_with_input : k_with_lifeline;
  program += k_finish;
  return one_line(program) + "\n";
}

}  // namespace stab
