// SPDX-License-Identifier: Apache-2.0
// Placement problems made at random from a seed, and answers found by trying everything.
#pragma once

#include <cstdint>
#include <random>

#include "stab/core/placement_problem.h"

namespace stab::test {

/// What kind of problem to make.
struct ProblemShape {
  int ops = 8;
  int backends = 3;
  int classes =
      0;  ///< copies within a class are free; 0: each backend alone. The first class holds builtin
  int most_inputs = 3;      ///< of one operation
  int reach = 0;            ///< inputs come from so many tensors back; 0: from anywhere
  double impossible = 0.2;  ///< share of (operation, backend) pairs
  double pinned = 0.1;      ///< share of operations with one choice
  double sources = 0.0;     ///< share of operations that read nothing
  double outputs = 0.2;     ///< share of tensors that are graph outputs, read inside or not
  double forbidden = 0.0;   ///< share of copies that cannot be
  Ticks largest_cost = 50;  ///< small ones make ties
  Ticks largest_copy = 30;
};

/// An acyclic graph: operation i makes tensor i + 1 and reads earlier ones, where it is no source;
/// tensor 0 is a graph input.
PlacementProblem random_problem(std::mt19937_64& random, const ProblemShape& shape);

/// The least cost over all placements, and the most operations on their preferred backend among the
/// cheapest.
struct BestOfAll {
  Ticks cost = k_impossible;
  int at_home = 0;
};

/// Tries every placement. For small problems.
BestOfAll try_all(const PlacementProblem& problem);

}  // namespace stab::test
