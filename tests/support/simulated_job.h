// SPDX-License-Identifier: Apache-2.0
// A whole job on a simulated device, from its runs to its result: everything a document can hold is
// in it, and it is the same each time.
#pragma once

#include "stab/core/profile.h"
#include "stab/core/result.h"

namespace stab::test {

struct SimulatedJob {
  Profile profile;
  Result result;
};

/// A network of 14 operations on cpu, ruy and acl_neon (which takes copies), with noise; xnnpack is
/// missing. Names hold what is markup in HTML and special in CSV. The mixed plan wins and is
/// proven.
SimulatedJob simulated_job();

/// The same with one backend best, and nothing proven because no device was asked.
Result simulated_estimate();

}  // namespace stab::test
