// SPDX-License-Identifier: Apache-2.0
// Results of simulated nights whose truth is known: a small network, one operation of it on ruy.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "stab/core/compare.h"
#include "stab/core/result.h"

namespace stab::test {

/// One night: everything in it shares a factor, every round has its own.
class Night {
 public:
  explicit Night(unsigned number, double night_percent = 3, double round_percent = 1.5);

  /// A whole graph that truly takes `us` on an ordinary night; operations take 100 to 300 us.
  Result result(double us);
  /// The same as it is read back from its document; named "night<number>.json".
  EarlierResult read(double us);

 private:
  std::vector<double> rounds(double us);

  unsigned number_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
  double round_;
  double factor_;
};

}  // namespace stab::test
