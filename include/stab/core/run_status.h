// SPDX-License-Identifier: Apache-2.0
// How one run of the runner on a device ended.
#pragma once

#include <string_view>

namespace stab {

enum class RunStatus { ok, failed, timeout, signal, no_trace };

/// As the documents write it: "ok", "failed", …
constexpr std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::ok:
      return "ok";
    case RunStatus::failed:
      return "failed";
    case RunStatus::timeout:
      return "timeout";
    case RunStatus::signal:
      return "signal";
    case RunStatus::no_trace:
      return "no_trace";
  }
  return "failed";
}

}  // namespace stab
