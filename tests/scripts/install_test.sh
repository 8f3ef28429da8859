#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is installed: the files, a program that works wherever they are moved, the man page, the completions, the Debian package.
# usage: install_test.sh SOURCE_FOLDER BUILD_FOLDER
set -euo pipefail
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

# expect WHAT COMMAND...: a check; the test goes on after a failure.
expect() {
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else
    echo "FAILED: $what"
    failures=$((failures + 1))
  fi
}
skipped() {
  if [ "${CI:-}" = true ]; then expect "$1 (it may not be skipped here)" false; else echo "skipped: $1"; fi
}
same() { [ "$1" = "$2" ] || { printf '  is:  %s\n  not: %s\n' "$1" "$2"; false; }; }
silent() { # silent COMMAND...: says nothing on either stream
  local said
  said=$("$@" 2>&1 >/dev/null) && same "$said" ""
}

echo "# installing"
DESTDIR=$work/root cmake --install "$build" --prefix /usr >/dev/null
root=$work/root/usr
expect "nothing outside the prefix" same "$(ls -A "$work/root")" usr
for file in bin/stab share/man/man1/stab.1 share/bash-completion/completions/stab \
  share/zsh/vendor-completions/_stab share/doc/stab/README.md share/doc/stab/copyright; do
  expect "$file" test -f "$root/$file"
done
built=$(cd "$build/runner" && ls stab-runner-*)
expect "every stab-runner that was built" same "$(cd "$root/libexec/stab" && ls)" "$built"
mv "$work/root" "$work/moved"
root=$work/moved/usr
stab=$root/bin/stab
expect "the moved program tells its version" "$stab" --version
expect "it has no path of the build" sh -c "! readelf -d '$stab' | grep -E 'RPATH|RUNPATH'"

echo "# a job of the installed program"
cache=${STAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stab}
runtime=$cache/runtime/onert-1.30-x86_64
if [ "$(uname -m)" = x86_64 ] && [ -d "$runtime" ] && [ -f "$cache/models/onet.tflite" ]; then
  cp "$cache/models/onet.tflite" "$work/"
  (cd "$work" && env -i PATH="$PATH" HOME="$work" "$stab" --nnpackage onet.tflite --ip local --remote-dir "$work/device" \
    --runtime "$runtime" --lock-wait 5m --backends cpu -w 0 -r 2 --rounds 2 --max-rounds 2 --no-check --json out.json >out.txt 2>&1) ||
    cat "$work/out.txt"
  expect "it found its runner" grep -q '"runner": "stab"' "$work/out.json"
  expect "it wrote the package" test -f "$work/nnpkg_sched/onet/metadata/stab.json"
else
  skipped "no fetched runtime and model for this machine (scripts/fetch)"
fi

echo "# the man page"
page=$root/share/man/man1/stab.1
expect "man has nothing to say about it" silent env LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l "$page"
if command -v mandoc >/dev/null; then
  expect "mandoc has nothing to say about it" silent mandoc -T lint -W warning "$page"
  expect "mandoc lint is silent on standard output" same "$(mandoc -T lint -W warning "$page")" ""
else
  skipped "mandoc is not installed"
fi
text=$(LC_ALL=C.UTF-8 MANWIDTH=1000 MAN_KEEP_FORMATTING='' man -l "$page" | col -b)
jobs=$("$stab" --help | awk '/^Subcommands:$/ { on = 1; next } on && /^  [a-z]/ { print $1 }')
missing=
for option in $({ "$stab" --help; for job in $jobs; do "$stab" "$job" --help; done; } | grep -oE '^  (-[a-z],)?--[a-z_-]+' | sed 's/.*--/--/' | sort -u); do
  grep -qF -- "$option" <<<"$text" || missing="$missing $option"
done
expect "it holds every option of every job" same "$missing" ""
for job in $jobs; do expect "it holds the job $job" grep -qE "^ *stab $job" <<<"$text"; done

echo "# completion in bash"
complete_bash() { # complete_bash WORDS...: what the last word may become
  bash --norc -c '
    . "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
    _stab
    printf "%s\n" "${COMPREPLY[@]}"' bash "$root/share/bash-completion/completions/stab" "$@" | sort | tr '\n' ' '
}
# shellcheck disable=SC2016 # $1 is the inner shell's
expect "it registers" bash --norc -c '. "$1"; complete -p stab' bash "$root/share/bash-completion/completions/stab"
expect "jobs" same "$(complete_bash stab ex)" "explain "
expect "options" same "$(complete_bash stab --no-)" "--no-check --no-profile --no-verify "
expect "options of a job" same "$(complete_bash stab compare --max)" "--max-regression "
expect "not those of another job" same "$(complete_bash stab compare --nnp)" " "
expect "words to choose from" same "$(complete_bash stab --algorithm '')" "exact greedy "
expect "compare's own formats" same "$(complete_bash stab compare --format m)" "markdown "
touch "$work/tonight.json"
expect "files" same "$(cd "$work" && complete_bash stab --baseline ton)" "tonight.json "
expect "files of compare" same "$(cd "$work" && complete_bash stab compare ton)" "tonight.json "
expect "this machine" same "$(complete_bash stab doctor --ip loc | grep -o '\<local\>' | head -1)" "local"
missing=
for job in '' $jobs; do
  # shellcheck disable=SC2086 # no word at all for the main job
  offered=$(complete_bash stab $job -)
  # shellcheck disable=SC2086
  for option in $("$stab" $job --help | grep -oE '^  (-[a-z],)?--[a-z_-]+' | sed 's/^ *//; s/,/ /'); do
    [[ " $offered" == *" $option "* ]] || missing="$missing ${job:-main}:$option"
  done
done
expect "every option of every job" same "$missing" ""

echo "# completion in zsh"
if command -v zsh >/dev/null; then
  expect "its grammar" zsh -n "$root/share/zsh/vendor-completions/_stab"
  cat >"$work/zshrc" <<'ZSH'
autoload -U compinit; compinit -u -D
zmodload zsh/zpty
zpty shell zsh -f -i
say() { zpty -w shell "$1"; }
say "PS1=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D; bindkey '^I' complete-word; zstyle ':completion:*' list-colors ''; LISTMAX=1000"
step() { zpty -n -w shell "$1"; zpty -r shell text "$2"; print -r -- "$text"; }
zpty -w shell "cd $2; echo registered=\$_comps[stab]"
step '' '*registered=_stab*'
step "stab --algo"$'\t'"g"$'\t' '*algorithm*greedy*'
step $'\C-u'"stab expl"$'\t' '*stab explain*'
step $'\C-u'"stab compare --max-r"$'\t' '*compare*max-regression*'
zpty -d shell
ZSH
  TERM=dumb timeout 100 zsh -f "$work/zshrc" "$root/share/zsh/vendor-completions" "$work" >"$work/zsh.txt" 2>&1 || true
  said=$(tr -d '\r\a' <"$work/zsh.txt" | col -b)
  for wanted in registered=_stab 'algorithm greedy' explain max-regression; do
    expect "it gives: $wanted" grep -qF -- "$wanted" <<<"$said"
  done
else
  skipped "zsh is not installed"
fi

echo "# the Debian package"
if command -v dpkg-shlibdeps >/dev/null; then
  (cd "$build" && cpack -G DEB -B "$work/deb" >"$work/cpack.txt" 2>&1) || cat "$work/cpack.txt"
  deb=$(find "$work/deb" -maxdepth 1 -name 'stab_*.deb')
  dpkg-deb -I "$deb" >"$work/control.txt" && cat "$work/control.txt"
  version=$("$stab" --version | cut -d ' ' -f 2)
  expect "its name" same "$(basename "$deb")" "stab_${version}_$(dpkg --print-architecture).deb"
  for library in libc6 libssh-4 libarchive13 libssl3; do
    expect "it needs $library" grep -qE "^ Depends:.*\<$library\>" "$work/control.txt"
  done
  expect "no development packages" sh -c "! grep -E '^ Depends:.*-dev' '$work/control.txt'"
  dpkg-deb -c "$deb" | awk '{ print $6 }' | grep -v '/$' | sort >"$work/contents.txt"
  (cd "$root" && find . -type f | sed 's|^\.|./usr|' | sort) >"$work/installed.txt"
  expect "it holds what an installation does" diff "$work/installed.txt" "$work/contents.txt"
  dpkg-deb -x "$deb" "$work/unpacked"
  expect "its program runs" "$work/unpacked/usr/bin/stab" --version
  # shellcheck disable=SC2016 # $1 is the inner shell's
  expect "its program is stripped" sh -c 'file "$1" | grep -q ", stripped"' sh "$work/unpacked/usr/bin/stab"
else
  skipped "dpkg-shlibdeps is not installed (package dpkg-dev)"
fi

echo "$failures failed"
[ "$failures" -eq 0 ]
