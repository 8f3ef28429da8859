// SPDX-License-Identifier: Apache-2.0
// An SSH server on 127.0.0.1 that lets people in who answer its questions (keyboard-interactive).
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_dir.h"

namespace stab::test {

struct Question {
  std::string text;
  bool echo = false;
  std::string answer;
};

/// Asks all questions at once, and again after a wrong answer. It knows no other way to log in;
/// without questions it lets in who shows no key. Nobody can do anything once logged in.
class QuestionServer {
 public:
  explicit QuestionServer(std::vector<Question> questions);
  ~QuestionServer();
  QuestionServer(const QuestionServer&) = delete;
  QuestionServer& operator=(const QuestionServer&) = delete;

  int port() const { return port_; }
  /// An empty folder for STAB_SSH_DIR.
  std::filesystem::path ssh_dir() const;

 private:
  void serve(void* listener);
  void talk(void* session);

  std::vector<Question> questions_;
  TempDir folder_;
  int port_ = 0;
  void* listener_ = nullptr;
  std::atomic<bool> quit_ = false;
  std::thread thread_;
};

}  // namespace stab::test
