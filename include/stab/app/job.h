// SPDX-License-Identifier: Apache-2.0
// What a scheduling job works on: package, model, rules and inputs, read and checked before
// anything leaves the machine.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stab/app/options.h"
#include "stab/core/inputs.h"
#include "stab/core/model.h"
#include "stab/core/op_list.h"
#include "stab/core/pins.h"
#include "stab/core/result.h"
#include "stab/host/package_dir.h"

namespace stab {

struct Job {
  OpenedPackage opened;
  Model model;
  std::vector<OpId> operations;  ///< of subgraph 0, those that run where they are put
  OpList op_list;
  std::vector<Pin> pins;
  InputShapes shapes;
  std::vector<int> seeds;  ///< one per input set; empty for the user's own inputs
  std::vector<std::vector<std::string>> input_sets;  ///< values of each graph input
  std::vector<std::string> input_hashes;             ///< of --input files
  bool user_inputs = false;
  /// What every run gets when the user gave inputs; null: the runner's own.
  const std::vector<std::string>* own_inputs() const {
    return user_inputs ? &input_sets.front() : nullptr;
  }
  std::optional<Schedule> previous;  ///< the plan already in the output folder, of this model
  std::vector<Warning> warnings;

  const Package& package() const { return opened.package; }
};

/// Reads and checks everything that the options name on this machine. Throws Error(usage),
/// Error(input) or Error(output).
Job prepare(const Options& options);

}  // namespace stab
