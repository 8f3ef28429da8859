// SPDX-License-Identifier: Apache-2.0
#include "support/question_server.h"

#include <libssh/libssh.h>
#include <libssh/server.h>
#include <poll.h>

#include <stdexcept>
#include <utility>

#include "support/ssh_server.h"
#include "support/tcp_proxy.h"

namespace stab::test {
namespace {

bool readable(int descriptor) {
  pollfd wait{descriptor, POLLIN, 0};
  return poll(&wait, 1, 20) > 0;
}

void ask(ssh_message message, const std::vector<Question>& questions) {
  std::vector<const char*> texts;
  std::vector<char> echoes;
  for (const Question& question : questions) {
    texts.push_back(question.text.c_str());
    echoes.push_back(question.echo ? 1 : 0);
  }
  ssh_message_auth_interactive_request(message, "", "", static_cast<unsigned>(questions.size()),
                                       texts.data(), echoes.data());
}

bool right(ssh_session session, const std::vector<Question>& questions) {
  if (ssh_userauth_kbdint_getnanswers(session) != static_cast<int>(questions.size())) return false;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const char* answer = ssh_userauth_kbdint_getanswer(session, static_cast<unsigned>(i));
    if (answer == nullptr || questions[i].answer != answer) return false;
  }
  return true;
}

/// Answers one request of the client.
void answer(ssh_session session, ssh_message message, const std::vector<Question>& questions) {
  const bool interactive = ssh_message_type(message) == SSH_REQUEST_AUTH &&
                           ssh_message_subtype(message) == SSH_AUTH_METHOD_INTERACTIVE;
  const bool open = ssh_message_type(message) == SSH_REQUEST_AUTH &&
                    ssh_message_subtype(message) == SSH_AUTH_METHOD_NONE && questions.empty();
  if (open) {
    ssh_message_auth_reply_success(message, 0);
  } else if (interactive && !ssh_message_auth_kbdint_is_response(message)) {
    ask(message, questions);
  } else if (interactive && right(session, questions)) {
    ssh_message_auth_reply_success(message, 0);
  } else {
    ssh_message_auth_set_methods(message, SSH_AUTH_METHOD_INTERACTIVE);
    ssh_message_reply_default(message);
  }
}

}  // namespace

QuestionServer::QuestionServer(std::vector<Question> questions)
    : questions_(std::move(questions)), port_(closed_port()) {
  const std::string key = make_key(folder_.path() / "host_key", "ed25519").string();
  std::filesystem::create_directories(ssh_dir());
  ssh_bind listener = ssh_bind_new();
  listener_ = listener;
  const unsigned port = static_cast<unsigned>(port_);
  ssh_bind_options_set(listener, SSH_BIND_OPTIONS_BINDADDR, "127.0.0.1");
  ssh_bind_options_set(listener, SSH_BIND_OPTIONS_BINDPORT, &port);
  ssh_bind_options_set(listener, SSH_BIND_OPTIONS_HOSTKEY, key.c_str());
  if (ssh_bind_listen(listener) != SSH_OK)
    throw std::runtime_error(std::string("cannot listen: ") + ssh_get_error(listener));
  thread_ = std::thread([this, listener] { serve(listener); });
}

QuestionServer::~QuestionServer() {
  quit_ = true;
  thread_.join();
  ssh_bind_free(static_cast<ssh_bind>(listener_));
}

std::filesystem::path QuestionServer::ssh_dir() const {
  return folder_.path() / "ssh";
}

void QuestionServer::serve(void* listener) {
  const auto bind = static_cast<ssh_bind>(listener);
  while (!quit_) {
    if (!readable(ssh_bind_get_fd(bind))) continue;
    ssh_session session = ssh_new();
    if (ssh_bind_accept(bind, session) == SSH_OK && ssh_handle_key_exchange(session) == SSH_OK)
      talk(session);
    ssh_disconnect(session);
    ssh_free(session);
  }
}

void QuestionServer::talk(void* client) {
  const auto session = static_cast<ssh_session>(client);
  ssh_set_auth_methods(session, SSH_AUTH_METHOD_INTERACTIVE);
  ssh_set_blocking(session, 0);
  while (!quit_ && ssh_is_connected(session) != 0) {
    readable(ssh_get_fd(session));
    while (ssh_message message = ssh_message_get(session)) {
      answer(session, message, questions_);
      ssh_message_free(message);
    }
    ssh_blocking_flush(session, 1000);
  }
}

}  // namespace stab::test
