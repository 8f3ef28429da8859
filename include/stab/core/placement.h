// SPDX-License-Identifier: Apache-2.0
// A placement: which backend each operation runs on. Operations that are not listed run on cpu.
#pragma once

#include <map>
#include <string>

#include "stab/core/ids.h"

namespace stab {

/// The backend every operation is on that a placement does not list.
inline constexpr const char* k_cpu = "cpu";

/// Only operations that are not on cpu, as the documents and OP_BACKEND_MAP write it.
using Placement = std::map<OpId, std::string>;

inline const std::string& backend_of(const Placement& placement, OpId op) {
  static const std::string cpu = k_cpu;
  const auto found = placement.find(op);
  return found == placement.end() ? cpu : found->second;
}

}  // namespace stab
