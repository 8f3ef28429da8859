// SPDX-License-Identifier: Apache-2.0
#include "ssh/login.h"

#include <libssh/libssh.h>

#include <string>
#include <utility>
#include <vector>

#include "ssh/agent.h"
#include "ssh/keys.h"
#include "stab/core/error.h"
#include "stab/device/shell.h"

namespace stab {
namespace {

constexpr std::chrono::seconds k_agent_limit{5};
constexpr std::chrono::seconds k_signature_limit{60};  // somebody may have to confirm
constexpr int k_questions = 3;

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

class Login {
 public:
  Login(SshSession& session, const SshSettings& settings, const SshLimits& limits,
        const StopRequested& stop, const SecretPrompt& prompt)
      : session_(session), settings_(settings), limits_(limits), stop_(stop), prompt_(prompt) {}

  void run() {
    keys_ = collect_keys(settings_, list_agent_keys(settings_.agent_socket, k_agent_limit));
    // A key at hand is mostly right, and asking first what the server takes costs a round trip.
    if (with_key_at_hand()) return;
    if (tried_.empty() && without_proof()) return;
    if (!partial_ && offers(SSH_AUTH_METHOD_PUBLICKEY) && with_keys()) return;
    if (may_need_no_proof() && without_proof()) return;
    if (prompt_ && offers(SSH_AUTH_METHOD_INTERACTIVE) && with_questions()) return;
    if (prompt_ && offers(SSH_AUTH_METHOD_PASSWORD) && with_password()) return;
    fail();
  }

 private:
  bool offers(int method) const {
    return (ssh_userauth_list(session_.get(), nullptr) & method) != 0;
  }

  /// One request and its answer.
  int ask(const std::function<int()>& request) {
    int result = SSH_AUTH_ERROR;
    const auto waited =
        session_.wait(request, SSH_AUTH_AGAIN, limits_.authentication, stop_, result);
    if (waited == SshSession::Waited::timed_out) {
      fail("the server does not answer within " + duration_text(limits_.authentication));
    }
    if (waited == SshSession::Waited::lost || !session_.alive()) {
      fail("the server hangs up (" + session_.reason() + ")" + after_tries());
    }
    return result;
  }

  /// A file that opens without a passphrase. For RSA libssh has to hear first which signatures the
  /// server takes, which may come with the answer to a question only.
  bool with_key_at_hand() {
    if (keys_.offers.empty()) return false;
    Key key = key_at_hand(keys_.offers.front());
    return key && ssh_key_type(key.get()) != SSH_KEYTYPE_RSA && with_next_key(std::move(key));
  }

  /// The private half, where neither the agent has it nor a passphrase is needed.
  static Key key_at_hand(const KeyOffer& offer) {
    bool encrypted = false;
    return offer.agent_key ? nullptr : read_private_key(offer.file, std::nullopt, encrypted);
  }

  /// The account may be open to all, and this was not asked yet. Servers forgive the question as
  /// the first request only, and hang up after one failure more than k_most_offers.
  bool may_need_no_proof() const {
    return !asked_without_proof_ && !partial_ && tried_.size() < k_most_offers;
  }

  bool without_proof() {
    asked_without_proof_ = true;
    return ask([this] { return ssh_userauth_none(session_.get(), nullptr); }) == SSH_AUTH_SUCCESS;
  }

  bool with_keys() {
    while (!partial_ && next_key_ < keys_.offers.size()) {
      if (with_next_key(key_at_hand(keys_.offers[next_key_]))) return true;
    }
    return false;
  }

  bool with_next_key(Key at_hand) {
    const int result = try_key(keys_.offers[next_key_++], std::move(at_hand));
    partial_ = result == SSH_AUTH_PARTIAL;
    return result == SSH_AUTH_SUCCESS;
  }

  int sign(const Key& private_key) {
    return ask([&] { return ssh_userauth_publickey(session_.get(), nullptr, private_key.get()); });
  }

  int try_key(const KeyOffer& offer, Key private_key) {
    if (!private_key && !offer.public_key) {
      private_key = unlock(offer);
      if (!private_key) return SSH_AUTH_DENIED;
    }
    tried_.push_back(offer.label);
    // Only what costs the user something, a passphrase or a confirmation, is offered before it is
    // used; anything else would pay a round trip for the question.
    if (private_key) return sign(private_key);
    const int accepted = ask([&] {
      return ssh_userauth_try_publickey(session_.get(), nullptr, offer.public_key.get());
    });
    if (accepted != SSH_AUTH_SUCCESS) return accepted;
    if (offer.agent_key) {
      const int result = sign_with_agent(*offer.agent_key);
      if (result == SSH_AUTH_SUCCESS || result == SSH_AUTH_PARTIAL || offer.file.empty()) {
        return result;
      }
    }
    private_key = unlock(offer);
    return private_key ? sign(private_key) : SSH_AUTH_DENIED;
  }

  int sign_with_agent(const AgentKey& key) {
    SingleKeyAgent agent(settings_.agent_socket, key, k_signature_limit, stop_);
    ssh_set_agent_socket(session_.get(), agent.take_descriptor());
    return ask([this] { return ssh_userauth_agent(session_.get(), nullptr); });
  }

  /// The private half of a file, asking for its passphrase where it has one.
  Key unlock(const KeyOffer& offer) {
    bool encrypted = false;
    Key key = read_private_key(offer.file, std::nullopt, encrypted);
    if (key || !encrypted) {
      if (!key) keys_.unreadable.push_back(offer.file + " (not a private key)");
      return key;
    }
    for (int question = 0; prompt_ && question < k_questions; ++question) {
      const auto passphrase = prompt_("Passphrase for " + offer.file + ": ", false);
      if (!passphrase) break;
      key = read_private_key(offer.file, *passphrase, encrypted);
      if (key) return key;
    }
    encrypted_.push_back(offer.file);
    return nullptr;
  }

  bool with_questions() {
    bool asked = false;
    for (int attempt = 0; attempt < k_questions; ++attempt) {
      const auto request = [this] { return ssh_userauth_kbdint(session_.get(), nullptr, nullptr); };
      int result = ask(request);
      while (result == SSH_AUTH_INFO) {
        const int count = ssh_userauth_kbdint_getnprompts(session_.get());
        for (int i = 0; i < count; ++i) {
          char echo = 0;
          const char* text =
              ssh_userauth_kbdint_getprompt(session_.get(), static_cast<unsigned>(i), &echo);
          const auto answer = prompt_(question(text), echo != 0);
          if (!answer) return false;
          asked = true;
          ssh_userauth_kbdint_setanswer(session_.get(), static_cast<unsigned>(i), answer->c_str());
        }
        result = ask(request);
      }
      if (result == SSH_AUTH_SUCCESS) return true;
      if (result != SSH_AUTH_DENIED || !asked) return false;
    }
    return false;
  }

  bool with_password() {
    for (int attempt = 0; attempt < k_questions; ++attempt) {
      const auto password = prompt_("Password for " + settings_.address() + ": ", false);
      if (!password) return false;
      const int result =
          ask([&] { return ssh_userauth_password(session_.get(), nullptr, password->c_str()); });
      if (result == SSH_AUTH_SUCCESS) return true;
      if (result != SSH_AUTH_DENIED) return false;
    }
    return false;
  }

  /// A server's words for a person, without what could move a cursor.
  std::string question(const char* text) const {
    std::string words = settings_.address() + ": ";
    for (const char* c = text; c != nullptr && *c != '\0' && words.size() < 300; ++c) {
      if (static_cast<unsigned char>(*c) >= 0x20 && *c != 0x7f) words += *c;
    }
    return words;
  }

  std::string after_tries() const {
    return tried_.empty() ? ""
                          : " after " + std::to_string(tried_.size()) + " keys: " + join(tried_);
  }

  [[noreturn]] void fail(std::string why, std::string hint = {}) const {
    throw Error(ErrorKind::device, "cannot log in to", settings_.address(), std::move(why),
                std::move(hint));
  }

  [[noreturn]] void fail() const {
    const std::string target = shell_quote(settings_.user + "@" + settings_.name);
    const std::string copy =
        "ssh-copy-id -p " + std::to_string(settings_.port) + " " + target + ", once";
    const std::string extra =
        (keys_.unreadable.empty() ? "" : "; cannot use " + join(keys_.unreadable)) +
        (keys_.left_out == 0 ? ""
                             : "; " + std::to_string(keys_.left_out) +
                                   " more keys of the agent were left out, since servers hang up");
    if (partial_) fail("the server wants more than a key, and this did not succeed");
    if (!offers(SSH_AUTH_METHOD_PUBLICKEY)) {
      fail(prompt_ ? "the password is not accepted"
                   : "the server takes passwords only, and there is no terminal to ask for one",
           "keys on the device, or running stab on a terminal");
    }
    if (!encrypted_.empty()) {
      fail("the key " + join(encrypted_) + " is encrypted" +
               (prompt_ ? " and was not unlocked"
                        : ", no agent has it, and there is no terminal to ask for the passphrase") +
               extra,
           "ssh-add " + shell_quote(encrypted_.front()));
    }
    if (tried_.empty()) {
      fail("there is no key to offer, neither in an agent nor in a file" + extra,
           "ssh-keygen, then " + copy);
    }
    fail("the server accepts none of the keys: " + join(tried_) + extra,
         keys_.left_out == 0 ? copy : "--identity with the right key");
  }

  SshSession& session_;
  const SshSettings& settings_;
  const SshLimits& limits_;
  const StopRequested& stop_;
  const SecretPrompt& prompt_;
  KeyOffers keys_;
  std::size_t next_key_ = 0;
  std::vector<std::string> tried_;
  std::vector<std::string> encrypted_;
  bool partial_ = false;
  bool asked_without_proof_ = false;
};

}  // namespace

void log_in(SshSession& session, const SshSettings& settings, const SshLimits& limits,
            const StopRequested& stop, const SecretPrompt& prompt) {
  Login(session, settings, limits, stop, prompt).run();
}

}  // namespace stab
