# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the scripts share: talking, failing, the cache's place, and installing Debian packages that are missing.
set -euo pipefail
shopt -s inherit_errexit

stab_scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
stab_root=$(dirname "$stab_scripts")
# shellcheck disable=SC2034 # used by the scripts that source this
stab_cache=${STAB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/stab}
stab_me=$(basename "$0")

# say WORDS...: one line about what is being done, on stderr, so that stdout stays for results.
say() { printf '%s: %s\n' "$stab_me" "$*" >&2; }

# die WORDS...: one line about what is wrong, and the end.
die() {
  printf '%s: error: %s\n' "$stab_me" "$*" >&2
  exit 1
}

# as_root COMMAND...: runs it as root, through sudo where we are somebody else; proxies reach it either way.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
    return
  fi
  command -v sudo >/dev/null || die "this needs root: '$*' (no sudo here; run it as root, then start again)"
  local kept=() name
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
    [ -z "${!name:-}" ] || kept+=("$name=${!name}")
  done
  say "as root (sudo): $*"
  sudo env ${kept[@]+"${kept[@]}"} "$@"
}

# packages_of GROUP: the Debian 12 packages that a job needs.
packages_of() {
  case $1 in
    build) echo g++ cmake ninja-build pkg-config git ca-certificates libssh-dev nlohmann-json3-dev libcli11-dev \
      libspdlog-dev libgtest-dev libgmock-dev libflatbuffers-dev flatbuffers-compiler libbenchmark-dev libarchive-dev \
      libssl-dev zlib1g-dev ;;
    cross) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross \
      gcc-arm-linux-gnueabi libc6-dev-armel-cross ;;
    runtime) echo libhdf5-103-1 libhdf5-cpp-103-1 ;;
    test) echo openssh-server openssh-client dropbear-bin libnss-wrapper busybox-static dash fish tcsh rsync iproute2 procps file binutils zip \
      python3-jsonschema libxml2-utils locales coinor-cbc glpk-utils mandoc zsh man-db bsdextrautils dpkg-dev ;;
    browser) echo chromium-headless-shell ;;
    fuzz) echo clang-19 libclang-rt-19-dev llvm-19 ;;
    lint) echo clang-format-19 clang-19 clang-tidy-19 shellcheck ;;
    board) echo debootstrap qemu-user-static openssh-client util-linux mount ;;
    fetch) have_pip || echo python3-pip ;;
    *) die "no such group of packages: $1 (there are: build cross runtime test fuzz lint board fetch)" ;;
  esac
}

# python_with_pip: prints a python3 that has pip; fails where none has.
python_with_pip() {
  local python
  for python in python3 /usr/bin/python3; do
    if "$python" -m pip --version >/dev/null 2>&1; then
      echo "$python"
      return
    fi
  done
  return 1
}
have_pip() { python_with_pip >/dev/null; }

# missing_packages NAME...: those of them that are not installed, one a line.
missing_packages() {
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || echo "$name"
  done
}

apt_get() { as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" </dev/null >&2; }

# Debian starts a server as soon as its package is installed. Ours are started by the tests alone, on the loopback
# interface, so nothing may start here, nor at the next boot.
quiet_services=/usr/sbin/policy-rc.d
install_without_starting() {
  local policy=0 status=0
  if [ ! -e $quiet_services ]; then
    policy=1
    printf '#!/bin/sh\nexit 101\n' | as_root tee $quiet_services >/dev/null
    as_root chmod 755 $quiet_services
  fi
  apt_get install -y --no-install-recommends "$@" || status=$?
  [ $policy -eq 0 ] || as_root rm -f $quiet_services
  if [ $status -eq 0 ] && [ -d /run/systemd/system ] && [[ " $* " == *" openssh-server "* ]]; then
    as_root systemctl disable -q ssh.service || true
  fi
  return $status
}

# need GROUP...: installs what is missing of those groups. Neither root nor network is needed when all is there.
need() {
  local group packages=() missing
  for group in "$@"; do
    read -ra words <<<"$(packages_of "$group" | tr '\n' ' ')"
    packages+=(${words[@]+"${words[@]}"})
  done
  mapfile -t missing < <(missing_packages ${packages[@]+"${packages[@]}"} | sort -u)
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages ($*): all there"
    return
  fi
  command -v apt-get >/dev/null || die "no apt-get here: install by hand what stands for these Debian packages: ${missing[*]}"
  say "Debian packages ($*): installing ${#missing[@]}: ${missing[*]}"
  # The lists may be missing (a new machine), or older than what the mirror still has.
  if ! apt-get -s install --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    apt_get update
  fi
  if ! install_without_starting "${missing[@]}"; then
    say "that failed; once more with new package lists"
    apt_get update
    install_without_starting "${missing[@]}" || die "apt-get could not install: ${missing[*]} (its own words stand above)"
  fi
  mapfile -t missing < <(missing_packages "${missing[@]}")
  [ ${#missing[@]} -eq 0 ] || die "still not installed: ${missing[*]}"
}

# want GROUP: the same, but what cannot be had is done without.
want() { (need "$1") || say "going on without the packages of '$1'"; }

# usage: prints the comment that stands at the head of the running script.
usage() { sed -n '3,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# build_preset PRESET TARGET...: configures and builds targets of a CMake preset ("all" for everything).
build_preset() {
  local preset=$1
  shift
  local launcher=()
  command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  mkdir -p "$stab_root/build"
  say "configuring build/$preset"
  cmake --preset "$preset" ${launcher[@]+"${launcher[@]}"} >"$stab_root/build/$preset.configure.log" 2>&1 || {
    cat "$stab_root/build/$preset.configure.log" >&2
    die "cmake could not configure the preset '$preset'"
  }
  say "building build/$preset: $*"
  cmake --build --preset "$preset" --target "$@" >&2 || die "the build of the preset '$preset' failed"
}

# started_at PID: when the kernel started that process, in clock ticks (tells it from a later one of the same number).
# Nothing for one that has ended, also where nobody has collected it (process 1 of a container often does not).
started_at() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" { print $20 }'; }
