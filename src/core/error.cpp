// SPDX-License-Identifier: Apache-2.0
#include "stab/core/error.h"

#include <algorithm>
#include <utility>

namespace stab {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  std::replace(text.begin(), text.end(), '\r', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

std::string compose(const std::string& what, const std::string& subject, const std::string& why,
                    const std::string& hint) {
  std::string text = what;
  if (!subject.empty()) text += " '" + subject + "'";
  if (!why.empty()) text += ": " + why;
  if (!hint.empty()) text += "; try " + hint;
  return one_line(std::move(text));
}

}  // namespace

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::device:
      return "device";
    case ErrorKind::output:
      return "output";
    case ErrorKind::proof:
      return "proof";
    case ErrorKind::interrupted:
      return "interrupted";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::input:
      return 3;
    case ErrorKind::device:
      return 4;
    case ErrorKind::output:
      return 5;
    case ErrorKind::proof:
      return 6;
    case ErrorKind::interrupted:
      return 130;
    case ErrorKind::internal:
      return 1;
  }
  return 1;
}

std::string_view to_string(Severity severity) {
  return severity == Severity::info ? "info" : "warning";
}

Error::Error(ErrorKind kind, std::string what, std::string subject, std::string why,
             std::string hint)
    : std::runtime_error(compose(what, subject, why, hint)),
      kind_(kind),
      what_failed_(one_line(std::move(what))),
      subject_(one_line(std::move(subject))),
      why_(one_line(std::move(why))),
      hint_(one_line(std::move(hint))) {}

}  // namespace stab
