// SPDX-License-Identifier: Apache-2.0
#include "support/ssh_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "support/process.h"
#include "support/real_world.h"
#include "support/tcp_proxy.h"

namespace stab::test {
namespace {

namespace fs = std::filesystem;
using Kind = SshServerOptions::Kind;

void replace_all(std::string& text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

void require_success(const std::vector<std::string>& argv) {
  const ProcessResult result = run_process(argv);
  if (result.exit_code != 0) throw std::runtime_error(argv.front() + " failed: " + result.err);
}

fs::path find_server(Kind kind) {
  const char* name = kind == Kind::openssh ? "sshd" : "dropbear";
  for (const char* folder : {"/usr/sbin", "/usr/local/sbin", "/sbin"}) {
    if (fs::exists(fs::path(folder) / name)) return fs::path(folder) / name;
  }
  return require_program(name);
}

fs::path find_nss_wrapper() {
  for (const std::string& folder : {std::string("/usr/lib/") + host_arch() + "-linux-gnu",
                                    std::string("/usr/lib/arm-linux-gnueabihf"),
                                    std::string("/usr/lib64"), std::string("/usr/lib")}) {
    if (fs::exists(fs::path(folder) / "libnss_wrapper.so")) {
      return fs::path(folder) / "libnss_wrapper.so";
    }
  }
  skip_or_fail("libnss_wrapper.so is missing: dropbear cannot be given an account of its own");
}

/// Where a login shell reads its start-up file.
std::string start_up_file(const std::string& shell) {
  if (shell == "fish") return ".config/fish/config.fish";
  if (shell == "tcsh") return ".tcshrc";
  return ".bashrc";
}

}  // namespace

SshServer::SshServer(SshServerOptions options) : options_(std::move(options)) {
  find_server(options_.kind);
  require_program("ssh-keygen");
  if (!options_.login_shell.empty()) require_program(options_.login_shell);
  user_ = getpwuid(getuid())->pw_name;
  fs::create_directories(ssh_dir());
  fs::create_directories(home() / ".ssh");
  make_keys();
  start();
  set_known_hosts("{host} {key}\n");
  setenv("STAB_SSH_DIR", ssh_dir().c_str(), 1);
  unsetenv("SSH_AUTH_SOCK");
}

SshServer::~SshServer() {
  unsetenv("STAB_SSH_DIR");
  if (process_ <= 0) return;
  // More than once: dropbear misses a signal that comes just before it waits for the next client.
  for (int tries = 0; tries < 100; ++tries) {
    kill(process_, SIGTERM);
    for (int wait = 0; wait < 25; ++wait) {
      if (waitpid(process_, nullptr, WNOHANG) == process_) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

void SshServer::make_keys() {
  make_key(folder_.path() / "host_key", "ed25519");
  make_key(ssh_dir() / "id_ed25519", "ed25519");
  fs::copy_file(ssh_dir() / "id_ed25519.pub", home() / ".ssh/authorized_keys");
  for (const fs::path& path : {home(), home() / ".ssh"})
    fs::permissions(path, fs::perms::owner_all);
}

SshOptions SshServer::options() const {
  SshOptions result;
  result.host = user_ + "@127.0.0.1:" + std::to_string(port_);
  return result;
}

std::string SshServer::host_key() const {
  const std::string line = read_text(folder_.path() / "host_key.pub");
  return line.substr(0, line.find(' ', line.find(' ') + 1));
}

void SshServer::set_known_hosts(std::string text) const {
  replace_all(text, "{host}", "[127.0.0.1]:" + std::to_string(port_));
  replace_all(text, "{key}", host_key());
  folder_.write("ssh/known_hosts", text);
}

void SshServer::set_authorized_key(const std::string& line) const {
  folder_.write("home/.ssh/authorized_keys", line);
}

void SshServer::write_config(const std::string& text) const {
  folder_.write("ssh/config", text);
}

/// What runs instead of the account's login shell, when that matters; empty otherwise.
std::string SshServer::login_program() {
  std::string program = "#!/bin/sh\nunset SHLVL; HOME=" + home().string() + "; export HOME\n";
  if (options_.busybox) {
    const fs::path tools = folder_.path() / "bin";
    fs::create_directories(tools);
    require_success({require_program("busybox").string(), "--install", "-s", tools.string()});
    const std::string shell = (tools / "sh").string();
    program += "PATH=" + tools.string() + "; export PATH\n" +
               "command=$(printf %s \"$SSH_ORIGINAL_COMMAND\" | sed 's#/bin/sh#" + shell +
               "#g')\nexec " + shell + " -c \"$command\"\n";
  } else if (!options_.login_shell.empty() || !options_.start_up.empty()) {
    const std::string shell = options_.login_shell.empty() ? "bash" : options_.login_shell;
    folder_.write("home/" + start_up_file(shell), options_.start_up);
    program += "exec " + require_program(shell).string() + " -c \"$SSH_ORIGINAL_COMMAND\"\n";
  } else {
    return {};
  }
  const fs::path file = folder_.write("login", program);
  fs::permissions(file, fs::perms::owner_all);
  return file.string();
}

// bash reads the tester's .bashrc when sshd starts it, unless it thinks that it runs in another
// shell.
std::vector<std::string> SshServer::sshd_command() {
  std::string config;
  for (const std::string& line : options_.sshd_lines) config += line + "\n";
  config += "HostKey " + (folder_.path() / "host_key").string() + "\nAuthorizedKeysFile " +
            (home() / ".ssh/authorized_keys").string() +
            "\nListenAddress 127.0.0.1\nStrictModes no\nUsePAM no\nPidFile none\n"
            "PermitRootLogin yes\nSetEnv SHLVL=5\nPrintMotd no\nLogLevel VERBOSE\n";
  if (const std::string program = login_program(); !program.empty()) {
    config += "ForceCommand " + program + "\n";
  }
  const fs::path file = folder_.write("sshd_config", config);
  if (getuid() == 0) mkdir("/run/sshd", 0755);
  return {find_server(Kind::openssh).string(),     "-D", "-f", file.string(), "-E",
          (folder_.path() / "server.log").string()};
}

/// dropbear looks for authorized_keys in the home folder of the password database, so it gets one
/// of its own.
std::vector<std::string> SshServer::dropbear_command() {
  const std::string id = std::to_string(getuid()) + ":" + std::to_string(getgid());
  const std::string password = options_.password_hash.value_or("x");
  const fs::path users = folder_.write(
      "passwd", user_ + ":" + password + ":" + id + "::" + home().string() + ":/bin/sh\n");
  const fs::path groups = folder_.write("group", "g:x:" + std::to_string(getgid()) + ":\n");
  const fs::path key = folder_.path() / "dropbear_key";
  require_success({require_program("dropbearkey").string(), "-t", "ed25519", "-f", key.string()});
  const ProcessResult shown =
      run_process({require_program("dropbearkey").string(), "-y", "-f", key.string()});
  const std::size_t start = shown.out.find("ssh-ed25519 ");
  folder_.write("host_key.pub", shown.out.substr(start, shown.out.find('\n', start) - start));
  std::vector<std::string> argv{"env",
                                "LD_PRELOAD=" + find_nss_wrapper().string(),
                                "NSS_WRAPPER_PASSWD=" + users.string(),
                                "NSS_WRAPPER_GROUP=" + groups.string(),
                                find_server(Kind::dropbear).string(),
                                "-F",
                                "-E",
                                "-r",
                                key.string(),
                                "-P",
                                (folder_.path() / "pid").string()};
  if (const std::string program = login_program(); !program.empty()) {
    argv.insert(argv.end(), {"-c", program});
  }
  argv.insert(argv.end(), options_.dropbear_arguments.begin(), options_.dropbear_arguments.end());
  return argv;
}

void SshServer::start() {
  const std::vector<std::string> base =
      options_.kind == Kind::openssh ? sshd_command() : dropbear_command();
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = closed_port();
    std::vector<std::string> argv = base;
    argv.push_back("-p");
    argv.push_back(options_.kind == Kind::openssh ? std::to_string(port_)
                                                  : "127.0.0.1:" + std::to_string(port_));
    const ProgramStart program(std::move(argv), {});
    const std::string log = (folder_.path() / "server.out").string();
    process_ = fork();
    if (process_ == 0) {
      const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(open("/dev/null", O_RDONLY), 0);
      dup2(file, 1);
      dup2(file, 2);
      program.become();
    }
    for (int wait = 0; wait < 500; ++wait) {
      if (waitpid(process_, nullptr, WNOHANG) == process_) break;
      if (listening()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  process_ = -1;
  throw std::runtime_error("the SSH server does not start: " +
                           read_text(folder_.path() / "server.out"));
}

bool SshServer::listening() const {
  const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  const bool open =
      connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(descriptor);
  return open;
}

fs::path make_key(const fs::path& file, const std::string& type, const std::string& passphrase) {
  require_success({require_program("ssh-keygen").string(), "-q", "-t", type, "-N", passphrase, "-C",
                   file.filename().string(), "-f", file.string()});
  return file;
}

}  // namespace stab::test
