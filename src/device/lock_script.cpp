// SPDX-License-Identifier: Apache-2.0
#include "lock_script.h"

#include "stab/device/shell.h"

namespace stab {
namespace {

// The lock is a symbolic link that leads nowhere, since ln makes name and content in one step, and
// neither flock nor readlink is on every device. Its target is BOOT:PID:START:UPTIME:WHO, without
// blanks; START is when the process started, so that another process with the same number is not
// taken for it.
constexpr const char* k_functions = R"SH(
BOOT=
read -r BOOT 2>/dev/null </proc/sys/kernel/random/boot_id
start_of() {
  s_=
  read -r s_ 2>/dev/null <"/proc/$1/stat" || return 1
  s_=${s_##*) }
  set -- $s_
  shift 19
  printf '%s' "$1"
}
uptime_now() { u_=0; read -r u_ _ 2>/dev/null </proc/uptime; printf '%s' "${u_%%.*}"; }
content() {
  [ -L "$L" ] || return 1
  l_=$(ls -ld "$L" 2>/dev/null) || return 1
  printf '%s' "${l_##* -> }"
}
take_apart() {
  r_=$1
  lb=${r_%%:*} r_=${r_#*:}
  lp=${r_%%:*} r_=${r_#*:}
  ls_=${r_%%:*} r_=${r_#*:}
  lu=${r_%%:*} lw=${r_#*:}
  case $lp in ''|*[!0-9]*) lp=0 ;; esac
  case $lu in ''|*[!0-9]*) lu=0 ;; esac
  set -f
  set -- $(ls -ld "$L" 2>/dev/null)
  set +f
  lo=$3 la=-
  [ "$lb" = "$BOOT" ] && la=$(($(uptime_now) - lu))
}
alive() { [ "$lb" = "$BOOT" ] && [ "$lp" != 0 ] && [ "$(start_of "$lp")" = "$ls_" ]; }
lock_state() {
  c_=$(content) || {
    if [ -e "$L" ]; then say "lock odd"; else say "lock free"; fi
    return 0
  }
  take_apart "$c_"
  if alive; then k_=held; else k_=stale; fi
  say "lock $k_ $lp $la ${lo:--} $lw"
}
)SH";

constexpr const char* k_hold = R"SH(
[ -d "${L%/*}" ] || { say "lock nowhere"; exit 1; }
mine=$BOOT:$$:$(start_of $$):$(uptime_now):$WHO
shown= t=0 m=0
while :; do
  if ln -s "$mine" "$L" 2>/dev/null; then
    [ "$(content)" = "$mine" ] && break
    [ ! -L "$L/$mine" ] || rm -f "$L/$mine"
    say "lock odd"
    exit 1
  fi
  old=$(content) || {
    [ -e "$L" ] && { say "lock odd"; exit 1; }
    t=$((t + 1))
    [ $t -lt 1000 ] || { say "lock odd"; exit 1; }
    [ $t -lt 5 ] || sleep 1
    [ -w "${L%/*}" ] || { say "lock nowhere"; exit 1; }
    continue
  }
  take_apart "$old"
  if alive; then
    [ "$old" = "$shown" ] || say "lock held $lp $la ${lo:--} $lw"
    shown=$old
    [ "$WAIT" -gt 0 ] || exit 75
    WAIT=$((WAIT - 1))
    sleep 1
    continue
  fi
  if mkdir "$L.takeover" 2>/dev/null; then
    [ "$(content)" = "$old" ] && rm -f "$L" 2>/dev/null
    r_=$(content)
    rmdir "$L.takeover"
    [ "$r_" != "$old" ] || { say "lock stale $lp $la ${lo:--} $lw"; exit 75; }
  else
    sleep 1
    m=$((m + 1))
    [ $m -lt 15 ] || { rmdir "$L.takeover" 2>/dev/null; m=0; }
  fi
done
# Neither a second signal nor a word of the shell to a link that is gone must cut this short.
drop() {
  trap '' HUP INT TERM PIPE
  [ "$(content)" != "$mine" ] || rm -f "$L"
}
trap drop EXIT
trap "trap '' HUP INT TERM PIPE; exit 0" HUP INT TERM
echo ready
exec >/dev/null 2>&1
while [ "$(content)" = "$mine" ]; do
  sleep 30 &
  wait $!
done
)SH";

constexpr const char* k_remove = R"SH(
lock_state
c_=$(content) || { printf '@%s end\n' "$N"; exit 0; }
take_apart "$c_"
if alive; then
  if [ -n "$FORCE" ]; then
    kill -TERM "$lp" 2>/dev/null
    n_=0
    while [ $n_ -lt 5 ] && [ "$(content)" = "$c_" ]; do sleep 1; n_=$((n_ + 1)); done
    [ "$(content)" != "$c_" ] || rm -f "$L" 2>/dev/null
  fi
else
  [ "$(content)" != "$c_" ] || rm -f "$L" 2>/dev/null
fi
[ "$(content)" != "$c_" ] || say "kept"
)SH";

}  // namespace

std::string lock_functions_script(std::string_view path) {
  return "L=" + shell_quote(path) + k_functions;
}

std::string hold_lock_script(std::string_view who, long wait_seconds) {
  return "WHO=" + shell_quote(who) + "\nWAIT=" + std::to_string(wait_seconds) + k_hold;
}

std::string remove_lock_script(bool force) {
  return std::string("FORCE=") + (force ? "1" : "") + k_remove;
}

}  // namespace stab
