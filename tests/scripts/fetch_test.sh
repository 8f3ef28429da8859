#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# scripts/fetch against package clients of the test's own: what it keeps, what it refuses, what it leaves alone.
# usage: fetch_test.sh SOURCE_FOLDER
set -euo pipefail
source_dir=$1
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
not() { ! "$@"; }
says() { grep -qF -- "$1" "$work/said"; }
hash_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# A wheel and a tarball, and clients that hand them out and count how often.
mkdir -p "$work/bin" "$work/scripts" "$work/served" "$work/wheel/lib/flat/sub" "$work/npm/package/assets"
echo library >"$work/wheel/lib/flat/libone.so"
echo nested >"$work/wheel/lib/flat/sub/libtwo.so"
echo stray >"$work/wheel/lib/libthree.so"
chmod 755 "$work/wheel/lib/flat/libone.so"
(cd "$work/wheel" && cmake -E tar cf "$work/served/thing-1.0-py3-none-any.whl" --format=zip lib)
printf 'the model' >"$work/npm/package/assets/whole.tflite"
printf 'before>the part<after' >"$work/npm/package/assets/packed.data"
tar czf "$work/served/models-2.0.tgz" -C "$work/npm" package

cat >"$work/bin/npm" <<CLIENT
#!/bin/bash
[ "\$1" = --version ] && exec echo 10
echo npm "\$@" >>"$work/calls"
[ ! -e "$work/offline" ] || { echo "npm: no network" >&2; exit 1; }
cp "$work/served/models-2.0.tgz" .
CLIENT
cat >"$work/bin/python3" <<CLIENT
#!/bin/bash
case "\$*" in
  *"-m pip --version"*) exit 0 ;;
  *"-m pip download"*)
    echo pip "\$@" >>"$work/calls"
    [ ! -e "$work/offline" ] || { echo "pip: no network" >&2; exit 1; }
    while [ "\$1" != --dest ]; do shift; done
    cp "$work/served/thing-1.0-py3-none-any.whl" "\$2"
    ;;
  *) exec "$(command -v python3)" "\$@" ;;
esac
CLIENT
chmod +x "$work/bin/npm" "$work/bin/python3"
cp "$source_dir/scripts/lib.sh" "$source_dir/scripts/fetch" "$work/scripts/"
cat >"$work/scripts/pins" <<PINS
archive thing  pip thing  1.0 any $(hash_of "$work/served/thing-1.0-py3-none-any.whl")
archive models npm models 2.0 -   $(hash_of "$work/served/models-2.0.tgz")
folder runtime/one thing lib/flat,lib/libthree.so
file models/whole.tflite models package/assets/whole.tflite all  $(printf 'the model' | sha256sum | cut -d ' ' -f 1)
file models/part.tflite  models package/assets/packed.data  7:8  $(printf 'the part' | sha256sum | cut -d ' ' -f 1)
PINS
export STAB_CACHE=$work/cache
fetch() {
  local status=0
  PATH=$work/bin:$PATH "$work/scripts/fetch" "$@" >"$work/said" 2>&1 </dev/null || status=$?
  return $status
}
calls() { grep -c . "$work/calls"; }

expect "everything is fetched" fetch all
expect "each archive once" test "$(calls)" -eq 2
expect "a folder's files" test "$(cat "$work"/cache/runtime/one/{libone.so,sub/libtwo.so,libthree.so} | tr '\n' ' ')" = "library nested stray "
expect "a file's mode" test -x "$work/cache/runtime/one/libone.so"
expect "a whole file" test "$(cat "$work/cache/models/whole.tflite")" = "the model"
expect "a part of a file" test "$(cat "$work/cache/models/part.tflite")" = "the part"

expect "a second time" fetch all
expect "asks no client" test "$(calls)" -eq 2
expect "says what is there" says "3 of 3 are there"
touch "$work/offline"
expect "needs no network when all is there" fetch
rm -f "$work/cache/models/part.tflite"
expect "fails without a network" not fetch models
expect "says which client failed" says "npm could not download models 2.0"
expect "passes the client's words on" says "npm: no network"
rm "$work/offline"

echo damaged >"$work/cache/models/whole.tflite"
expect "a damaged file is fetched again" fetch models/whole.tflite
expect "and is whole then" test "$(cat "$work/cache/models/whole.tflite")" = "the model"

rm "$work/cache/runtime/one.pin" "$work/cache/runtime/one/libone.so"
expect "a folder without its stamp is fetched again" fetch runtime
expect "and is whole then" test -e "$work/cache/runtime/one/libone.so"
rm "$work/cache/runtime/one.pin"
inode=$(stat -c %i "$work/cache/runtime/one")
expect "a folder that only lacks the stamp" fetch runtime
expect "stays in place" test "$(stat -c %i "$work/cache/runtime/one")" = "$inode"

rm -f "$work/cache/models/part.tflite"
printf 'before>EVIL PART<after' >"$work/npm/package/assets/packed.data"
tar czf "$work/served/models-2.0.tgz" -C "$work/npm" package
expect "another archive is refused" not fetch models
expect "says so" says "models 2.0 is not what it was when it was pinned"
sed -i "s|^archive models.*|archive models npm models 2.0 - $(hash_of "$work/served/models-2.0.tgz")|" "$work/scripts/pins"
expect "another file in a known archive is refused" not fetch models
expect "says so" says "models/part.tflite is not what it was when it was pinned"
expect "nothing of it is kept" test ! -e "$work/cache/models/part.tflite"
expect "nothing half-made stays" test -z "$(find "$work/cache" -name '.fetch.*')"

expect "an unknown name is refused" not fetch models/none.tflite
expect "and what there is is listed" says "models/whole.tflite"

echo "$failures failures"
[ $failures -eq 0 ]
