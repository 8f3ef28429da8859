// SPDX-License-Identifier: Apache-2.0
#include "stab/app/trial.h"

#include <algorithm>
#include <map>

namespace stab {

std::string_view to_string(Way way) {
  switch (way) {
    case Way::config:
      return "config";
    case Way::env:
      return "env";
    case Way::api:
      return "api";
    case Way::all:
      return "all";
  }
  return "all";
}

std::vector<Misplaced> misplaced(const Trace& trace, const Placement& placement,
                                 const std::vector<OpId>& operations) {
  std::map<OpId, std::vector<std::string>> ran;
  for (const OpTrace& op : trace.ops) ran[op.op].push_back(op.backend);
  std::vector<Misplaced> wrong;
  for (const OpId op : operations) {
    const std::string& wanted = backend_of(placement, op);
    const auto found = ran.find(op);
    if (found == ran.end()) {
      wrong.push_back({op, wanted, ""});
    } else if (std::find(found->second.begin(), found->second.end(), wanted) ==
               found->second.end()) {
      wrong.push_back({op, wanted, found->second.front()});
    }
  }
  return wrong;
}

}  // namespace stab
