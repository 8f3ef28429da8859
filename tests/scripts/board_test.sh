#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/board without any board: what it says and how it ends. Nothing is made, mounted or installed.
# usage: board_test.sh SOURCE_FOLDER
set -euo pipefail
board=$1/scripts/board
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export STAB_CACHE=$work/cache
failures=0

# expect WHAT STATUS TEXT COMMAND...: runs it; its status and a part of its words must be these.
expect() {
  local what=$1 wanted=$2 text=$3 status=0 said
  shift 3
  said=$("$@" 2>&1 </dev/null) || status=$?
  if [ "$status" -eq "$wanted" ] && grep -qF -- "$text" <<<"$said"; then echo "ok: $what"; else
    printf 'FAILED: %s: status %s, words: %s\n' "$what" "$status" "$said"
    failures=$((failures + 1))
  fi
}

expect "list of nothing" 0 "armhf not made" "$board" list
expect "stop of nothing" 0 "" "$board" stop
expect "remove of nothing" 0 "" "$board" remove arm64
expect "shell of nothing" 1 "scripts/board start armhf starts it" "$board" shell armhf true
expect "an unknown board" 1 "no such board: mips" "$board" start mips
expect "an unknown verb" 1 "start, stop, shell, list or remove" "$board" dance
expect "no verb" 1 "start, stop, shell, list or remove" "$board"
expect "help" 0 "scripts/board start [armhf|arm64]" "$board" --help

# Where no namespace can be made: a program of that name that always fails stands for such a machine.
mkdir "$work/bin"
printf '#!/bin/sh\necho "unshare failed: Operation not permitted" >&2\nexit 1\n' >"$work/bin/unshare"
chmod +x "$work/bin/unshare"
expect "mounting refused" 77 "mounting is refused here" env PATH="$work/bin:$PATH" "$board" start armhf
expect "nothing runs then" 0 "armhf not made" "$board" list

# A process that merely has the number of a board's former one is not taken for it, nor ended.
sleep 300 &
other=$!
mkdir -p "$work/cache/boards/armhf"
echo "$other 1" >"$work/cache/boards/armhf/process"
expect "another process of the same number" 0 "armhf not made" "$board" list
expect "stop leaves it alone" 0 "" "$board" stop armhf
expect "and it lives" 0 "" kill -0 $other
kill $other

echo "$failures failures"
[ $failures -eq 0 ]
