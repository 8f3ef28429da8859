// SPDX-License-Identifier: Apache-2.0
// The exact answer to a placement problem, with a certificate of how good it is.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "stab/core/placement_problem.h"

namespace stab {

/// How the last word on an answer was found; the strongest means that any part of the problem
/// needed.
enum class SolveMethod {
  separable,            ///< after the reductions each operation stands alone
  dynamic_programming,  ///< over a tree decomposition
  branch_and_bound  ///< with a lower bound, where the decomposition is wide; one node, its root,
                    ///< often does
};

std::string_view to_string(SolveMethod method);

/// What is known about an answer.
struct Certificate {
  enum class Status { optimal, bounded };

  Status status = Status::optimal;
  Ticks cost = 0;   ///< of the answer; equals evaluate().total
  Ticks bound = 0;  ///< nothing can be cheaper than this; equals cost when optimal
  SolveMethod method = SolveMethod::separable;
  int width = 0;  ///< of the widest tree decomposition that was used (largest bag less one)
  std::uint64_t states = 0;  ///< table entries looked at
  int forced = 0;            ///< operations with one choice left before any search
  int components = 0;        ///< parts that share no tensor whose copies matter
  std::uint64_t nodes = 0;   ///< of branch and bound

  /// (cost - bound) / cost; 0 when optimal.
  double gap() const;
};

std::string_view to_string(Certificate::Status status);

/// What the solver may spend; counted in table entries, never in seconds, so that the answer is the
/// same everywhere.
struct SolverLimits {
  std::uint64_t table_states = std::uint64_t{1}
                               << 23;  ///< largest single table (each entry takes 8 bytes)
  std::uint64_t total_states = std::uint64_t{1} << 28;  ///< of all tables of one component
  std::uint64_t search_states = std::uint64_t{1}
                                << 29;  ///< of branch and bound over one component, or a part that
                                        ///< is left of it when choices are left out
};

/// A backend per operation, and what is known about it.
struct Solution {
  std::vector<int> placement;
  Certificate certificate;
};

/// Solves the problem. Deterministic: of equally cheap answers it takes one with the most
/// operations on their preferred backend (where it proves its answer), then moves operations to
/// where their neighbours are, then to the first backend, as long as that costs nothing. Method:
/// forced operations and dominated choices are removed, connected components are solved one by one
/// by variable elimination along a min-fill order (Dechter, "Bucket elimination", 1999; series
/// reductions are its steps of degree one and two). Where tables would be large, best-first branch
/// and bound under a dual bound (Kolmogorov, "A new look at reweighted message passing", 2015)
/// takes over: it removes choices that the bound excludes, after which elimination is tried again
/// where that is many, and ends nodes by dynamic programming over the partial assignments that can
/// still be better than the best answer (Morin and Marsten, "Branch-and-bound strategies for
/// dynamic programming", 1976). Throws Error(input) when no placement is possible, or none was
/// found within the limits, Error(internal) when the problem is malformed.
Solution solve(const PlacementProblem& problem, const SolverLimits& limits = {});

}  // namespace stab
