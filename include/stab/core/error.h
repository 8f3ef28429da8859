// SPDX-License-Identifier: Apache-2.0
// The one exception type of stab, the warning as a value, and how a kind of error becomes an exit
// status.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace stab {

enum class ErrorKind { usage, input, device, output, proof, interrupted, internal };

/// The name of a kind as the result document writes it: "usage", "input", …
std::string_view to_string(ErrorKind kind);

/// Exit status of the process: usage 2, input 3, device 4, output 5, proof 6, interrupted 130,
/// internal 1.
int exit_status(ErrorKind kind);

/// Something that ends the job. Its text is one line: what failed, on which thing, why, and what to
/// try: `cannot read model 'a.tflite': the operator table ends outside the file; try …`.
class Error : public std::runtime_error {
 public:
  /// `what` is a phrase ("cannot read model"), `subject` the thing (quoted in the text, may be
  /// empty), `why` the reason, `hint` what to try (may be empty). No part ends with a period; line
  /// breaks become blanks.
  Error(ErrorKind kind, std::string what, std::string subject, std::string why,
        std::string hint = {});

  ErrorKind kind() const { return kind_; }
  const std::string& what_failed() const { return what_failed_; }
  const std::string& subject() const { return subject_; }
  const std::string& why() const { return why_; }
  const std::string& hint() const { return hint_; }

 private:
  ErrorKind kind_;
  std::string what_failed_;
  std::string subject_;
  std::string why_;
  std::string hint_;
};

enum class Severity { info, warning };

std::string_view to_string(Severity severity);

/// What stab has to say without stopping. `id` is stable ("backend_missing"), `subject` the thing
/// it is about, `text` one sentence, `remedy` what to do (may be empty).
struct Warning {
  std::string id;
  Severity severity = Severity::warning;
  std::string subject;
  std::string text;
  std::string remedy;

  bool operator==(const Warning&) const = default;
};

}  // namespace stab
