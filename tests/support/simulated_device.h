// SPDX-License-Identifier: Apache-2.0
// A device whose truth is known: true times of each operation on each backend, noise, what its
// runtime reads, and which placements compute wrong outputs. Stands behind the TrialRunner port.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "stab/app/trial.h"
#include "stab/core/model.h"

namespace stab::test {

/// A chain of `count` f32 operations of one type, with one graph input and one graph output.
Model chain_model(int count, const std::string& type = "Conv2D");

class SimulatedDevice : public TrialRunner {
 public:
  explicit SimulatedDevice(int operations, unsigned seed = 12345);

  TrialOutcome run(const Trial& trial) override;

  std::map<std::string, std::vector<double>> true_us;  ///< backend -> per operation
  double overhead_us = 5;
  double round_noise = 0;      ///< standard deviation of the log factor of a whole process
  double run_noise = 0;        ///< of each run within it
  double drift_per_trial = 0;  ///< growth of the log factor with each trial
  bool reads_config = true;
  bool reads_env = true;
  bool reads_api = true;
  std::set<std::pair<std::string, int>>
      impossible;               ///< backend cannot run the operation: the whole run fails
  std::string missing_backend;  ///< fails to load; cpu: nothing runs at all
  std::function<bool(const Trial&)> crashes = [](const Trial&) { return false; };
  std::function<double(const Placement&)> company = [](const Placement&) {
    return 1.0;
  };  ///< factor of mixed placements
  /// Wrong outputs for this placement under this planner with this number of threads?
  std::function<bool(const Placement&, const std::string& planner, int threads)> wrong =
      [](const Placement&, const std::string&, int) { return false; };
  bool unrepeatable = false;  ///< even cpu's outputs differ from run to run

  std::vector<Trial> trials;  ///< all that was asked
  double true_graph_us(const Placement& placement) const;

 private:
  Placement effective_placement(const Trial& trial) const;
  std::string failure(const Placement& placement) const;

  int operations_;
  std::mt19937 random_;
};

}  // namespace stab::test
