// SPDX-License-Identifier: Apache-2.0
#include "preflight_script.h"

#include "lock_script.h"
#include "stab/device/device_state.h"
#include "stab/device/shell.h"
#include "stab/device/work_folder.h"

namespace stab {
namespace {

// Expects $R (prefix of system files) and $W, $WS and $up_ of the look at the work folder.
constexpr const char* k_about = R"SH(
dev() { [ -z "$2" ] || say "dev $1 $2"; }
first_line() { v_=; read -r v_ 2>/dev/null <"$1"; printf '%s' "$v_"; }
dev os "$(uname -s 2>/dev/null)"
dev node "$(uname -n 2>/dev/null)"
dev kernel "$(uname -r 2>/dev/null)"
dev processor "$(uname -m 2>/dev/null)"
dev user "$(id -un 2>/dev/null)"
dev uid "$(id -u 2>/dev/null)"
dev boot "$(first_line "$R/proc/sys/kernel/random/boot_id")"
dev uptime "$(first_line "$R/proc/uptime")"
dev clock "$(date +%s 2>/dev/null)"
for f in /etc/machine-id /var/lib/dbus/machine-id; do dev machine "$(first_line "$R$f")"; done
for f in /proc/device-tree/serial-number /sys/devices/soc0/serial_number; do dev serial "$(first_line "$R$f" 2>/dev/null)"; done
dev model "$(first_line "$R/proc/device-tree/model" 2>/dev/null)"
dev soc "$(first_line "$R/sys/devices/soc0/machine")"
dev board "$(first_line "$R/sys/class/dmi/id/product_name")"
n_=0
while IFS= read -r l && [ $n_ -lt 2000 ]; do
  n_=$((n_ + 1))
  case $l in
    processor*|'model name'*|Hardware*|Model*|Serial*|Processor*|'CPU part'*|'CPU implementer'*|vendor_id*) say "dev cpuinfo $l" ;;
  esac
done 2>/dev/null <"$R/proc/cpuinfo"
for c in "$R"/sys/devices/system/cpu/cpu[0-9]*; do
  [ -d "$c" ] || continue
  o_=$(first_line "$c/online")
  [ "$o_" = 0 ] && continue
  f_=$(first_line "$c/cpufreq/cpuinfo_max_freq")
  dev core "${c##*/cpu} ${f_:--}"
done
while read -r a b c; do case $a in MemTotal:) dev memory "$b" ;; esac; done 2>/dev/null <"$R/proc/meminfo"
dev exe "$(ls -ld /proc/$$/exe 2>/dev/null)"
if have getconf; then dev getconf "$(getconf GNU_LIBC_VERSION 2>/dev/null)"; fi
if have ldd; then
  ldd --version 2>&1 </dev/null | { n_=0; while IFS= read -r l && [ $n_ -lt 2 ]; do dev ldd "$l"; n_=$((n_ + 1)); done; }
fi
for f in "$R"/lib/ld-musl-*.so.1 "$R"/lib/ld-uClibc*.so.0 "$R"/lib/libc.so.6 "$R"/lib64/libc.so.6 "$R"/usr/lib/libc.so.6 \
  "$R"/usr/lib64/libc.so.6 "$R"/lib/*-linux-gnu*/libc.so.6 "$R"/usr/lib/*-linux-gnu*/libc.so.6; do
  [ -f "$f" ] || continue
  l_=$(ls -ld "$f")
  case $l_ in *' -> '*) l_=${l_##* -> } ;; *) l_= ;; esac
  [ ! -x "$f" ] || l_="$l_ $("$f" 2>&1 </dev/null | { read -r a; read -r b; printf '%s; %s' "$a" "$b"; })"
  dev libc "$f $l_"
done
for f in "$R"/lib/libstdc++.so.6.0.* "$R"/usr/lib/libstdc++.so.6.0.* "$R"/usr/lib64/libstdc++.so.6.0.* \
  "$R"/usr/lib/*-linux-gnu*/libstdc++.so.6.0.*; do
  [ ! -f "$f" ] || dev libstdcxx "${f##*/}"
done
if have dd; then
  set -- $(dd if=/bin/sh bs=1024 count=4 2>/dev/null | wc -c)
  printf '@%s blob %s sh\n' "$N" "$1"
  dd if=/bin/sh bs=1024 count=4 2>/dev/null
  printf '\n'
elif have od; then
  od -A n -v -t x1 -N 4096 /bin/sh | while read -r l; do dev sh "$l"; done
elif have hexdump; then
  hexdump -v -n 4096 -e '32/1 "%02x " "\n"' /bin/sh | while read -r l; do dev sh "$l"; done
fi
p_=$up_
[ "$WS" != ours ] || p_=$W
p_=${p_%/}/.stab-probe-$N
if e_=$(mkdir "$p_" 2>&1); then
  if e_=$( { printf '#!/bin/sh\nexit 42\n' >"$p_/probe" && chmod 700 "$p_/probe"; } 2>&1); then
    "$p_/probe" >/dev/null 2>&1
    dev execute $?
  else
    dev nowrite "$e_"
  fi
  rm -rf "$p_"
else
  dev nowrite "$e_"
fi
)SH";

}  // namespace

std::string preflight_script(std::string_view work_folder, std::string_view lock_path,
                             std::string_view system_root) {
  std::string script = look_at_work_folder_script(work_folder) + device_state_script(system_root) +
                       "device_state now\n" + k_about;
  script += "for t in";
  for (const char* tool : k_needed_tools) script += std::string(" ") + tool;
  for (const char* tool : k_useful_tools) script += std::string(" ") + tool;
  script += "; do ! have $t || dev tool $t; done\n[ -z \"$HASH\" ] || dev tool sha256sum\n";
  return script + lock_functions_script(lock_path) + "lock_state\n";
}

}  // namespace stab
