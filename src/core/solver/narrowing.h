// SPDX-License-Identifier: Apache-2.0
// Makes a component smaller before it is solved, by its lower bound.
#pragma once

#include <cstdint>

#include "core/solver/reduction.h"
#include "stab/core/placement_problem.h"

namespace stab::solver {

/// A component as a problem of its own (Reduction::extract), with fewer choices.
struct Narrowing {
  PlacementProblem problem;
  int choices = 0;           ///< before
  int removed = 0;           ///< of them
  std::uint64_t states = 0;  ///< table entries looked at
};

/// Removes the choices that no cheapest placement makes: those with which the lower bound is above
/// the cost of a placement that is known (fixing by reduced costs, as solvers of integer programs
/// do; the reduced costs are those of DualBound). Stops after `most_states` table entries.
Narrowing narrow(const Reduction& reduction, const Component& component, std::uint64_t most_states);

}  // namespace stab::solver
