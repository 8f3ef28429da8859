// SPDX-License-Identifier: Apache-2.0
// What holds for every answer to a placement problem, whatever the test is about.
#pragma once

#include "stab/core/scheduler.h"

namespace stab::test {

/// Fails unless each operation is placed once, where it can run; the rows of its evaluation sum to
/// the total; copies are made once per tensor and target; and the certificate says what the
/// evaluation says.
void expect_consistent(const PlacementProblem& problem, const Solution& solution);

}  // namespace stab::test
