// SPDX-License-Identifier: Apache-2.0
#include "ssh/host_key.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "descriptor.h"
#include "stab/core/error.h"
#include "stab/device/shell.h"

namespace stab {
namespace {

using Verdict = KnownHostsAnswer::Verdict;
constexpr std::size_t k_most_bytes = 16U << 20;

std::optional<std::string> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  std::string text(std::istreambuf_iterator<char>(stream), {});
  if (text.size() > k_most_bytes) text.resize(k_most_bytes);
  return text;
}

HostName host_name(const SshSettings& settings) {
  return {settings.host, settings.port, settings.host_key_alias};
}

std::string describe(const HostKey& key) {
  return key.type + " key " + fingerprint(key);
}

/// The command that forgets what a file knows of the host.
std::string repair_command(const KnownHostsAnswer& answer, const SshSettings& settings) {
  const std::string sudo = access(answer.file.c_str(), W_OK) == 0 ? "" : "sudo ";
  return sudo + "ssh-keygen -f " + shell_quote(answer.file) + " -R " +
         shell_quote(host_name(settings).entry());
}

/// Appends to a file, making it (and its folder) as private as ssh does; the number of the error.
int append(const std::string& path, const std::string& line) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) mkdir(folder.c_str(), 0700);
  const Descriptor file(open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
  if (!file.open()) return errno;
  char last = '\n';
  const off_t end = lseek(file.get(), 0, SEEK_END);
  if (end > 0 && pread(file.get(), &last, 1, end - 1) != 1) last = '\n';
  const std::string text = (last == '\n' ? "" : "\n") + line;
  const ssize_t written = write(file.get(), text.data(), text.size());
  return written == static_cast<ssize_t>(text.size()) ? 0 : written < 0 ? errno : EIO;
}

std::string random_salt() {
  std::string salt(20, '\0');
  return getrandom(salt.data(), salt.size(), 0) == static_cast<ssize_t>(salt.size()) ? salt : "";
}

void remember(const HostKey& key, const SshSettings& settings, const WarningSink& warn) {
  const std::string salt = settings.hash_known_hosts ? random_salt() : "";
  const std::string line = known_hosts_line(host_name(settings), key, salt);
  const std::string file = settings.known_hosts.empty() ? "" : settings.known_hosts.front();
  const int error = file.empty() ? ENOENT : append(file, line);
  if (!warn) return;
  if (error == 0) {
    warn({"host_key_added", Severity::info, settings.address(),
          "its " + describe(key) + " was unknown and is now in " + file, ""});
  } else {
    warn({"host_key_not_kept", Severity::warning, settings.address(),
          "its " + describe(key) + " is accepted this time only: " +
              (file.empty()
                   ? "there is no known_hosts file"
                   : file + " cannot be written (" + std::generic_category().message(error) + ")"),
          "make the file writable"});
  }
}

}  // namespace

std::vector<KnownHostsFile> read_known_hosts(const SshSettings& settings) {
  std::vector<KnownHostsFile> files;
  for (const auto* paths : {&settings.known_hosts, &settings.global_known_hosts}) {
    for (const std::string& path : *paths) {
      if (auto text = read_file(path)) files.push_back({path, std::move(*text)});
    }
  }
  return files;
}

void check_host_key(const HostKey& key, const std::vector<KnownHostsFile>& files,
                    const SshSettings& settings, const WarningSink& warn) {
  const std::string what = "cannot trust the host key of";
  const std::string address = settings.address();
  if (key.type.empty()) {
    throw Error(ErrorKind::device, what, address, "libssh cannot tell which key it is");
  }
  const KnownHostsAnswer answer = look_up_host_key(files, host_name(settings), key);
  for (const std::string& place : answer.malformed) {
    if (warn) {
      warn({"known_hosts_malformed", Severity::warning, place,
            "this line for " + address + " cannot be read and is passed over", "remove it"});
    }
  }
  const std::string place = answer.file + ":" + std::to_string(answer.line);
  switch (answer.verdict) {
    case Verdict::known:
      return;
    case Verdict::revoked:
      throw Error(ErrorKind::device, what, address,
                  "its " + describe(key) + " is marked as revoked in " + place);
    case Verdict::changed:
      throw Error(ErrorKind::device, what, address,
                  "it has changed: " + place + " knows the " + describe(answer.expected) +
                      ", but the host shows the " + describe(key) +
                      "; somebody may be in between, or the device was set up anew",
                  repair_command(answer, settings) + "  (once you are sure)");
    case Verdict::unknown:
      break;
  }
  if (settings.accept_new) {
    remember(key, settings, warn);
    return;
  }
  const std::string file =
      settings.known_hosts.empty() ? "any known_hosts file" : settings.known_hosts.front();
  throw Error(ErrorKind::device, what, address, "its " + describe(key) + " is not in " + file,
              "--accept-new-host-key, after comparing this fingerprint with the device's own");
}

}  // namespace stab
