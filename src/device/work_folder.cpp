// SPDX-License-Identifier: Apache-2.0
#include "stab/device/work_folder.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "stab/core/error.h"
#include "stab/device/shell.h"
#include "tree_script.h"

namespace stab {
namespace {

constexpr std::array k_states = {FolderState::absent, FolderState::empty,   FolderState::ours,
                                 FolderState::other,  FolderState::foreign, FolderState::link,
                                 FolderState::file};

std::string checked_path(const std::string& requested) {
  std::string path = requested;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const bool odd = std::any_of(path.begin(), path.end(),
                               [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (!path.starts_with('/') || path == "/" || odd ||
      ("/" + path + "/").find("/../") != std::string::npos) {
    throw Error(ErrorKind::usage, "cannot work on the device in", requested,
                "not an absolute path of a folder");
  }
  return path;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const auto start = line.find_first_not_of(' ');
    if (start == std::string_view::npos) break;
    const auto end = line.find(' ', start);
    words.push_back(line.substr(start, end == std::string_view::npos ? end : end - start));
    line = end == std::string_view::npos ? std::string_view() : line.substr(end);
  }
  return words;
}

FolderState parse_state(std::string_view text) {
  for (const FolderState state : k_states) {
    if (to_string(state) == text) return state;
  }
  throw Error(ErrorKind::device, "cannot read the device's answer", {},
              "an unknown state of the work folder");
}

// The line of `df -Pk`: file system, size, used, free, percent, mount point; a size of 0 says
// nothing (ramfs).
void take_space(std::string_view line, WorkFolder& folder) {
  const auto words = words_of(line);
  if (words.size() < 6) return;
  const auto size = parse_count(words[1]);
  const auto free = parse_count(words[3]);
  if (!size || !free || *size == 0 || *free > (UINT64_MAX >> 11)) return;
  if (!folder.space) folder.space.emplace();
  folder.space->free_bytes = *free * 1024;
}

// Type and options of the mount.
void take_mount(std::string_view line, WorkFolder& folder) {
  const auto words = words_of(line);
  if (words.size() != 2 || !folder.space) return;
  folder.space->file_system = printable(words[0], 40);
  folder.space->no_execute =
      ("," + std::string(words[1]) + ",").find(",noexec,") != std::string::npos;
}

void take_tree(std::string_view line, WorkFolder& folder) {
  const auto words = words_of(line);
  if (words.size() != 2 || !is_tree_name(words[0])) return;
  TreeState state = TreeState::changed;
  if (words[1] == "same") state = TreeState::same;
  if (words[1] == "partial") state = TreeState::partial;
  const auto [known, added] = folder.trees.emplace(words[0], state);
  if (!added && known->second == TreeState::partial) known->second = state;
}

constexpr const char* k_look = R"SH(
folder_state() {
  if [ -L "$1" ]; then echo link
  elif [ ! -e "$1" ]; then echo absent
  elif [ ! -d "$1" ]; then echo file
  elif [ ! -O "$1" ]; then echo foreign
  elif [ -f "$1/.stab-folder" ] && [ ! -L "$1/.stab-folder" ]; then echo ours
  elif [ -z "$(ls -A "$1")" ]; then echo empty
  else echo other; fi
}
owner_of() { set -- $(ls -ld "$1" 2>/dev/null); printf '%s' "$3"; }
W=$B
WS=$(folder_state "$B")
say "work requested $WS"
if [ "$WS" = other ]; then
  W=$B/.stab
  WS=$(folder_state "$W")
fi
say "work state $WS"
case $WS in foreign|link|file) say "work owner $(owner_of "$W")" ;; esac
up_=$W
while [ ! -d "$up_" ]; do
  up_=${up_%/*}
  [ -n "$up_" ] || up_=/
done
l_=$(df -Pk "$up_" 2>/dev/null)
l_=${l_##*
}
set -f
set -- $l_
set +f
if [ $# = 6 ]; then
  say "work space $*"
  t_=
  while read -r a b c d f; do [ "$b" != "$6" ] || t_="$c $d"; done 2>/dev/null </proc/mounts
  [ -z "$t_" ] || say "work mount $t_"
fi
while read -r a b c; do
  case $a in MemAvailable:) say "work memory $b"; break ;; esac
done 2>/dev/null </proc/meminfo
while read -r a b; do
  case $a in flags|Features) case "$b " in *' aes '*) say work aes ;; esac; break ;; esac
done 2>/dev/null </proc/cpuinfo
[ -z "$HASH" ] || say work hash
! have find || say work find
! have gzip || say work gzip
)SH";

constexpr const char* k_look_at_trees = R"SH(
if [ "$WS" = ours ]; then
  choose_lister
  for d in "$W"/rt-* "$W"/pkg-* "$W"/in-*; do
    [ -d "$d" ] && [ ! -L "$d" ] || continue
    n=${d##*/}
    case $n in
      *.part) say "work tree ${n%.part} partial" ;;
      *)
        if [ -f "$W/manifest/$n.list" ] && [ "$(list_tree "$d")" = "$(cat "$W/manifest/$n.list")" ]; then
          say "work tree $n same"
        else
          say "work tree $n changed"
        fi ;;
    esac
  done
fi
)SH";

constexpr const char* k_make = R"SH(
make_folder() {
  e_=$(mkdir "$1" 2>&1) || [ "$(folder_state "$1")" = empty ] || [ "$(folder_state "$1")" = ours ] || die make "cannot make $1: $e_"
}
case $WS in
  absent)
    case $W in
      */.stab) ;;
      *) [ -d "${W%/*}/" ] || e_=$(mkdir -p "${W%/*}/" 2>&1) || die make "cannot make ${W%/*}: $e_" ;;
    esac
    make_folder "$W" ;;
  empty|ours) ;;
  *) WS=bad ;;
esac
if [ "$WS" != bad ]; then
  [ -O "$W" ] && [ ! -L "$W" ] || die make "$W is not ours"
  e_=$(chmod 700 "$W" 2>&1) || die make "cannot close $W to others: $e_"
  if [ "$WS" != ours ]; then
    e_=$( { echo 'stab works here; stab clean removes it' >"$W/.stab-folder"; } 2>&1) || die make "cannot write in $W: $e_"
  fi
fi
)SH";

}  // namespace

std::string_view to_string(FolderState state) {
  switch (state) {
    case FolderState::absent:
      return "absent";
    case FolderState::empty:
      return "empty";
    case FolderState::ours:
      return "ours";
    case FolderState::other:
      return "other";
    case FolderState::foreign:
      return "foreign";
    case FolderState::link:
      return "link";
    case FolderState::file:
      return "file";
  }
  return "other";
}

std::string look_at_work_folder_script(std::string_view requested) {
  return "B=" + shell_quote(checked_path(std::string(requested))) + "\n" + list_tree_script() +
         k_look + k_look_at_trees;
}

WorkFolder parse_work_folder(std::string_view requested, const Answer& answer) {
  WorkFolder folder;
  folder.requested = checked_path(std::string(requested));
  bool state_seen = false;
  for (const std::string& line : answer.all("work")) {
    const auto blank = line.find(' ');
    const std::string_view key = std::string_view(line).substr(0, blank);
    const std::string_view value =
        blank == std::string::npos ? std::string_view() : std::string_view(line).substr(blank + 1);
    if (key == "requested") folder.requested_state = parse_state(value);
    if (key == "state") {
      folder.state = parse_state(value);
      state_seen = true;
    }
    if (key == "owner") folder.owner = printable(value, 40);
    if (key == "space") take_space(value, folder);
    if (key == "mount") take_mount(value, folder);
    if (key == "memory") {
      const auto kilobytes = parse_count(value);
      if (kilobytes && *kilobytes < (UINT64_MAX >> 11))
        folder.available_memory_bytes = *kilobytes * 1024;
    }
    if (key == "hash") folder.can_hash = true;
    if (key == "find") folder.can_list = true;
    if (key == "gzip") folder.can_unpack_gzip = true;
    if (key == "aes") folder.computes_aes = true;
    if (key == "tree") take_tree(value, folder);
  }
  if (!state_seen)
    throw Error(ErrorKind::device, "cannot read the device's answer", {},
                "nothing about the work folder");
  folder.path =
      folder.requested_state == FolderState::other ? folder.requested + "/.stab" : folder.requested;
  return folder;
}

std::string problem_of(const WorkFolder& folder) {
  switch (folder.state) {
    case FolderState::foreign:
      return "it belongs to " +
             (folder.owner.empty() ? "another user" : "the user " + folder.owner);
    case FolderState::link:
      return "it is a symbolic link" + (folder.owner.empty() ? "" : " of the user " + folder.owner);
    case FolderState::file:
      return "it is a file" + (folder.owner.empty() ? "" : " of the user " + folder.owner);
    case FolderState::other:
      return "it is full of other things";
    case FolderState::absent:
    case FolderState::empty:
    case FolderState::ours:
      break;
  }
  return {};
}

WorkFolder open_work_folder(Transport& transport, const std::string& requested) {
  const Answer answer = exchange(transport, "cannot open the work folder on the device",
                                 look_at_work_folder_script(requested) + k_make);
  WorkFolder folder = parse_work_folder(requested, answer);
  if (const std::string problem = problem_of(folder); !problem.empty()) {
    throw Error(ErrorKind::device, "cannot work on " + transport.link().address + " in",
                folder.path, problem, "--remote-dir with another folder");
  }
  if (folder.computes_aes) transport.prefer_aes();
  folder.state = FolderState::ours;
  return folder;
}

std::string enter_work_folder_script(std::string_view path) {
  return "W=" + shell_quote(path) + R"SH(
[ -d "$W" ] && [ ! -L "$W" ] && [ -O "$W" ] && [ -f "$W/.stab-folder" ] || die work "the work folder $W is gone or not ours any more"
cd "$W" || die work "cannot enter $W"
)SH";
}

void tidy_work_folder(Transport& transport, const std::string& path,
                      const std::set<std::string>& in_use) {
  std::string script = enter_work_folder_script(path) + "used=' ";
  for (const std::string& name : in_use) {
    if (is_tree_name(name)) script += name + " ";
  }
  script += "'\n";
  script += R"SH(
rm -rf run up
for k in rt pkg in; do
  n=0
  for t in $used; do
    case $t in $k-*) touch -c "$t"; n=$((n + 1)) ;; esac
  done
  for t in $(ls -td $k-* 2>/dev/null); do
    is_tree "$t" || continue
    case $used in *" $t "*) continue ;; esac
    case $t in *.part) rm -rf "$t"; continue ;; esac
    n=$((n + 1))
    [ $n -le 2 ] || rm -rf "$t" "manifest/$t.list" "manifest/$t.sums"
  done
done
)SH";
  exchange(transport, "cannot tidy the work folder on the device", is_tree_script() + script,
           {.timeout = std::chrono::seconds(30), .cleanup = true});
}

Cleaned clean_work_folder(Transport& transport, const std::string& requested) {
  std::string script = look_at_work_folder_script(requested) + is_tree_script();
  script += R"SH(
case $WS in
  ours)
    [ -O "$W" ] && [ ! -L "$W" ] && cd "$W" || die work "cannot enter $W"
    for n in *; do
      if is_tree "$n"; then rm -rf "$n" && say "removed $n"
      else case $n in run|up|manifest) rm -rf "$n" && say "removed $n" ;; esac; fi
    done
    rm -f .stab-folder && say "removed .stab-folder"
    for n in * .[!.]* ..?*; do
      { [ ! -e "$n" ] && [ ! -L "$n" ]; } || say "left $n"
    done
    cd /
    rmdir "$W" 2>/dev/null && say "removed $W" ;;
esac
)SH";
  const Answer answer =
      exchange(transport, "cannot clean the device", script, {.timeout = std::chrono::minutes(5)});
  const WorkFolder folder = parse_work_folder(requested, answer);
  if (const std::string problem = problem_of(folder);
      !problem.empty() && folder.state != FolderState::other) {
    throw Error(ErrorKind::device, "cannot clean " + transport.link().address + " in", folder.path,
                problem);
  }
  Cleaned cleaned;
  for (const std::string& name : answer.all("removed"))
    cleaned.removed.push_back(printable(name, 300));
  for (const std::string& name : answer.all("left")) cleaned.left.push_back(printable(name, 300));
  return cleaned;
}

}  // namespace stab
