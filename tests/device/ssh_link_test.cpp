// SPDX-License-Identifier: Apache-2.0
// Ways to a device that are closed, odd, silent or that break.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "stab/core/error.h"
#include "stab/device/shell.h"
#include "stab/device/ssh_transport.h"
#include "support/proc_table.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/ssh_server.h"
#include "support/tcp_proxy.h"

namespace stab {
namespace {

using namespace std::chrono_literals;
using test::RunningProcess;
using test::SshServer;
using test::SshServerOptions;
using test::TcpProxy;
using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;
using Kind = SshServerOptions::Kind;

/// What an error says; its kind must be the one for devices.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device) << error.what();
    return error.what();
  }
  return "no error";
}

std::string connect_error(const SshOptions& options) {
  return error_of([&] { connect_ssh(options, {}, {}, {}); });
}

SshOptions local_options(int port) {
  SshOptions options;
  options.host = "nobody@127.0.0.1:" + std::to_string(port);
  options.limits.connect = 1s;
  return options;
}

std::unique_ptr<Transport> connect_by(const TcpProxy& proxy, const SshServer& server,
                                      const SshLimits& limits = {}) {
  SshOptions options = server.options();
  options.port = proxy.port();
  options.accept_new_host_key = true;
  options.limits = limits;
  return connect_ssh(options, {}, {}, {});
}

std::string output_of(Transport& transport, const std::string& script) {
  std::string output;
  Command command{.script = script};
  command.output = [&](std::string_view bytes) { output += bytes; };
  transport.run(command);
  return output;
}

/// Input without an end.
ByteSource endless() {
  return [](std::span<char> into) {
    std::memset(into.data(), 'x', into.size());
    return into.size();
  };
}

/// A server that says one thing to everybody.
class Talker {
 public:
  explicit Talker(std::string text, int backlog = 8) : text_(std::move(text)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    bind(listener_, generic, size);
    getsockname(listener_, generic, &size);
    listen(listener_, backlog);
    port_ = ntohs(address.sin_port);
    if (!text_.empty()) thread_ = std::thread([this] { talk(); });
  }
  ~Talker() {
    shutdown(listener_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }
  Talker(const Talker&) = delete;
  Talker& operator=(const Talker&) = delete;
  int port() const { return port_; }

 private:
  void talk() {
    for (int client; (client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      send(client, text_.data(), text_.size(), MSG_NOSIGNAL);
      std::this_thread::sleep_for(300ms);
      close(client);
    }
  }

  std::string text_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

TEST(SshWay, SaysThatAPortRefuses) {
  EXPECT_THAT(connect_error(local_options(test::closed_port())),
              AllOf(HasSubstr("refuses the connection"), HasSubstr("--port")));
}

TEST(SshWay, SaysThatANameDoesNotResolve) {
  SshOptions options;
  options.host = "no-such-host.invalid";
  EXPECT_THAT(connect_error(options), HasSubstr("cannot find host 'no-such-host.invalid'"));
}

TEST(SshWay, GivesUpOnAHostThatDropsPackets) {
  // A full queue of connections makes the kernel drop the next ones.
  const Talker full("", 0);
  std::vector<int> fillers;
  for (int i = 0; i < 4; ++i) {
    fillers.push_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(full.port()));
    connect(fillers.back(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  }
  std::this_thread::sleep_for(100ms);
  EXPECT_THAT(connect_error(local_options(full.port())), HasSubstr("does not answer within 1 s"));
  for (const int filler : fillers) close(filler);
}

TEST(SshWay, GivesUpOnAProxyThatAcceptsAndSaysNothing) {
  const TcpProxy silent(0);
  EXPECT_THAT(connect_error(local_options(silent.port())),
              AllOf(HasSubstr("says nothing for 1 s"), HasSubstr("SSH server")));
}

TEST(SshWay, SaysThatAServerDoesNotSpeakSsh) {
  const Talker http("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  EXPECT_THAT(connect_error(local_options(http.port())), HasSubstr("does not speak SSH"));
}

TEST(SshWay, SaysThatTheKeyExchangeBreaksOrHangs) {
  const SshServer server;
  {
    TcpProxy proxy(server.port());
    proxy.cut_after_received(300);
    EXPECT_THAT(error_of([&] { connect_by(proxy, server); }),
                HasSubstr("cannot agree on keys with"));
  }
  const Talker banner("SSH-2.0-OpenSSH_9.2\r\n");
  EXPECT_THAT(connect_error(local_options(banner.port())), HasSubstr("cannot agree on keys with"));
}

TEST(SshWay, StopsWhenAskedTo) {
  const TcpProxy silent(0);
  SshOptions options = local_options(silent.port());
  options.limits.connect = 60s;
  std::atomic<bool> stop = false;
  std::thread later([&] {
    std::this_thread::sleep_for(300ms);
    stop = true;
  });
  try {
    connect_ssh(options, [&] { return stop.load(); }, {}, {});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  later.join();
}

TEST(SshWay, TriesAllAddressesOfAName) {
  const SshServer server;
  SshOptions options = server.options();
  options.host = server.user() + "@localhost";
  options.port = server.port();
  options.accept_new_host_key = true;
  EXPECT_EQ(connect_ssh(options, {}, {}, {})->run(Command{.script = "exit 4"}).code, 4);
}

TEST(SshWay, TakesIpv6WithAndWithoutScope) {
  SshServerOptions server_options;
  server_options.sshd_lines = {"ListenAddress ::1"};
  const SshServer server(server_options);
  for (const char* host : {"[::1]", "[::1%1]"}) {
    SshOptions options;
    options.host = server.user() + "@" + host + ":" + std::to_string(server.port());
    options.accept_new_host_key = true;
    try {
      EXPECT_EQ(connect_ssh(options, {}, {}, {})->run(Command{.script = "exit 4"}).code, 4);
    } catch (const Error& error) {
      if (std::string(error.what()).find("there is no way") == std::string::npos) throw;
      test::skip_or_fail("no IPv6 on the loopback interface");
    }
  }
}

TEST(SshWay, SaysThatTheConfigurationNeedsAnSshProgram) {
  const SshServer server;
  server.write_config("Port 1\n");
  const char* path = getenv("PATH");
  const std::string before = path == nullptr ? "" : path;
  setenv("PATH", "/nowhere", 1);
  std::vector<Warning> warnings;
  const auto transport = connect_ssh(
      server.options(), {}, [&](const Warning& warning) { warnings.push_back(warning); }, {});
  setenv("PATH", before.c_str(), 1);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].id, "ssh_config_ignored");
  EXPECT_EQ(transport->run(Command{.script = "exit 4"}).code, 4);
}

TEST(SshWay, FollowsAnAliasOfTheConfiguration) {
  test::require_program("ssh");
  const SshServer server;
  server.write_config("Host my_board\n  HostName 127.0.0.1\n  User " + server.user() + "\n  Port " +
                      std::to_string(server.port()) + "\n");
  SshOptions options;
  options.host = "my_board";
  const auto transport = connect_ssh(options, {}, {}, {});
  EXPECT_EQ(transport->run(Command{.script = "exit 4"}).code, 4);
  EXPECT_THAT(transport->link().address, HasSubstr("my_board"));
}

TEST(SshWay, SaysWhatIsWrongInTheConfiguration) {
  test::require_program("ssh");
  const SshServer server;
  server.write_config("NoSuchKeyword yes\n");
  EXPECT_THAT(connect_error(server.options()),
              AllOf(HasSubstr("cannot read the ssh configuration"), HasSubstr("ssh says: ")));
}

TEST(SshWay, GoesThroughAProxyCommand) {
  const std::string busybox = test::require_program("busybox").string();
  test::require_program("ssh");
  const SshServer server;
  server.write_config("ProxyCommand " + busybox + " nc %h %p\n");
  const auto transport = connect_ssh(server.options(), {}, {}, {});
  EXPECT_EQ(transport->run(Command{.script = "exit 4"}).code, 4);
  EXPECT_TRUE(transport->run(Command{.script = "head -c 5000000 /dev/zero", .input = {}}).ok());
}

TEST(SshWay, TellsWhatAProxyCommandSaid) {
  test::require_program("ssh");
  const SshServer server;
  server.write_config("ProxyCommand echo 'gate is closed' >&2; exit 3\n");
  EXPECT_THAT(connect_error(server.options()), HasSubstr("says: gate is closed"));
}

TEST(SshWay, NoticesAProxyCommandThatDiesLater) {
  const std::string busybox = test::require_program("busybox").string();
  test::require_program("ssh");
  const SshServer server;
  const auto script = server.folder() / "proxy";
  std::ofstream(script) << "#!/bin/sh\necho $$ > " << (server.folder() / "pid").string()
                        << "\nexec " << busybox << " nc $1 $2\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  server.write_config("ProxyCommand " + script.string() + " %h %p\n");
  const auto transport = connect_ssh(server.options(), {}, {}, {});
  const int proxy = std::stoi(test::read_text(server.folder() / "pid"));
  Command command{.script = "cat >/dev/null", .input = endless()};
  std::thread killer([&] {
    std::this_thread::sleep_for(300ms);
    kill(proxy, SIGKILL);
  });
  EXPECT_THAT(error_of([&] { transport->run(command); }), HasSubstr("the connection broke"));
  killer.join();
}

TEST(SshWay, GoesThroughAJumpHost) {
  test::require_program("ssh");
  const SshServer server;
  const std::string ssh_dir = server.ssh_dir().string();
  server.write_config("Host gate\n  HostName 127.0.0.1\n  Port " + std::to_string(server.port()) +
                      "\n  User " + server.user() + "\n  IdentityFile " + ssh_dir +
                      "/id_ed25519\n  UserKnownHostsFile " + ssh_dir +
                      "/known_hosts\nHost inner\n  HostName 127.0.0.1\n  Port " +
                      std::to_string(server.port()) + "\n  User " + server.user() +
                      "\n  ProxyJump gate\nHost lost\n  HostName 127.0.0.1\n  Port " +
                      std::to_string(test::closed_port()) + "\n  ProxyJump gate\n");
  SshOptions options;
  options.host = "inner";
  EXPECT_EQ(connect_ssh(options, {}, {}, {})->run(Command{.script = "exit 4"}).code, 4);
  options.host = "lost";
  EXPECT_THAT(connect_error(options), HasSubstr("jump host 'gate' says: "));
}

class LoginShell : public testing::TestWithParam<std::tuple<std::string, Kind>> {};

TEST_P(LoginShell, DoesNotMatterWhateverItIsAndSays) {
  const auto& [shell, kind] = GetParam();
  SshServerOptions options;
  options.kind = kind;
  options.login_shell = shell;
  options.start_up = "echo 'Welcome! $HOME'; printf 'no line feed'; echo noise >&2\n";
  if (shell != "fish" && shell != "tcsh") options.start_up += "LANG=tr_TR.UTF-8; export LANG\n";
  if (shell == "tcsh") options.start_up = "echo 'Welcome'; setenv LANG tr_TR.UTF-8\n";
  const SshServer server(options);
  const auto transport = connect_ssh(server.options(), {}, {}, {});
  std::string output, error;
  const std::string odd = "a;b 'c' \"d\" $HOME `id` \\n !x *\n~ BACKENDS=cpu;ruy \xc3\xa9";
  Command command{.script = "printf %s " + shell_quote(odd) + "; printf '%s' $LC_ALL >&2; exit 9"};
  command.output = [&](std::string_view bytes) { output += bytes; };
  command.error = [&](std::string_view bytes) { error += bytes; };
  EXPECT_EQ(transport->run(command).code, 9);
  EXPECT_EQ(output, odd);
  EXPECT_EQ(error, "C");
}

INSTANTIATE_TEST_SUITE_P(Shells, LoginShell,
                         testing::Combine(testing::Values("bash", "dash", "fish", "tcsh"),
                                          testing::Values(Kind::openssh, Kind::dropbear)),
                         [](const auto& shape) {
                           return std::get<0>(shape.param) +
                                  (std::get<1>(shape.param) == Kind::openssh ? "_sshd"
                                                                             : "_dropbear");
                         });

TEST(LoginShell, IsQuotedWhenItRefuses) {
  SshServerOptions options;
  options.sshd_lines = {"ForceCommand echo 'This account is currently not available.'; exit 1"};
  const SshServer server(options);
  const auto transport = connect_ssh(server.options(), {}, {}, {});
  EXPECT_THAT(error_of([&] { transport->run(Command{.script = "true"}); }),
              AllOf(HasSubstr("cannot run a command on"),
                    HasSubstr("This account is currently not available.")));
}

class BrokenLink : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    SshServerOptions options;
    options.kind = GetParam();
    options.busybox = GetParam() == Kind::dropbear;
    server_.emplace(options);
    proxy_.emplace(server_->port());
    limits_.heartbeat = 500ms;
    limits_.keepalive = 500ms;
    limits_.silence = 3s;
    limits_.remote_silence = 3s;
  }

  std::optional<SshServer> server_;
  std::optional<TcpProxy> proxy_;
  SshLimits limits_;
};

TEST_P(BrokenLink, IsToldWhenItBreaksInTheMiddleOfAnUpload) {
  const auto transport = connect_by(*proxy_, *server_, limits_);
  proxy_->cut_after_sent(5'000'000);
  const Command command{.script = "cat >/dev/null", .input = endless()};
  EXPECT_THAT(error_of([&] { transport->run(command); }),
              AllOf(HasSubstr("the connection broke"), HasSubstr("bytes were sent")));
  EXPECT_THAT(error_of([&] { transport->run(Command{.script = "true"}); }),
              HasSubstr("the connection broke"));
}

TEST_P(BrokenLink, IsToldWhenItBreaksInTheMiddleOfADownload) {
  const auto transport = connect_by(*proxy_, *server_, limits_);
  proxy_->cut_after_received(5'000'000);
  EXPECT_THAT(error_of([&] { output_of(*transport, "head -c 100000000 /dev/zero"); }),
              HasSubstr("the connection broke"));
}

TEST_P(BrokenLink, EndsTheCommandWhenItIsCut) {
  const auto transport = connect_by(*proxy_, *server_, limits_);
  int pid = 0;
  Command command{.script = "echo $$; sleep 1000"};
  command.output = [&](std::string_view text) {
    pid = std::stoi(std::string(text));
    proxy_->cut();
  };
  EXPECT_THAT(error_of([&] { transport->run(command); }), HasSubstr("the connection broke"));
  EXPECT_TRUE(test::process_gone(pid, 20s));
}

TEST_P(BrokenLink, IsNoticedOnBothSidesWhenItFallsSilent) {
  const auto transport = connect_by(*proxy_, *server_, limits_);
  int pid = 0;
  Command command{.script = "trap '' TERM; echo $$; while :; do sleep 1; done"};
  command.output = [&](std::string_view text) {
    pid = std::stoi(std::string(text));
    proxy_->stall();
  };
  EXPECT_THAT(error_of([&] { transport->run(command); }), HasSubstr("silent for 3 s"));
  EXPECT_TRUE(test::process_gone(pid, 30s));
}

TEST_P(BrokenLink, IsNoticedWhenItFallsSilentDuringAnUpload) {
  const auto transport = connect_by(*proxy_, *server_, limits_);
  std::size_t sent = 0;
  Command command{.script = "cat >/dev/null"};
  command.input = [&](std::span<char> into) {
    sent += into.size();
    if (sent > 3'000'000) proxy_->stall();
    return into.size();
  };
  EXPECT_THAT(error_of([&] { transport->run(command); }), HasSubstr("silent for 3 s"));
}

TEST_P(BrokenLink, StaysUpWhileNothingIsSaid) {
  const auto transport = connect_by(*proxy_, *server_, limits_);
  EXPECT_EQ(transport->run(Command{.script = "sleep 6; exit 8"}).code, 8);
  std::this_thread::sleep_for(4s);
  EXPECT_EQ(transport->run(Command{.script = "exit 8"}).code, 8);
}

TEST_P(BrokenLink, EndsTheHeldProcessAndSaysSo) {
  const auto transport = connect_by(*proxy_, *server_, limits_);
  std::string output;
  Command command{.script = "echo $$; echo ready; sleep 1000"};
  command.output = [&](std::string_view text) { output += text; };
  const auto holder = transport->start(command);
  EXPECT_TRUE(holder->running());
  proxy_->cut();
  for (int i = 0; i < 500 && holder->running(); ++i) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(holder->running());
  EXPECT_THAT(error_of([&] { holder->stop(); }), HasSubstr("the connection broke"));
  EXPECT_TRUE(test::process_gone(std::stoi(output), 20s));
}

TEST_P(BrokenLink, EndsTheCommandWhenWeAreKilled) {
  const std::string pid_file = (server_->folder() / "command").string();
  const RunningProcess holder({STAB_BUILD_DIR "/tests/hold_command", server_->options().host,
                               "echo $$ >" + pid_file + "; sleep 1000; sleep 1000"});
  int pid = 0;
  for (int i = 0; i < 1000 && pid == 0; ++i) {
    std::this_thread::sleep_for(20ms);
    std::ifstream(pid_file) >> pid;
  }
  ASSERT_NE(pid, 0) << holder.err_so_far();
  kill(holder.pid(), SIGKILL);
  EXPECT_TRUE(test::process_gone(pid, 20s));
}

TEST_P(BrokenLink, ShowsTheDistanceBehindAProxy) {
  const auto near = connect_by(*proxy_, *server_, limits_);
  near->run(Command{.script = "true"});
  TcpProxy slow(server_->port(), 30ms);
  const auto far = connect_by(slow, *server_);
  far->run(Command{.script = "true"});
  EXPECT_GE(far->link().round_trip, 60ms);
  EXPECT_THAT(far->link().server, HasSubstr(GetParam() == Kind::openssh ? "OpenSSH" : "dropbear"));
  EXPECT_FALSE(far->link().local);
}

INSTANTIATE_TEST_SUITE_P(Servers, BrokenLink, testing::Values(Kind::openssh, Kind::dropbear),
                         [](const auto& shape) {
                           return shape.param == Kind::openssh ? "sshd" : "dropbear";
                         });

// With the times that jobs have, once: the login shells are dash (where it is /bin/sh) and
// BusyBox's ash.
TEST(SilentLink, EndsWhatRunsThereAfterThirtySeconds) {
  SshServerOptions small;
  small.kind = Kind::dropbear;
  small.busybox = true;
  const SshServer usual;
  TcpProxy usual_proxy(usual.port());
  const auto to_usual = connect_by(usual_proxy, usual);
  const SshServer busybox(small);
  TcpProxy busybox_proxy(busybox.port());
  const auto to_busybox = connect_by(busybox_proxy, busybox);
  std::vector<std::string> pids(2);
  std::vector<std::unique_ptr<Process>> running;
  for (Transport* transport : {to_usual.get(), to_busybox.get()}) {
    Command command{.script = "echo $$; echo ready; while :; do sleep 1; done"};
    command.output = [&pid = pids[running.size()]](std::string_view text) { pid += text; };
    running.push_back(transport->start(command));
  }
  usual_proxy.stall();
  busybox_proxy.stall();
  for (const auto& process : running) {
    while (process->running()) std::this_thread::sleep_for(100ms);
    EXPECT_THAT(error_of([&] { process->stop(); }), HasSubstr("silent for 30 s"));
  }
  for (const std::string& pid : pids) EXPECT_TRUE(test::process_gone(std::stoi(pid), 60s));
}

TEST(SshSession, KeepsManyCommandsApart) {
  const SshServer server;
  const auto transport = connect_ssh(server.options(), {}, {}, {});
  std::vector<std::unique_ptr<Process>> holders;
  for (int i = 0; i < 5; ++i) {
    holders.push_back(transport->start(Command{.script = "echo ready; sleep 1000"}));
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(output_of(*transport, "echo " + std::to_string(i)), std::to_string(i) + "\n");
  }
  for (const auto& holder : holders) EXPECT_TRUE(holder->running());
}

TEST(SshSession, SaysWhenTheServerRefusesAnotherChannel) {
  SshServerOptions options;
  options.sshd_lines = {"MaxSessions 1"};
  const SshServer server(options);
  const auto transport = connect_ssh(server.options(), {}, {}, {});
  const auto holder = transport->start(Command{.script = "echo ready; sleep 1000"});
  EXPECT_THAT(error_of([&] { transport->run(Command{.script = "true"}); }),
              HasSubstr("refuses to open a channel"));
  EXPECT_TRUE(holder->running());
}

/// On such a link the next channel is asked for before a command needs it.
class FarLink : public testing::Test {
 protected:
  void connect(std::vector<std::string> sshd_lines) {
    SshServerOptions options;
    options.sshd_lines = std::move(sshd_lines);
    server_.emplace(options);
    proxy_.emplace(server_->port(), 10ms);
    transport_ = connect_by(*proxy_, *server_);
  }

  std::optional<SshServer> server_;
  std::optional<TcpProxy> proxy_;
  std::unique_ptr<Transport> transport_;
};

TEST_F(FarLink, KeepsCommandsApart) {
  connect({});
  const auto holder = transport_->start(Command{.script = "echo ready; sleep 1000"});
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(output_of(*transport_, "echo " + std::to_string(i)), std::to_string(i) + "\n");
  }
  EXPECT_TRUE(holder->running());
}

// sshd refuses a channel as long as it has not cleared up the last one.
TEST_F(FarLink, NeedsNoMoreChannelsThanTheServerAllows) {
  connect({"MaxSessions 1"});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(transport_->run(Command{.script = "exit 4"}).code, 4);
  const auto holder = transport_->start(Command{.script = "echo ready; sleep 1000"});
  EXPECT_THAT(error_of([&] { transport_->run(Command{.script = "true"}); }),
              HasSubstr("refuses to open a channel"));
  EXPECT_TRUE(holder->running());
}

TEST_F(FarLink, GoesOnWhenTheServerClosesAChannelThatWaits) {
  connect({"ChannelTimeout session=1s"});
  EXPECT_EQ(transport_->run(Command{.script = "exit 4"}).code, 4);
  std::this_thread::sleep_for(3s);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(transport_->run(Command{.script = "exit 4"}).code, 4);
}

}  // namespace
}  // namespace stab
