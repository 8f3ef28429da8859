// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stab/core/elf.h"
#include "stab/core/error.h"
#include "stab/device/preflight.h"
#include "stab/device/shell.h"

namespace stab {
namespace {

std::string multiarch_name(const Machine& machine) {
  if (machine.arch == "arm")
    return machine.float_abi == "soft" ? "arm-linux-gnueabi" : "arm-linux-gnueabihf";
  return machine.arch + "-linux-gnu";
}

bool is_library_name(std::string_view name) {
  return !name.empty() && name.size() < 200 &&
         std::all_of(
             name.begin(), name.end(),
             [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-' || c == '+';
             });
}

// Sends the first bytes of each file of one of $NAMES in the folders that the loader looks in.
constexpr const char* k_find = R"SH(
folders=$MORE
config() {
  [ -f "$1" ] || return 0
  while read -r a b || [ -n "$a" ]; do
    case $a in
      /*) folders="$folders $a" ;;
      include) case $b in /*) ;; *) b=${1%/*}/$b ;; esac
        [ "$2" = 0 ] || for f in $b; do config "$f" 0; done ;;
    esac
  done <"$1"
}
folders="$folders /lib /usr/lib /lib64 /usr/lib64 /lib/$TRIPLE /usr/lib/$TRIPLE /usr/local/lib"
config /etc/ld.so.conf 1
for d in $folders; do
  for n in $NAMES; do
    [ -f "$d/$n" ] || continue
    set -- $(dd if="$d/$n" bs=64 count=1 2>/dev/null | wc -c)
    printf '@%s blob %s %s//%s\n' "$N" "$1" "$d" "$n"
    dd if="$d/$n" bs=64 count=1 2>/dev/null
    printf '\n'
  done
done
for d in $folders; do [ ! -d "$d" ] || say "folder $d"; done
)SH";

}  // namespace

DeviceLibraries find_device_libraries(Transport& transport, const std::vector<std::string>& names,
                                      const Machine& machine,
                                      const std::vector<std::string>& more_folders) {
  DeviceLibraries libraries;
  std::string wanted;
  for (const std::string& name : names) {
    if (is_library_name(name)) wanted += (wanted.empty() ? "" : " ") + name;
  }
  std::string more;
  for (const std::string& folder : more_folders) {
    if (folder.starts_with('/') && folder.find_first_of(" \t\n*?[") == std::string::npos)
      more += (more.empty() ? "" : " ") + folder;
  }
  const Answer answer = exchange(transport, "cannot look for libraries on the device",
                                 "NAMES=" + shell_quote(wanted) + "\nMORE=" + shell_quote(more) +
                                     "\nTRIPLE=" + multiarch_name(machine) + k_find);
  for (const auto& [path, start] : answer.blobs) {
    const auto name = path.rfind("//");
    const auto found = parse_elf_header(start);
    if (name != std::string::npos && found && compatible(*found, machine))
      libraries.found.insert(path.substr(name + 2));
  }
  std::set<std::string> told;
  for (const std::string& folder : answer.all("folder")) {
    if (told.size() < 12 && told.insert(folder).second) {
      libraries.looked_in += (libraries.looked_in.empty() ? "" : ", ") + printable(folder, 100);
    }
  }
  return libraries;
}

}  // namespace stab
