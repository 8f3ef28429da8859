// SPDX-License-Identifier: Apache-2.0
// Which operations a backend really runs, found by asking it: no list can know that for every
// device.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stab/app/trial.h"
#include "stab/core/model.h"

namespace stab {

struct Refusal {
  OpId op;
  std::string reason;  ///< the runtime's own words
};

struct Discovery {
  std::vector<OpId> runnable;    ///< in order; they ran together, each on the backend asked for
  std::vector<Refusal> refused;  ///< in order
  std::string reason;            ///< of the last failure, when nothing is runnable
  int trials = 0;
};

/// Tries these operations together on the backend and tells how it went.
using TryOperations = std::function<TrialOutcome(const std::vector<OpId>&)>;

/// Asks for all of `asked` at once; where the runtime names an operation type that it cannot do
/// there, that type is left out and the rest is asked again; where a run fails without a name,
/// types and then operations are bisected. Operations that ran elsewhere than on `backend` are left
/// out too. At most `max_trials` runs: what is undecided then is refused.
Discovery discover(const Model& model, const std::string& backend, const std::vector<OpId>& asked,
                   const TryOperations& try_operations, int max_trials = 60);

}  // namespace stab
