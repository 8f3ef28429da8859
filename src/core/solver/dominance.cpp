// SPDX-License-Identifier: Apache-2.0
// When one backend is never worse for an operation than another, whatever its neighbours do.
#include <algorithm>

#include "core/solver/reduction.h"

namespace stab::solver {
namespace {

/// a - b where both may stand for "cannot be": two such cancel out.
Ticks difference(Ticks a, Ticks b) {
  if (a >= k_infinite) return b >= k_infinite ? 0 : k_infinite;
  return b >= k_infinite ? -k_infinite : a - b;
}

}  // namespace

bool Reduction::dominated(int op, int backend, int by) const {
  Ticks worst = difference(ops_[op].cost[by], ops_[op].cost[backend]);
  const auto include = [&worst](Ticks change) {
    worst = change >= k_infinite ? k_infinite : std::max(worst + change, -k_infinite);
    return worst < k_infinite;
  };
  for (const int t : of_op_.read_by(op)) {
    if (!tensors_[t].closed && !include(worst_as_reader(t, backend, by))) return false;
  }
  for (const int t : of_op_.made_by(op)) {
    if (!tensors_[t].closed && !include(worst_as_producer(t, backend, by))) return false;
  }
  return worst < 0 || (worst == 0 && by < backend);
}

/// The most that the copies of `t` can grow when one of its readers moves from `backend` to `by`.
Ticks Reduction::worst_as_reader(int t, int backend, int by) const {
  const bool others_there = tensors_[t].possible[backend] > 1;
  const BackendSet from = sources(t);
  Ticks worst = -k_infinite;
  for (int f = 0; f <= problem_->builtin(); ++f) {
    if (!has(from, f)) continue;
    const Ticks saved = others_there ? 0 : weight(t, f, backend);
    worst = std::max(worst, difference(weight(t, f, by), saved));
  }
  return worst;
}

/// The most that the copies of `t` can grow when its producer moves from `backend` to `by`. With
/// several readers any set of targets may be in use, so each target that gets dearer counts; with
/// none of these at least one target is in use.
Ticks Reduction::worst_as_producer(int t, int backend, int by) const {
  Ticks dearer = 0, largest = -k_infinite;
  for (int to = 0; to < problem_->backends; ++to) {
    if (tensors_[t].possible[to] == 0) continue;
    const Ticks change = difference(weight(t, by, to), weight(t, backend, to));
    largest = std::max(largest, change);
    if (change > 0) dearer = add(dearer, change);
  }
  return tensors_[t].open_readers == 1 || largest <= 0 ? largest : dearer;
}

}  // namespace stab::solver
