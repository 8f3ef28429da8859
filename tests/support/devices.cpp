// SPDX-License-Identifier: Apache-2.0
#include "support/devices.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <utility>

#include "support/other_shell.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/ssh_server.h"

namespace stab::test {
namespace {

namespace fs = std::filesystem;
using Link = DeviceKind::Link;

constexpr const char* k_usual_path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

void link_applets(const fs::path& folder, const std::vector<std::string>& missing) {
  const std::string busybox = require_program("busybox").string();
  std::istringstream lines(run_process({busybox, "--list"}).out);
  for (std::string applet; std::getline(lines, applet);) {
    if (std::find(missing.begin(), missing.end(), applet) == missing.end())
      fs::create_symlink(busybox, folder / applet);
  }
}

// One server of each kind serves all tests of a program.
SshServer& server_of(Link link) {
  static std::map<Link, std::unique_ptr<SshServer>> servers;
  std::unique_ptr<SshServer>& server = servers[link];
  if (!server) {
    SshServerOptions options;
    if (link == Link::dropbear) {
      options.kind = SshServerOptions::Kind::dropbear;
      options.busybox = true;
    }
    server = std::make_unique<SshServer>(options);
  }
  return *server;
}

}  // namespace

std::vector<DeviceKind> all_devices() {
  return {
      {"dash", Link::local, "dash", false, {}},
      {"bash", Link::local, "bash", false, {}},
      {"ash", Link::local, "busybox sh", true, {}},
      // BusyBox's own shell finds its applets even outside PATH, so another shell stands for a
      // device that lacks them.
      {"bare",
       Link::local,
       "dash",
       true,
       {"busybox", "date",     "taskset", "sha256sum", "stat",     "find",      "gzip",    "gunzip",
        "zcat",    "timeout",  "od",      "hexdump",   "xxd",      "setsid",    "uptime",  "nproc",
        "getconf", "hostname", "free",    "readlink",  "realpath", "awk",       "sed",     "head",
        "tail",    "which",    "whoami",  "md5sum",    "sha1sum",  "sha512sum", "sha3sum", "cksum",
        "crc32",   "mktemp",   "base64",  "ps"}},
      {"openssh", Link::openssh, "", false, {}},
      {"dropbear", Link::dropbear, "", true, {}},
  };
}

std::vector<DeviceKind> local_devices() {
  std::vector<DeviceKind> devices = all_devices();
  std::erase_if(devices, [](const DeviceKind& kind) { return kind.link != Link::local; });
  return devices;
}

std::vector<DeviceKind> far_devices() {
  std::vector<DeviceKind> devices = all_devices();
  std::erase_if(devices, [](const DeviceKind& kind) { return kind.link == Link::local; });
  return devices;
}

std::vector<DeviceKind> few_devices() {
  std::vector<DeviceKind> all = all_devices();
  return {all[0], all[5]};
}

TestDevice::TestDevice(DeviceKind kind) : kind_(std::move(kind)) {
  if (kind_.link != Link::local) server_of(kind_.link);
  if (kind_.link == Link::local && kind_.busybox_only) link_applets(tools_.path(), kind_.missing);
}

std::unique_ptr<Transport> TestDevice::connect(StopRequested stop) {
  if (kind_.link != Link::local) {
    const SshServer& server = server_of(kind_.link);
    setenv("STAB_SSH_DIR", server.ssh_dir().c_str(), 1);
    return connect_ssh(server.options(), std::move(stop), {}, {});
  }
  return through_shell(make_local_transport(std::move(stop)), "");
}

int TestDevice::port() const {
  return server_of(kind_.link).port();
}

std::unique_ptr<Transport> TestDevice::connect_by(int port, const SshLimits& limits) {
  const SshServer& server = server_of(kind_.link);
  setenv("STAB_SSH_DIR", server.ssh_dir().c_str(), 1);
  SshOptions options = server.options();
  options.port = port;
  options.accept_new_host_key = true;
  options.limits = limits;
  return connect_ssh(options, [] { return false; }, {}, {});
}

std::unique_ptr<Transport> TestDevice::connect_as_nobody() {
  if (geteuid() != 0 || kind_.link != Link::local) return nullptr;
  fs::permissions(tools_.path(), fs::perms(0755));
  return through_shell(
      make_local_transport([] { return false; }),
      require_program("setpriv").string() + " --reuid=65534 --regid=65534 --clear-groups ");
}

std::unique_ptr<Transport> TestDevice::through_shell(std::unique_ptr<Transport> inner,
                                                     const std::string& before) const {
  const std::string words = kind_.shell;
  const auto blank = words.find(' ');
  const std::string shell = before + require_program(words.substr(0, blank)).string() +
                            (blank == std::string::npos ? "" : words.substr(blank));
  return std::make_unique<OtherShell>(std::move(inner), shell,
                                      kind_.busybox_only ? tools_.path().string() : k_usual_path);
}

}  // namespace stab::test
