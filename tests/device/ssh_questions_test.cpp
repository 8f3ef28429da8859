// SPDX-License-Identifier: Apache-2.0
// Logging in where the server asks questions of its own, as for one-time passwords.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <optional>
#include <string>
#include <vector>

#include "stab/core/error.h"
#include "stab/device/ssh_transport.h"
#include "support/question_server.h"
#include "support/ssh_server.h"

namespace stab {
namespace {

using test::QuestionServer;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// The error of logging in; empty when it succeeds.
std::string log_in_to(const QuestionServer& server, const SecretPrompt& prompt) {
  setenv("STAB_SSH_DIR", server.ssh_dir().c_str(), 1);
  unsetenv("SSH_AUTH_SOCK");
  SshOptions options;
  options.host = "pi@127.0.0.1:" + std::to_string(server.port());
  options.accept_new_host_key = true;
  try {
    connect_ssh(options, {}, {}, prompt);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    return error.what();
  }
  return "";
}

class SshQuestions : public testing::Test {
 protected:
  std::string log_in(const SecretPrompt& prompt) const { return log_in_to(server_, prompt); }

  const QuestionServer server_{
      {{"Password: ", false, "open-sesame"}, {"Colour\033[2J of today: ", true, "green"}}};
};

TEST(SshOpenAccount, NeedsNoKeyAlsoWhereOneIsDenied) {
  const QuestionServer server({});
  EXPECT_EQ(log_in_to(server, {}), "");
  test::make_key(server.ssh_dir() / "id_ed25519", "ed25519");
  EXPECT_EQ(log_in_to(server, {}), "");
}

TEST_F(SshQuestions, AreHandedToThePersonAndTheirAnswersBack) {
  std::vector<std::string> questions;
  std::vector<bool> echoes;
  EXPECT_EQ(log_in([&](const std::string& question, bool echo) {
              questions.push_back(question);
              echoes.push_back(echo);
              return std::optional<std::string>(echo ? "green" : "open-sesame");
            }),
            "");
  EXPECT_THAT(questions, ElementsAre(HasSubstr("Password: "),
                                     AllOf(HasSubstr(" of today: "), Not(HasSubstr("\033")))));
  EXPECT_THAT(echoes, ElementsAre(false, true));
}

TEST_F(SshQuestions, AreAskedAgainAfterAWrongAnswer) {
  int asked = 0;
  EXPECT_EQ(
      log_in([&](const std::string&, bool echo) {
        ++asked;
        return std::optional<std::string>(asked < 3 ? "wrong" : echo ? "green" : "open-sesame");
      }),
      "");
  EXPECT_EQ(asked, 4);
}

TEST_F(SshQuestions, EndWithAnErrorWhenNoAnswerIsRight) {
  int asked = 0;
  EXPECT_THAT(log_in([&](const std::string&, bool) {
                ++asked;
                return std::optional<std::string>("wrong");
              }),
              AllOf(HasSubstr("cannot log in to"), HasSubstr("not accepted")));
  EXPECT_EQ(asked, 6);
}

TEST_F(SshQuestions, EndWithAnErrorWhenThereIsNobodyToAnswer) {
  EXPECT_THAT(log_in({}), AllOf(HasSubstr("cannot log in to"), HasSubstr("no terminal")));
}

}  // namespace
}  // namespace stab
