// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ssh/known_hosts.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/ssh_server.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

using Verdict = KnownHostsAnswer::Verdict;
using testing::ElementsAre;

constexpr std::string_view k_ed25519 =
    "AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";
constexpr std::string_view k_other_ed25519 =
    "AAAAC3NzaC1lZDI1NTE5AAAAIB8eHRwbGhkYFxYVFBMSERAPDg0MCwoJCAcGBQQDAgEA";
constexpr std::string_view k_rsa = "AAAAB3NzaC1yc2EAAAADAQABAAAAAgEC";

const HostKey k_key = parse_host_key(k_ed25519);

std::string line(std::string_view hosts, std::string_view key = k_ed25519) {
  return std::string(hosts) + " " + parse_host_key(key).type + " " + std::string(key) + "\n";
}

KnownHostsAnswer ask(const std::string& text, const HostName& name = {"board", 22, ""}) {
  return look_up_host_key({{"known_hosts", text}}, name, k_key);
}

TEST(KnownHosts, FindsAHostByNamePatternAndPort) {
  const HostName board{"Board", 22, ""};
  for (const char* hosts : {"board", "other,board", "b*", "?oard", "*", "BOARD"}) {
    EXPECT_EQ(ask(line(hosts), board).verdict, Verdict::known) << hosts;
  }
  for (const char* hosts : {"boar", "board2", "*,!board", "[board]:2222", "b?d"}) {
    EXPECT_EQ(ask(line(hosts), board).verdict, Verdict::unknown) << hosts;
  }
  EXPECT_EQ(ask(line("[board]:2222"), {"board", 2222, ""}).verdict, Verdict::known);
  EXPECT_EQ(ask(line("bench"), {"10.0.0.5", 2222, "Bench"}).verdict, Verdict::known);
  EXPECT_EQ(ask("# comment\n\n  " + line("board")).verdict, Verdict::known);
}

TEST(KnownHosts, TellsAChangedKeyWithItsPlace) {
  const KnownHostsAnswer answer = ask("# x\n" + line("board", k_other_ed25519));
  EXPECT_EQ(answer.verdict, Verdict::changed);
  EXPECT_EQ(answer.file, "known_hosts");
  EXPECT_EQ(answer.line, 2);
  EXPECT_EQ(answer.expected, parse_host_key(k_other_ed25519));
}

TEST(KnownHosts, IsContentWithOneOfSeveralKeys) {
  EXPECT_EQ(ask(line("board", k_other_ed25519) + line("board")).verdict, Verdict::known);
  EXPECT_EQ(ask(line("board") + line("board", k_rsa)).verdict, Verdict::known);
}

TEST(KnownHosts, TakesAKeyOfAnotherKindForAChange) {
  EXPECT_EQ(ask(line("board", k_rsa)).verdict, Verdict::changed);
  const KnownHostsAnswer both = ask(line("board", k_rsa) + line("board", k_other_ed25519));
  EXPECT_EQ(both.expected.type, "ssh-ed25519");
}

TEST(KnownHosts, NeverLetsAMalformedLineHideAChange) {
  const KnownHostsAnswer answer =
      ask("board ssh-ed25519 !!!\nboard ssh-ed25519\nboard\n" + line("board", k_other_ed25519));
  EXPECT_EQ(answer.verdict, Verdict::changed);
  EXPECT_THAT(answer.malformed, ElementsAre("known_hosts:1", "known_hosts:2", "known_hosts:3"));
  EXPECT_EQ(ask("board ssh-ed25519 AAAA\n").verdict, Verdict::unknown);
}

TEST(KnownHosts, HonoursRevokedKeysWhateverElseIsThere) {
  EXPECT_EQ(ask(line("board") + line("@revoked *")).verdict, Verdict::revoked);
  EXPECT_EQ(ask(line("@revoked *") + line("board")).verdict, Verdict::revoked);
  EXPECT_EQ(ask(line("@revoked *", k_other_ed25519) + line("board")).verdict, Verdict::known);
  EXPECT_EQ(ask(line("@revoked board"), {"board", 2222, ""}).verdict, Verdict::revoked);
  EXPECT_EQ(ask(line("@cert-authority *")).verdict, Verdict::unknown);
}

TEST(KnownHosts, LetsThePlainNameVouchForAnotherPortButNotAccuse) {
  EXPECT_EQ(ask(line("board"), {"board", 2222, ""}).verdict, Verdict::known);
  EXPECT_EQ(ask(line("board", k_other_ed25519), {"board", 2222, ""}).verdict, Verdict::unknown);
  EXPECT_EQ(ask(line("board"), {"board", 2222, "alias"}).verdict, Verdict::unknown);
}

TEST(KnownHosts, ListsKnownKindsOfKeys) {
  const std::vector<KnownHostsFile> files{{"a", line("board", k_rsa)}, {"b", line("board")}};
  EXPECT_THAT(known_key_types(files, {"board", 22, ""}), ElementsAre("ssh-ed25519", "ssh-rsa"));
  EXPECT_THAT(known_key_types(files, {"board", 2222, ""}), ElementsAre("ssh-ed25519", "ssh-rsa"));
  EXPECT_THAT(known_key_types(files, {"other", 22, ""}), ElementsAre());
}

TEST(KnownHosts, SurvivesNonsense) {
  for (const char* text :
       {"|1|", "|1|x", "|1||", "|1|AAAA|AAAA ssh-rsa AAAA", "@revoked", "@", "!",
        ",,, ssh-rsa AAAA", "board ssh-ed25519 AAAAC3NzaC1lZDI1NTE5", "\r\n\r"}) {
    EXPECT_EQ(ask(text).verdict, Verdict::unknown) << text;
  }
}

TEST(KnownHosts, AgreesWithSshKeygenOnHashedNamesAndFingerprints) {
  const std::string keygen = test::require_program("ssh-keygen").string();
  const test::TempDir folder;
  const auto file = test::make_key(folder.path() / "key", "ecdsa");
  const std::string text = test::read_text(file.string() + ".pub");
  const std::size_t blank = text.find(' ');
  const HostKey key = parse_host_key(
      std::string_view(text).substr(blank + 1, text.find(' ', blank + 1) - blank - 1));
  EXPECT_EQ(key.type, "ecdsa-sha2-nistp256");
  EXPECT_THAT(test::run_process({keygen, "-l", "-f", file.string()}).out,
              testing::HasSubstr(fingerprint(key)));

  const HostName name{"board", 2222, ""};
  const auto theirs = folder.write("theirs", known_hosts_line(name, key));
  ASSERT_EQ(test::run_process({keygen, "-H", "-f", theirs.string()}).exit_code, 0);
  const std::string hashed = test::read_text(theirs);
  EXPECT_THAT(hashed, testing::StartsWith("|1|"));
  EXPECT_EQ(look_up_host_key({{"theirs", hashed}}, name, key).verdict, Verdict::known);

  const auto ours = folder.write("ours", known_hosts_line(name, key, "12345678901234567890"));
  const auto found = test::run_process({keygen, "-F", "[board]:2222", "-f", ours.string()});
  EXPECT_EQ(found.exit_code, 0);
  EXPECT_EQ(test::run_process({keygen, "-F", "board", "-f", ours.string()}).exit_code, 1);
}

}  // namespace
}  // namespace stab
