// SPDX-License-Identifier: Apache-2.0
#include "run_script.h"

#include <algorithm>
#include <charconv>

#include "stab/core/error.h"
#include "stab/device/device_state.h"
#include "stab/device/exchange.h"
#include "stab/device/shell.h"
#include "stab/device/tar_stream.h"

namespace stab {
namespace {

constexpr std::size_t k_longest_inline_environment = 40U << 10;
constexpr std::size_t k_longest_string =
    131'071;  // what Linux takes as one string of an environment
constexpr std::size_t k_longest_script = 100'000;
constexpr const char* k_environment_file = "stab-environment.sh";

[[noreturn]] void refuse(const std::string& subject, std::string why) {
  throw Error(ErrorKind::input, "cannot run on the device", subject, std::move(why));
}

bool is_variable_name(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

bool is_pattern(std::string_view pattern) {
  std::string name(pattern);
  std::replace(name.begin(), name.end(), '*', 'x');
  std::replace(name.begin(), name.end(), '?', 'x');
  return is_plain_name(name);
}

bool is_mask(std::string_view mask) {
  if (mask.starts_with("0x")) mask.remove_prefix(2);
  return !mask.empty() && mask.size() <= 256 && std::all_of(mask.begin(), mask.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

std::string run_folder(const std::string& work_folder, const RunRequest& request) {
  return work_folder + "/run/" + request.id;
}

std::string replaced(std::string text, std::string_view folder) {
  const std::string_view mark = k_run_folder;
  for (auto at = text.find(mark); at != std::string::npos;
       at = text.find(mark, at + folder.size())) {
    text.replace(at, mark.size(), folder);
  }
  return text;
}

// All that the process gets besides PATH and LC_ALL.
std::map<std::string, std::string> full_environment(const std::string& folder,
                                                    const RunRequest& request) {
  std::map<std::string, std::string> environment;
  for (const auto& [key, value] : request.environment) environment[key] = replaced(value, folder);
  if (!request.library_folders.empty()) {
    std::string folders;
    for (const std::string& one : request.library_folders)
      folders += (folders.empty() ? "" : ":") + one;
    environment["LD_LIBRARY_PATH"] = folders;
  }
  if (request.traced) {
    environment["TRACE_FILEPATH"] = folder + "/trace.json";
    environment["TRACING_MODE"] = "1";
    environment["WORKSPACE_DIR"] = folder;
  }
  return environment;
}

std::size_t size_of(const std::map<std::string, std::string>& environment) {
  std::size_t size = 0;
  for (const auto& [key, value] : environment) size += key.size() + value.size() + 2;
  return size;
}

bool is_long(const std::map<std::string, std::string>& environment) {
  return size_of(environment) > k_longest_inline_environment;
}

// The words of the command: [taskset MASK] env -i … [sh that reads the files] [env …] RUNNER ARGS
// PACKAGE.
std::string command_words(const std::string& folder, const RunRequest& request) {
  const std::map<std::string, std::string> environment = full_environment(folder, request);
  std::vector<std::string> words;
  if (request.affinity) {
    const bool prefixed = request.affinity->starts_with("0x");
    words.insert(words.end(), {"taskset", prefixed ? *request.affinity : "0x" + *request.affinity});
  }
  words.insert(words.end(),
               {"env", "-i", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C"});
  std::vector<std::string> files;
  if (request.environment_file) files.push_back(*request.environment_file);
  if (is_long(environment)) files.push_back(folder + "/" + k_environment_file);
  if (!files.empty()) {
    words.insert(
        words.end(),
        {"/bin/sh", "-c",
         "n=$1; shift; while [ $n -gt 0 ]; do . \"$1\" || exit 125; shift; n=$((n - 1)); done; "
         "unset n; exec \"$@\"",
         "sh", std::to_string(files.size())});
    words.insert(words.end(), files.begin(), files.end());
    words.push_back("env");
  }
  if (!is_long(environment)) {
    for (const auto& [key, value] : environment) words.push_back(key + "=" + value);
  }
  words.push_back(request.runner);
  for (const std::string& arg : request.args) words.push_back(replaced(arg, folder));
  if (request.package) words.push_back(replaced(*request.package, folder));
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_quote(word);
  return text;
}

std::string ready_folder_script(const std::string& work_folder, const RunRequest& request) {
  return "W=" + shell_quote(work_folder) + "\nRD=" + shell_quote(run_folder(work_folder, request)) +
         R"SH(
[ -d "$W" ] && [ ! -L "$W" ] && [ -O "$W" ] || die work "the work folder $W is not there or not ours"
[ ! -L "$W/run" ] || die work "$W/run is a symbolic link"
[ -d "$W/run" ] || mkdir "$W/run" 2>/dev/null
make_run_folder() {
  rm -rf "$RD"
  e_=$(mkdir "$RD" 2>&1) || die space "cannot make $RD: $e_"
}
)SH";
}

// Runs the words "$@" for at most $LIMIT seconds. The watcher is ended with KILL, since a signal
// that a young process of the shell could handle may be lost; so it sleeps in short steps and
// leaves none behind for long. Whether it struck is seen from the time that went by. Neither
// a second signal nor a word to a link that is gone must cut the tidying up short.
constexpr const char* k_run = R"SH(
cd "$RD" || die run "cannot enter $RD"
trap "trap '' HUP INT TERM; cd /; rm -rf \"\$RD\"" EXIT
trap "trap '' HUP INT TERM; exit 143" HUP INT TERM
ulimit -c 0 2>/dev/null
exec 4>&2 2>/dev/null
device_state before
u0=
read -r u0 _ </proc/uptime
printf '@%s raw\n' "$N"
"$@" </dev/null 2>&4 4>&- &
p=$!
trap '' PIPE
(
  while [ "$LIMIT" -gt 0 ]; do
    n=$((LIMIT < 5 ? LIMIT : 5))
    sleep $n
    LIMIT=$((LIMIT - n))
  done
  kill -TERM "$p"
  sleep 3
  kill -KILL "$p"
) >/dev/null 4>&- &
w=$!
wait "$p"
c=$?
u1=
read -r u1 _ </proc/uptime
kill -KILL "$w"
printf '\n@%s endraw\n' "$N"
say "status $c"
say "uptime $u0 $u1"
device_state after
)SH";

constexpr const char* k_send = R"SH(
send() {
  case $2 in *[!A-Za-z0-9._-]*|.*|-*) return 0 ;; esac
  [ -f "$2" ] && [ ! -L "$2" ] || return 0
  n_=$(size_of "$2")
  [ "$n_" -le "$LEFT" ] || { say "toolarge $2"; return 0; }
  LEFT=$((LEFT - n_))
  h_=
  [ -z "$HASH" ] || h_=$($HASH <"$2")
  h_=${h_%% *}
  if [ -n "$PACK" ] && [ "$n_" -gt 4096 ] && gzip -1 <"$2" >"stab-packed"; then
    printf '@%s blob %s %s gzip %s %s %s\n' "$N" "$(size_of stab-packed)" "$1" "$n_" "${h_:--}" "$2"
    cat stab-packed
  else
    printf '@%s blob %s %s plain %s %s %s\n' "$N" "$n_" "$1" "$n_" "${h_:--}" "$2"
    cat "$2"
  fi
  printf '\n'
  rm -f stab-packed
}
)SH";

}  // namespace

void check_run_request(const RunRequest& request) {
  if (!is_plain_name(request.id)) refuse(request.id, "the run's name is not a plain word");
  if (!request.runner.starts_with('/')) refuse(request.runner, "the runner's path is not absolute");
  if (request.affinity && !is_mask(*request.affinity))
    refuse(*request.affinity, "the affinity is not a hexadecimal mask");
  for (const Fetch& fetch : request.fetch) {
    if (!is_pattern(fetch.pattern))
      refuse(fetch.pattern, "the pattern of files to bring back is not plain");
  }
  for (const auto& [name, path] : request.inputs) {
    if (!is_plain_name(name)) refuse(name, "the name of an input is not a plain word");
  }
  for (const std::string& folder : request.library_folders) {
    if (!folder.starts_with('/') || folder.find(':') != std::string::npos) {
      refuse(folder, "a library folder's path is not absolute or holds a colon");
    }
  }
  for (const auto& [key, value] : request.environment) {
    if (!is_variable_name(key)) refuse(key, "not a name of an environment variable");
    if (key.size() + 1 + value.size() > k_longest_string) {
      refuse(key, "its value is longer than an environment can hold (131071 bytes)");
    }
  }
}

bool stage_run_inputs(Transport& transport, const std::string& work_folder,
                      const RunRequest& request) {
  const std::string folder = run_folder(work_folder, request);
  FileTree tree("run");
  for (const auto& [name, path] : request.inputs) tree.add_file(name, path, false);
  const std::map<std::string, std::string> environment = full_environment(folder, request);
  if (is_long(environment)) {
    std::string text;
    for (const auto& [key, value] : environment)
      text += "export " + key + "=" + shell_quote(value) + "\n";
    tree.add_bytes(k_environment_file, std::move(text));
  }
  if (tree.files().empty()) return false;

  std::vector<TarMember> members;
  for (const TreeFile& file : tree.files())
    members.push_back({file.path, file.size, false, {}, {}, file.content});
  TarStream tar(std::move(members));
  std::string script =
      ready_folder_script(work_folder, request) +
      "make_run_folder\ncd \"$RD\" || die run \"cannot enter $RD\"\n"
      "e_=$(tar -x -m -o -f - 2>&1 && cat >/dev/null) || { rm -rf \"$RD\"; die space \"cannot "
      "unpack the inputs: $e_\"; }\n";
  for (const TreeFile& file : tree.files()) {
    script += "h_=; [ -z \"$HASH\" ] || h_=$($HASH <" + file.path + "); say \"input " + file.path +
              " $(size_of " + file.path + ") ${h_%% *}\"\n";
  }
  const Answer answer = exchange(transport, "cannot send the inputs to the device", script,
                                 {.input = [&tar](std::span<char> into) { return tar.read(into); },
                                  .timeout = std::chrono::minutes(20)});
  const std::vector<std::string> arrived = answer.all("input");
  for (const TreeFile& file : tree.files()) {
    const std::string sized = file.path + " " + std::to_string(file.size) + " ";
    const bool whole = std::any_of(arrived.begin(), arrived.end(), [&](const std::string& line) {
      return line == sized || line == sized + file.sha256;
    });
    if (!whole)
      throw_device_error(transport, "cannot send the inputs to the device",
                         file.path + " did not arrive whole");
  }
  return true;
}

std::int64_t limit_seconds(const RunRequest& request) {
  return std::max<std::int64_t>(1,
                                std::chrono::ceil<std::chrono::seconds>(request.timeout).count());
}

std::string run_script(const std::string& work_folder, const RunRequest& request, bool staged,
                       bool pack) {
  const std::string folder = run_folder(work_folder, request);
  std::string script = ready_folder_script(work_folder, request);
  if (!staged) script += "make_run_folder\n";
  if (request.affinity)
    script +=
        "have taskset || die taskset 'the device has no taskset, so --affinity cannot be kept'\n";
  script += device_state_script(request.system_root);
  script += "LIMIT=" + std::to_string(limit_seconds(request)) + "\nset -- " +
            command_words(folder, request) + k_run;
  script += "PACK=\nLEFT=" + std::to_string(request.most_fetched_bytes) + "\n";
  if (pack) script += "! have gzip || PACK=1\n";
  script += k_send;
  for (std::size_t i = 0; i < request.fetch.size(); ++i) {
    script += "for f in " + request.fetch[i].pattern + "; do send " + std::to_string(i) +
              " \"$f\"; done\n";
  }
  if (request.traced) script += "[ ! -s trace.json ] || say trace\n";
  script += "printf '@%s end\\n' \"$N\"\nexit 0\n";
  if (script.size() > k_longest_script)
    refuse(request.id, "its arguments are longer than a script can be");
  return script;
}

}  // namespace stab
