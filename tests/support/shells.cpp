// SPDX-License-Identifier: Apache-2.0
#include "support/shells.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sstream>
#include <system_error>

#include "support/other_shell.h"

namespace stab::test {
namespace {

constexpr const char* k_busybox = "/usr/bin/busybox";

std::vector<std::string> applets() {
  std::string text;
  FILE* pipe = popen("/usr/bin/busybox --list", "re");
  if (pipe == nullptr) return {};
  std::array<char, 4096> piece{};
  while (const std::size_t count = fread(piece.data(), 1, piece.size(), pipe))
    text.append(piece.data(), count);
  pclose(pipe);
  std::istringstream lines(text);
  std::vector<std::string> names;
  for (std::string name; std::getline(lines, name);) names.push_back(name);
  return names;
}

}  // namespace

std::unique_ptr<Transport> this_machine() {
  return make_local_transport([] { return false; });
}

std::vector<Shell> all_shells() {
  return {
      {"dash", "/usr/bin/dash", false, {}},
      {"bash", "/usr/bin/bash", false, {}},
      {"ash", "/usr/bin/busybox sh", true, {}},
      // BusyBox's own shell finds its applets even outside PATH, so another shell stands for a
      // device that lacks them.
      {"bare",
       "/usr/bin/dash",
       true,
       {"busybox", "date",     "taskset", "sha256sum", "stat",     "find",      "gzip",    "gunzip",
        "zcat",    "timeout",  "od",      "hexdump",   "xxd",      "setsid",    "uptime",  "nproc",
        "getconf", "hostname", "free",    "readlink",  "realpath", "awk",       "sed",     "head",
        "tail",    "which",    "whoami",  "md5sum",    "sha1sum",  "sha512sum", "sha3sum", "cksum",
        "crc32",   "mktemp",   "base64",  "ps"}},
  };
}

std::string shell_problem(const Shell& shell) {
  const std::string words = shell.words;
  const std::string program = words.substr(0, words.find(' '));
  if (!std::filesystem::exists(program)) return program + " is not installed";
  return {};
}

std::unique_ptr<Transport> through_shell(const Shell& shell, std::unique_ptr<Transport> inner,
                                         const std::filesystem::path& folder) {
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  if (shell.busybox_only) {
    path = folder.string();
    for (const std::string& applet : applets()) {
      if (std::find(shell.missing.begin(), shell.missing.end(), applet) == shell.missing.end()) {
        std::error_code there;
        std::filesystem::create_symlink(k_busybox, folder / applet, there);
      }
    }
  }
  return std::make_unique<OtherShell>(std::move(inner), shell.words, path);
}

}  // namespace stab::test
