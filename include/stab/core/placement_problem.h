// SPDX-License-Identifier: Apache-2.0
// The placement problem as a value, apart from models and traces: what each operation costs where,
// and what moving a tensor costs; and the one function that says what a placement costs.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace stab {

/// A time as the decision core counts it: whole nanoseconds, so that sums are exact whatever their
/// order.
using Ticks = std::int64_t;

/// The cost of what cannot be done: an operation on a backend that did not run it, a copy between a
/// forbidden pair.
inline constexpr Ticks k_impossible = std::numeric_limits<Ticks>::max();

/// The producer of graph inputs. Graph outputs are read there too.
inline constexpr int k_builtin = -1;

/// Most backends a problem may have.
inline constexpr int k_max_backends = 30;

/// Microseconds to ticks, rounded. Throws Error(internal) for a negative, infinite or undefined
/// time.
Ticks to_ticks(double microseconds);

/// Ticks to microseconds.
double to_us(Ticks ticks);

/// One operation that has to be placed.
struct PlacementOp {
  std::vector<Ticks>
      cost;  ///< per backend; k_impossible where it cannot run. Otherwise not negative
  int preferred =
      0;  ///< the default placement's backend: where it stays when nothing is gained elsewhere

  bool operator==(const PlacementOp&) const = default;
};

/// One tensor between operations. Constants are none: they cost nothing anywhere.
struct PlacementTensor {
  int producer = k_builtin;   ///< index of an operation, or k_builtin for a graph input
  std::vector<int> readers;   ///< operations that read it, ascending, each once
  bool graph_output = false;  ///< builtin reads it too
  /// What a copy costs, by [from * (backends + 1) + to]; the last row and column are builtin's.
  /// Empty: free everywhere. Entries from a backend to itself are not read.
  std::vector<Ticks> copy;

  bool operator==(const PlacementTensor&) const = default;
};

/// Place each operation on one backend so that the sum of what they cost, plus one copy for each
/// tensor and each distinct backend other than its producer's that reads it, is smallest. That is
/// the runtime's own rule of one Permute for each tensor and target backend (onert's
/// PermutationInsertionPass), however many operations read it there.
struct PlacementProblem {
  int backends = 0;
  std::vector<PlacementOp> ops;
  std::vector<PlacementTensor> tensors;

  /// Index of builtin among the locations of a copy table.
  int builtin() const { return backends; }

  /// Cost of one copy of tensor `t`; 0 when `from` equals `to`.
  Ticks copy_cost(int t, int from, int to) const {
    const std::vector<Ticks>& table = tensors[t].copy;
    return from == to || table.empty() ? 0 : table[from * (backends + 1) + to];
  }

  bool operator==(const PlacementProblem&) const = default;
};

/// A copy that a placement makes. Locations are backends, or `builtin()`.
struct CopyMade {
  int tensor = 0;
  int from = 0;
  int to = 0;
  Ticks cost = 0;

  bool operator==(const CopyMade&) const = default;
};

/// What a placement costs, row by row: the rows sum to the totals.
struct Evaluation {
  Ticks total = 0;  ///< ops + copies; k_impossible when a part of it is
  Ticks ops = 0;
  Ticks copies = 0;
  std::vector<Ticks> op_cost;
  std::vector<CopyMade> copies_made;  ///< only those that cost something, by tensor and target
  int switches = 0;  ///< tensors that an operation makes and another backend reads, once per
                     ///< reading backend, free or not

  bool feasible() const { return total != k_impossible; }
};

/// Throws Error(internal) when the problem is not well-formed: table sizes, indices, negative
/// costs, a tensor that its own producer reads, more than k_max_backends backends.
void check(const PlacementProblem& problem);

/// What `placement` (a backend per operation) costs.
Evaluation evaluate(const PlacementProblem& problem, std::span<const int> placement);

/// Leaves `backend` as the only choice of operation `op`. Throws Error(input) when it cannot run
/// there.
void pin(PlacementProblem& problem, int op, int backend);

/// Takes `backend` away from operation `op`. Throws Error(input) when it was the last one.
void forbid(PlacementProblem& problem, int op, int backend);

}  // namespace stab
