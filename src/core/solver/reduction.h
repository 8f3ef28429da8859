// SPDX-License-Identifier: Apache-2.0
// The part of a placement problem that still has to be decided after forced operations and
// dominated choices are out.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/solver/arithmetic.h"
#include "stab/core/op_tensors.h"
#include "stab/core/placement_problem.h"

namespace stab::solver {

/// A set of backends, one bit each.
using BackendSet = std::uint32_t;

inline bool has(BackendSet set, int backend) {
  return (set >> backend & 1U) != 0;
}

/// An operation's choices. Costs are scaled (see Reduction) and include what the decided neighbours
/// make it pay.
struct OpenOp {
  BackendSet domain = 0;
  std::array<Ticks, k_max_backends> cost{};  ///< per backend
  int chosen = -1;                           ///< once decided

  bool open() const { return chosen < 0; }
};

/// A tensor whose copies are not all decided.
struct OpenTensor {
  int producer = k_builtin;  ///< an open operation, or k_builtin when `from` is known
  int from = 0;              ///< location of the data, when the producer is decided
  BackendSet paid = 0;       ///< targets that decided readers need anyway: free for the others
  int open_readers = 0;
  std::array<int, k_max_backends> possible{};  ///< per backend: how many open readers may go there
  bool closed = false;  ///< its copies no longer depend on any open operation
};

/// Connected operations and the tensors between them.
struct Component {
  std::vector<int> ops;  ///< ascending
  std::vector<int> tensors;

  /// Which of its operations `op` is.
  int place_of(int op) const {
    return static_cast<int>(std::lower_bound(ops.begin(), ops.end(), op) - ops.begin());
  }
};

/// How costs are scaled. With `ties` they are multiplied by the number of operations plus one, and
/// an operation away from its preferred backend costs one more: so the smallest sum has the
/// smallest true cost, then the most operations at home.
enum class Scaling { ties, none };

/// Reduces a checked problem, which must outlive it.
class Reduction {
 public:
  /// Throws Error(input) when times are too large to be added.
  Reduction(const PlacementProblem& problem, Scaling scaling);

  /// False when an operation has no backend left.
  bool feasible() const { return feasible_; }

  const PlacementProblem& problem() const { return *problem_; }
  const std::vector<OpenOp>& ops() const { return ops_; }
  const std::vector<OpenTensor>& tensors() const { return tensors_; }
  Ticks scale() const { return scale_; }
  Ticks decided_cost() const { return decided_cost_; }  ///< of what is decided, scaled
  int decided() const { return decided_; }

  /// Scaled cost of bringing tensor `t` from `from` to backend `to`; 0 where that is paid already.
  Ticks weight(int t, int from, int to) const;

  /// Where tensor `t` may come from: backends, or the bit of its known location.
  BackendSet sources(int t) const;

  /// The open operations that read tensor `t`, ascending.
  std::vector<int> open_readers(int t) const;

  /// What is left, by first operation.
  std::vector<Component> components() const;

  /// A component as a problem of its own: the same backends, scaled costs, operations numbered as
  /// in `component.ops`. What comes from a decided operation comes from builtin there.
  PlacementProblem extract(const Component& component) const;

 private:
  void scale_costs(Scaling scaling);
  void read_tensors();
  void enqueue(int op);
  void enqueue_around(int t);
  void restrict_domain(int op);
  void remove_choice(int op, int backend);
  void decide(int op);
  void pay(int t, int backend);
  void close_if_settled(int t);
  bool copies_matter(int t) const;
  bool dominated(int op, int backend, int by) const;
  Ticks worst_as_reader(int t, int backend, int by) const;
  Ticks worst_as_producer(int t, int backend, int by) const;

  const PlacementProblem* problem_;
  bool feasible_ = true;
  Ticks scale_ = 1;
  Ticks decided_cost_ = 0;
  int decided_ = 0;
  std::vector<OpenOp> ops_;
  std::vector<OpenTensor> tensors_;
  OpTensors of_op_;
  std::deque<int> queue_;
  std::vector<bool> queued_;
};

}  // namespace stab::solver
