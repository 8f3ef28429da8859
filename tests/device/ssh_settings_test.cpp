// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "ssh/settings.h"

namespace stab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SshSettingsTest : public testing::Test {
 protected:
  SshSettingsTest() {
    around_.home = "/home/me";
    around_.user = "me";
    around_.ssh_dir = "/home/me/.ssh";
    around_.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      return found == variables_.end() ? std::nullopt : std::optional(found->second);
    };
    options_.host = "board";
  }

  SshSettings make(std::string_view ssh_g) const {
    return make_ssh_settings(options_, ssh_g, around_);
  }

  std::map<std::string, std::string> variables_;
  SshSurroundings around_;
  SshOptions options_;
};

TEST_F(SshSettingsTest, StandsOnItsOwnFeetWithoutAnSshProgram) {
  const SshSettings settings = make("");
  EXPECT_EQ(settings.host, "board");
  EXPECT_EQ(settings.port, 22);
  EXPECT_EQ(settings.user, "me");
  EXPECT_THAT(settings.identities, IsEmpty());
  EXPECT_THAT(
      settings.default_identities,
      ElementsAre("/home/me/.ssh/id_ed25519", "/home/me/.ssh/id_ecdsa", "/home/me/.ssh/id_rsa"));
  EXPECT_THAT(settings.known_hosts, ElementsAre("/home/me/.ssh/known_hosts"));
  EXPECT_FALSE(settings.accept_new);
}

TEST_F(SshSettingsTest, TakesWhatSshMakesOfAnAlias) {
  const SshSettings settings = make(
      "hostname 10.0.0.5\nuser root\nport 2222\nidentityfile ~/.ssh/board_key\n"
      "identityfile /keys/%r@%h\nidentitiesonly yes\nhostkeyalias Bench\nconnecttimeout 7\n"
      "userknownhostsfile ~/.ssh/kh ${X}/b\nglobalknownhostsfile none\n"
      "stricthostkeychecking accept-new\nhashknownhosts yes\nciphers aes128-ctr\n");
  EXPECT_EQ(settings.name, "board");
  EXPECT_EQ(settings.host, "10.0.0.5");
  EXPECT_EQ(settings.port, 2222);
  EXPECT_EQ(settings.user, "root");
  EXPECT_THAT(settings.identities, ElementsAre("/home/me/.ssh/board_key", "/keys/root@10.0.0.5"));
  EXPECT_THAT(settings.default_identities, IsEmpty());
  EXPECT_TRUE(settings.identities_only);
  EXPECT_EQ(settings.host_key_alias, "Bench");
  EXPECT_EQ(settings.connect_timeout, std::chrono::seconds(7));
  EXPECT_THAT(settings.known_hosts, ElementsAre("/home/me/.ssh/kh", "/b"));
  EXPECT_THAT(settings.global_known_hosts, IsEmpty());
  EXPECT_TRUE(settings.accept_new);
  EXPECT_TRUE(settings.hash_known_hosts);
  EXPECT_EQ(settings.algorithms.at("ciphers"), "aes128-ctr");
  EXPECT_EQ(settings.address(), "root@board:2222");
}

TEST_F(SshSettingsTest, LetsOurOptionsWin) {
  options_.host = "admin@board:1000";
  options_.user = "root";
  options_.port = 2000;
  options_.identity = "mine";
  const SshSettings settings = make("user other\nport 3000\nidentityfile ~/.ssh/x\n");
  EXPECT_EQ(settings.user, "root");
  EXPECT_EQ(settings.port, 2000);
  EXPECT_THAT(settings.identities, ElementsAre("mine", "/home/me/.ssh/x"));
}

TEST_F(SshSettingsTest, TellsDefaultKeysFromNamedOnes) {
  const SshSettings settings = make(
      "identityfile ~/.ssh/id_rsa\nidentityfile ~/.ssh/id_ecdsa\nidentityfile ~/.ssh/id_ecdsa_sk\n"
      "identityfile ~/.ssh/id_ed25519\nidentityfile ~/.ssh/id_xmss\nidentityfile ~/.ssh/id_dsa\n");
  EXPECT_THAT(settings.identities, IsEmpty());
  EXPECT_THAT(
      settings.default_identities,
      ElementsAre("/home/me/.ssh/id_rsa", "/home/me/.ssh/id_ecdsa", "/home/me/.ssh/id_ed25519"));
}

TEST_F(SshSettingsTest, FindsTheAgent) {
  variables_ = {{"SSH_AUTH_SOCK", "/run/agent"}, {"OTHER", "/run/other"}};
  EXPECT_EQ(make("").agent_socket, "/run/agent");
  EXPECT_EQ(make("identityagent SSH_AUTH_SOCK\n").agent_socket, "/run/agent");
  EXPECT_EQ(make("identityagent none\n").agent_socket, "");
  EXPECT_EQ(make("identityagent $OTHER\n").agent_socket, "/run/other");
  EXPECT_EQ(make("identityagent ~/.agent\n").agent_socket, "/home/me/.agent");
}

TEST_F(SshSettingsTest, WritesTheProxyCommandOut) {
  const SshSettings settings =
      make("hostname 10.0.0.5\nport 2222\nuser root\nproxycommand nc -X %% %h %p %r %n\n");
  EXPECT_EQ(settings.proxy_command, "nc -X % 10.0.0.5 2222 root board");
  EXPECT_EQ(make("proxycommand none\n").proxy_command, "");
}

TEST_F(SshSettingsTest, GoesThroughJumpHostsWithSsh) {
  const SshSettings settings = make("hostname 10.0.0.5\nport 2222\nproxyjump a,me@gw:2200\n");
  EXPECT_THAT(settings.proxy_jump,
              ElementsAre("ssh", "-o", "BatchMode=yes", "-l", "me", "-p", "2200", "-J", "a", "-W",
                          "[10.0.0.5]:2222", "--", "gw"));
}

TEST_F(SshSettingsTest, KeepsToAFolderOfItsOwnWhenTold) {
  around_.ssh_dir = "/own";
  around_.own_ssh_dir = true;
  const SshSettings settings = make(
      "identityfile ~/.ssh/id_rsa\nidentityfile ~/.ssh/named\nidentityfile /else/where\n"
      "userknownhostsfile /home/me/.ssh/known_hosts\nproxyjump gw\n");
  EXPECT_THAT(settings.identities, ElementsAre("/own/named", "/else/where"));
  EXPECT_THAT(settings.default_identities, ElementsAre("/own/id_rsa"));
  EXPECT_THAT(settings.known_hosts, ElementsAre("/own/known_hosts"));
  EXPECT_THAT(settings.proxy_jump, testing::Contains("-F"));
}

TEST_F(SshSettingsTest, SurvivesNonsense) {
  const SshSettings settings = make("\n\nport\nport x\nuser\nconnecttimeout none\n \n%%\n");
  EXPECT_EQ(settings.port, 22);
  EXPECT_EQ(settings.connect_timeout, std::nullopt);
}

}  // namespace
}  // namespace stab
