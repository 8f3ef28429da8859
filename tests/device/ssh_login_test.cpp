// SPDX-License-Identifier: Apache-2.0
// Host keys and logging in, against real servers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "stab/core/error.h"
#include "stab/device/ssh_transport.h"
#include "support/process.h"
#include "support/real_world.h"
#include "support/ssh_agent.h"
#include "support/ssh_server.h"

namespace stab {
namespace {

using namespace std::chrono_literals;
using test::SshAgent;
using test::SshServer;
using test::SshServerOptions;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

constexpr std::string_view k_foreign_key =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

struct Attempt {
  std::string error;  // empty: connected
  std::vector<Warning> warnings;
};

/// Connects and runs a command.
Attempt attempt(const SshOptions& options, const SecretPrompt& prompt = {}) {
  Attempt result;
  try {
    const auto transport = connect_ssh(
        options, {}, [&](const Warning& warning) { result.warnings.push_back(warning); }, prompt);
    EXPECT_EQ(transport->run(Command{.script = "exit 7"}).code, 7);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    result.error = error.what();
  }
  return result;
}

SshOptions accepting(const SshServer& server) {
  SshOptions options = server.options();
  options.accept_new_host_key = true;
  return options;
}

/// Another key than the one that the server accepts.
void replace_key(const SshServer& server) {
  fs::remove(server.ssh_dir() / "id_ed25519");
  fs::remove(server.ssh_dir() / "id_ed25519.pub");
  test::make_key(server.ssh_dir() / "id_ed25519", "ed25519");
}

void accept_key(const SshServer& server, const fs::path& key) {
  server.set_authorized_key(test::read_text(key.string() + ".pub"));
}

TEST(SshHostKey, RefusesAnUnknownOneWithItsFingerprint) {
  const SshServer server;
  server.set_known_hosts("");
  EXPECT_THAT(attempt(server.options()).error,
              AllOf(HasSubstr("cannot trust the host key of"), HasSubstr("SHA256:"),
                    HasSubstr("--accept-new-host-key")));
  fs::remove(server.ssh_dir() / "known_hosts");
  EXPECT_THAT(attempt(server.options()).error, HasSubstr("is not in"));
}

TEST(SshHostKey, AddsANewOneWhenToldSo) {
  const SshServer server;
  for (const char* before : {"", "# no line feed at the end"}) {
    server.set_known_hosts(before);
    const Attempt first = attempt(accepting(server));
    EXPECT_EQ(first.error, "");
    ASSERT_EQ(first.warnings.size(), 1U);
    EXPECT_EQ(first.warnings[0].id, "host_key_added");
    const Attempt second = attempt(server.options());
    EXPECT_EQ(second.error, "");
    EXPECT_TRUE(second.warnings.empty());
  }
}

TEST(SshHostKey, MakesTheFileWhereItIsMissing) {
  const SshServer server;
  fs::remove(server.ssh_dir() / "known_hosts");
  EXPECT_EQ(attempt(accepting(server)).error, "");
  EXPECT_EQ(fs::status(server.ssh_dir() / "known_hosts").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(SshHostKey, GoesOnOnceWhereTheFileCannotBeWritten) {
  test::require_program("ssh");
  const SshServer server;
  server.write_config("UserKnownHostsFile /proc/known_hosts\n");
  const Attempt result = attempt(accepting(server));
  EXPECT_EQ(result.error, "");
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].id, "host_key_not_kept");
}

TEST(SshHostKey, RefusesAChangedOneAndSaysHowToRepairIt) {
  const SshServer server;
  server.set_known_hosts("# first\n{host} " + std::string(k_foreign_key) + "\n");
  const std::string error = attempt(accepting(server)).error;
  EXPECT_THAT(error, AllOf(HasSubstr("it has changed"), HasSubstr("known_hosts:2"),
                           HasSubstr("ssh-keygen -f ")));
  const std::size_t first = error.find("SHA256:");
  const std::size_t second = error.find("SHA256:", first + 1);
  ASSERT_NE(second, std::string::npos);
  EXPECT_NE(error.substr(first, 50), error.substr(second, 50));
  const std::size_t start = error.find("ssh-keygen -f ");
  const std::string command = error.substr(start, error.find("  (once", start) - start);
  ASSERT_EQ(test::run_process({"/bin/sh", "-c", command}).exit_code, 0) << command;
  EXPECT_EQ(attempt(accepting(server)).error, "");
}

TEST(SshHostKey, RefusesAChangedOneWhateverTheConfigurationSays) {
  test::require_program("ssh");
  const SshServer server;
  server.set_known_hosts("{host} " + std::string(k_foreign_key) + "\n");
  server.write_config("StrictHostKeyChecking no\n");
  EXPECT_THAT(attempt(server.options()).error, HasSubstr("it has changed"));
}

TEST(SshHostKey, SeesAChangeBehindAMalformedLine) {
  const SshServer server;
  server.set_known_hosts("{host} ssh-ed25519 not-base64\n{host} " + std::string(k_foreign_key) +
                         "\n");
  const Attempt result = attempt(accepting(server));
  EXPECT_THAT(result.error, HasSubstr("it has changed"));
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_EQ(result.warnings[0].id, "known_hosts_malformed");
}

TEST(SshHostKey, RefusesARevokedOne) {
  const SshServer server;
  server.set_known_hosts("{host} {key}\n@revoked * {key}\n");
  EXPECT_THAT(attempt(accepting(server)).error, HasSubstr("revoked"));
}

TEST(SshHostKey, AsksForTheKindOfKeyThatIsKnown) {
  SshServerOptions options;
  const test::TempDir keys;
  const fs::path rsa = test::make_key(keys.path() / "rsa", "rsa");
  options.sshd_lines = {"HostKey " + rsa.string()};
  const SshServer server(options);
  const std::string line = test::read_text(rsa.string() + ".pub");
  server.set_known_hosts("{host} " + line);
  EXPECT_EQ(attempt(server.options()).error, "");
}

TEST(SshHostKey, TakesWhatSshKnowsByAHashedName) {
  const SshServer server;
  ASSERT_EQ(test::run_process({test::require_program("ssh-keygen").string(), "-H", "-f",
                               (server.ssh_dir() / "known_hosts").string()})
                .exit_code,
            0);
  EXPECT_EQ(attempt(server.options()).error, "");
}

TEST(SshLogin, TakesEachKindOfKey) {
  const SshServer server;
  fs::remove(server.ssh_dir() / "id_ed25519");
  fs::remove(server.ssh_dir() / "id_ed25519.pub");
  for (const char* type : {"ed25519", "ecdsa", "rsa"}) {
    const fs::path key = test::make_key(server.ssh_dir() / ("id_" + std::string(type)), type);
    accept_key(server, key);
    EXPECT_EQ(attempt(server.options()).error, "") << type;
    fs::remove(key.string() + ".pub");
    EXPECT_EQ(attempt(server.options()).error, "") << type << " without .pub";
    EXPECT_FALSE(fs::exists(key.string() + ".pub"));
    fs::remove(key);
  }
}

TEST(SshLogin, TakesANamedKeyFirst) {
  const SshServer server;
  const fs::path key = test::make_key(server.folder() / "own key", "ed25519");
  accept_key(server, key);
  SshOptions options = server.options();
  EXPECT_THAT(attempt(options).error, HasSubstr("accepts none of the keys"));
  options.identity = key.string();
  EXPECT_EQ(attempt(options).error, "");
}

TEST(SshLogin, RefusesANamedKeyThatIsMissing) {
  const SshServer server;
  SshOptions options = server.options();
  options.identity = "/no/such/key";
  try {
    connect_ssh(options, {}, {}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("/no/such/key"));
  }
}

TEST(SshLogin, NamesTheKeysThatWereNotAccepted) {
  const SshServer server;
  replace_key(server);
  EXPECT_THAT(attempt(server.options()).error,
              AllOf(HasSubstr("cannot log in to"), HasSubstr("accepts none of the keys"),
                    HasSubstr("id_ed25519"), HasSubstr("ssh-copy-id -p ")));
}

TEST(SshLogin, SaysWhenThereIsNoKey) {
  const SshServer server;
  fs::remove(server.ssh_dir() / "id_ed25519");
  fs::remove(server.ssh_dir() / "id_ed25519.pub");
  EXPECT_THAT(attempt(server.options()).error, HasSubstr("there is no key to offer"));
}

TEST(SshLogin, SaysWhenAKeyIsEncryptedAndNobodyCanBeAsked) {
  const SshServer server;
  const fs::path key = server.ssh_dir() / "id_ed25519";
  fs::remove(key);
  fs::remove(key.string() + ".pub");
  test::make_key(key, "ed25519", "secret");
  accept_key(server, key);
  for (const bool with_public : {true, false}) {
    if (!with_public) fs::remove(key.string() + ".pub");
    EXPECT_THAT(attempt(server.options()).error,
                AllOf(HasSubstr("is encrypted"), HasSubstr("ssh-add ")));
  }
}

TEST(SshLogin, AsksForAPassphrase) {
  const SshServer server;
  const fs::path key = server.ssh_dir() / "id_ed25519";
  fs::remove(key);
  fs::remove(key.string() + ".pub");
  test::make_key(key, "ed25519", "secret");
  accept_key(server, key);
  int questions = 0;
  const auto second_time = [&](const std::string& question, bool echo) {
    EXPECT_THAT(question, HasSubstr(key.string()));
    EXPECT_FALSE(echo);
    return std::optional<std::string>(++questions == 1 ? "wrong" : "secret");
  };
  EXPECT_EQ(attempt(server.options(), second_time).error, "");
  EXPECT_EQ(questions, 2);
  const auto nobody = [](const std::string&, bool) { return std::optional<std::string>(); };
  EXPECT_THAT(attempt(server.options(), nobody).error, HasSubstr("was not unlocked"));
}

TEST(SshLogin, SaysWhenOnlyPasswordsAreTaken) {
  for (const auto kind : {SshServerOptions::Kind::openssh, SshServerOptions::Kind::dropbear}) {
    SshServerOptions options;
    options.kind = kind;
    options.sshd_lines = {"PubkeyAuthentication no", "PasswordAuthentication yes"};
    const SshServer server(options);
    if (kind == SshServerOptions::Kind::openssh) {
      EXPECT_THAT(attempt(server.options()).error, HasSubstr("takes passwords only"));
    }
    replace_key(server);
    int questions = 0;
    const auto wrong = [&](const std::string&, bool) {
      return ++questions > 2 ? std::nullopt : std::optional<std::string>("wrong");
    };
    EXPECT_NE(attempt(server.options(), wrong).error, "");
    EXPECT_GT(questions, 0);
  }
}

TEST(SshLogin, TakesAPasswordFromAPerson) {
  SshServerOptions options;
  options.kind = SshServerOptions::Kind::dropbear;
  options.password_hash =
      "$6$stabtest$38HR1EM4R6.eAlf5IIxiGpod98nGQ5yMNz1dTqEan27ViVT0AYSeuUF24No0VxTVkdZrdjXVOyo0tOSC"
      "dLanQ1";
  const SshServer server(options);
  replace_key(server);
  int questions = 0;
  const auto second_time = [&](const std::string& question, bool echo) {
    EXPECT_THAT(question, HasSubstr("Password for"));
    EXPECT_FALSE(echo);
    return std::optional<std::string>(++questions == 1 ? "wrong" : "open-sesame");
  };
  EXPECT_EQ(attempt(server.options(), second_time).error, "");
  EXPECT_EQ(questions, 2);
}

TEST(SshLogin, NeedsNoKeyWhereTheAccountIsOpen) {
  SshServerOptions options;
  options.kind = SshServerOptions::Kind::dropbear;
  options.password_hash = "";
  options.dropbear_arguments = {"-B"};
  const SshServer server(options);
  fs::remove(server.ssh_dir() / "id_ed25519");
  fs::remove(server.ssh_dir() / "id_ed25519.pub");
  EXPECT_EQ(attempt(server.options()).error, "");
}

TEST(SshLogin, UsesTheAgent) {
  const SshServer server;
  const SshAgent agent;
  for (const char* type : {"ed25519", "ecdsa", "rsa"}) {
    const fs::path key = test::make_key(server.folder() / type, type);
    agent.add(key);
    accept_key(server, key);
    fs::remove(key);
    EXPECT_EQ(attempt(server.options()).error, "") << type;
  }
}

TEST(SshLogin, LetsTheAgentSignForAnEncryptedKey) {
  const SshServer server;
  const SshAgent agent;
  const fs::path key = server.ssh_dir() / "id_ed25519";
  agent.add(key);
  ASSERT_EQ(test::run_process({test::require_program("ssh-keygen").string(), "-p", "-q", "-P", "",
                               "-N", "secret", "-f", key.string()})
                .exit_code,
            0);
  EXPECT_EQ(attempt(server.options()).error, "");
}

TEST(SshLogin, FindsTheKeyBesideAnAgentWithManyKeys) {
  const SshServer server;
  const SshAgent agent;
  for (int i = 0; i < 8; ++i) {
    agent.add(test::make_key(server.folder() / ("wrong" + std::to_string(i)), "ed25519"));
  }
  EXPECT_EQ(attempt(server.options()).error, "");
  replace_key(server);
  EXPECT_THAT(attempt(server.options()).error,
              AllOf(HasSubstr("accepts none of the keys"), HasSubstr("more keys of the agent"),
                    HasSubstr("--identity")));
}

TEST(SshLogin, OffersOnlyNamedKeysWhereTheConfigurationSaysSo) {
  test::require_program("ssh");
  SshServerOptions options;
  options.sshd_lines = {"MaxAuthTries 2"};
  const SshServer server(options);
  const SshAgent agent;
  for (int i = 0; i < 3; ++i) {
    agent.add(test::make_key(server.folder() / ("wrong" + std::to_string(i)), "ed25519"));
  }
  EXPECT_THAT(attempt(server.options()).error,
              AllOf(HasSubstr("hangs up"), HasSubstr("Too many authentication failures")));
  server.write_config("IdentitiesOnly yes\n");
  EXPECT_EQ(attempt(server.options()).error, "");
}

TEST(SshLogin, DoesNotHangOnAnAgentThatSaysNothing) {
  const SshServer server;
  const std::string path = (server.folder() / "silent").string();
  const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(listener, 5), 0);
  setenv("SSH_AUTH_SOCK", path.c_str(), 1);
  EXPECT_EQ(attempt(server.options()).error, "");
  unsetenv("SSH_AUTH_SOCK");
  close(listener);
}

TEST(SshLogin, WorksOnDropbear) {
  SshServerOptions options;
  options.kind = SshServerOptions::Kind::dropbear;
  const SshServer server(options);
  EXPECT_EQ(attempt(server.options()).error, "");
  const SshAgent agent;
  for (int i = 0; i < 8; ++i) {
    agent.add(test::make_key(server.folder() / ("wrong" + std::to_string(i)), "ed25519"));
  }
  replace_key(server);
  EXPECT_THAT(attempt(server.options()).error, HasSubstr("accepts none of the keys"));
}

}  // namespace
}  // namespace stab
