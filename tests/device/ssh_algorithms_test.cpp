// SPDX-License-Identifier: Apache-2.0
// The lists that a key exchange asks for, and key exchanges in the middle of a transfer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ssh/algorithms.h"
#include "stab/core/error.h"
#include "stab/device/ssh_transport.h"
#include "support/ssh_server.h"
#include "support/tcp_proxy.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SshAlgorithms, AskFirstForHostKeysThatAreKnown) {
  EXPECT_EQ(
      host_key_algorithms("ssh-ed25519,rsa-sha2-512,ecdsa-sha2-nistp256,rsa-sha2-256", {"ssh-rsa"}),
      "rsa-sha2-512,rsa-sha2-256,ssh-ed25519,ecdsa-sha2-nistp256");
  EXPECT_EQ(host_key_algorithms("ssh-ed25519-cert-v01@openssh.com,ssh-ed25519", {}), "ssh-ed25519");
  EXPECT_THAT(host_key_algorithms("", {}), HasSubstr("ssh-ed25519,"));
}

TEST(SshAlgorithms, PutAesGcmFirstWhereTheListHasIt) {
  EXPECT_EQ(with_aes_gcm_first("chacha20-poly1305@openssh.com,aes128-ctr,aes128-gcm@openssh.com,"
                               "aes256-gcm@openssh.com"),
            "aes128-gcm@openssh.com,aes256-gcm@openssh.com,chacha20-poly1305@openssh.com,"
            "aes128-ctr");
  EXPECT_EQ(with_aes_gcm_first("aes256-gcm@openssh.com,aes128-ctr"), "");
  EXPECT_EQ(with_aes_gcm_first("chacha20-poly1305@openssh.com,aes128-ctr"), "");
  EXPECT_THAT(with_aes_gcm_first(""), testing::StartsWith("aes256-gcm@openssh.com,"));
}

class KeyExchange : public testing::Test {
 protected:
  static constexpr std::size_t k_bytes = 9'000'000;

  void serve(std::vector<std::string> lines) {
    test::SshServerOptions options;
    lines.emplace_back("LogLevel DEBUG1");
    options.sshd_lines = std::move(lines);
    server_ = std::make_unique<test::SshServer>(options);
  }

  /// To a server whose key exchange counts as quick, however busy this machine is, or as slow.
  std::unique_ptr<Transport> connect(bool quick = true, int port = 0) const {
    SshOptions options = server_->options();
    if (port != 0) options.port = port;
    options.accept_new_host_key = port != 0;
    options.limits.quick_key_exchange =
        quick ? options.limits.key_exchange : std::chrono::milliseconds(0);
    return connect_ssh(options, {}, {}, {});
  }

  /// Sends bytes that are all different places and has them sent back.
  static void send_and_receive(Transport& transport) {
    std::string bytes(k_bytes, '\0');
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>((i * 2654435761U) >> 13U);
    }
    std::string back;
    std::size_t at = 0;
    Command command{.script = "cat"};
    command.input = [&](std::span<char> into) {
      const std::size_t count = std::min(into.size(), bytes.size() - at);
      std::memcpy(into.data(), bytes.data() + at, count);
      at += count;
      return count;
    };
    command.output = [&](std::string_view piece) { back += piece; };
    EXPECT_TRUE(transport.run(command).ok());
    EXPECT_TRUE(back == bytes);
  }

  std::string log() const { return test::read_text(server_->folder() / "server.log"); }

  std::size_t key_exchanges() const {
    const std::string text = log();
    std::size_t count = 0;
    const std::string mark = "kex: client->server cipher:";
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) ++count;
    return count;
  }

  std::unique_ptr<test::SshServer> server_;
};

TEST_F(KeyExchange, MayComeFromTheServerInTheMiddleOfBothDirections) {
  serve({"RekeyLimit 1M"});
  const std::unique_ptr<Transport> transport = connect();
  send_and_receive(*transport);
  EXPECT_GE(key_exchanges(), 5);
  send_and_receive(*transport);
}

TEST_F(KeyExchange, ChangesToAesGcmWhereBothProcessorsComputeIt) {
  serve({});
  const std::unique_ptr<Transport> transport = connect();
  transport->prefer_aes();
  send_and_receive(*transport);
  send_and_receive(*transport);
  if (computes_aes_gcm()) {
    EXPECT_THAT(log(), HasSubstr("kex: client->server cipher: aes"));
    EXPECT_THAT(log(), HasSubstr("kex: server->client cipher: aes"));
    EXPECT_EQ(key_exchanges(), 2);
  } else {
    EXPECT_EQ(key_exchanges(), 1);
  }
}

TEST_F(KeyExchange, MayBeCutAnywhere) {
  serve({});
  for (std::uint64_t sent = 1'000'000; sent < 1'012'000; sent += 1'000) {
    SCOPED_TRACE(sent);
    test::TcpProxy proxy(server_->port());
    proxy.cut_after_sent(sent);
    const std::unique_ptr<Transport> transport = connect(true, proxy.port());
    transport->prefer_aes();
    Command command{.script = "cat"};
    command.input = [](std::span<char> into) { return into.size(); };
    try {
      transport->run(command);
      ADD_FAILURE() << "an endless input came to an end";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device) << error.what();
      EXPECT_THAT(error.what(), HasSubstr("the connection broke"));
    }
  }
}

TEST_F(KeyExchange, KeepsTheCipherOfADeviceThatDoesNotComputeAes) {
  serve({});
  const std::unique_ptr<Transport> transport = connect();
  send_and_receive(*transport);
  send_and_receive(*transport);
  EXPECT_THAT(log(), Not(HasSubstr("cipher: aes")));
  EXPECT_EQ(key_exchanges(), computes_aes_gcm() ? 2 : 1);
}

TEST_F(KeyExchange, IsNotAskedForWhereTheConfigurationHasNoAesGcm) {
  serve({});
  server_->write_config("Host *\n  Ciphers chacha20-poly1305@openssh.com\n");
  const std::unique_ptr<Transport> transport = connect();
  transport->prefer_aes();
  send_and_receive(*transport);
  EXPECT_EQ(key_exchanges(), 1);
}

TEST_F(KeyExchange, IsNotAskedForWhereItIsSlow) {
  serve({});
  const std::unique_ptr<Transport> transport = connect(false);
  transport->prefer_aes();
  send_and_receive(*transport);
  EXPECT_EQ(key_exchanges(), 1);
}

TEST_F(KeyExchange, IsNotAskedForOverAFarLink) {
  serve({});
  const test::TcpProxy proxy(server_->port(), std::chrono::milliseconds(40));
  SshOptions options = server_->options();
  options.port = proxy.port();
  options.accept_new_host_key = true;
  const std::unique_ptr<Transport> transport = connect_ssh(options, {}, {}, {});
  transport->prefer_aes();
  send_and_receive(*transport);
  EXPECT_EQ(key_exchanges(), 1);
}

}  // namespace
}  // namespace stab
