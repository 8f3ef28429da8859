// SPDX-License-Identifier: Apache-2.0
// Sums of ticks that saturate instead of overflowing, shared by the parts of the solver.
#pragma once

#include <cstdint>

#include "stab/core/placement_problem.h"

namespace stab::solver {

/// More than any sum of possible costs: stands for "cannot be".
inline constexpr Ticks k_infinite = Ticks{1} << 61;

/// All possible costs together stay below this: DualBound adds several sums of them, negative ones
/// too, and still knows what cannot be.
inline constexpr Ticks k_largest_sum = k_infinite / 16;

/// a + b for values up to k_infinite, at most k_infinite.
inline Ticks add(Ticks a, Ticks b) {
  const Ticks sum = a + b;
  return sum < k_infinite ? sum : k_infinite;
}

/// a * b, at most 2^62.
inline std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t k_limit = std::uint64_t{1} << 62;
  if ((a | b) >> 31 == 0) return a * b;  // spares a division
  return b != 0 && a > k_limit / b ? k_limit : a * b;
}

/// a + b for values up to 2^62, at most 2^62.
inline std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t k_limit = std::uint64_t{1} << 62;
  return a + b > k_limit ? k_limit : a + b;
}

}  // namespace stab::solver
