// SPDX-License-Identifier: Apache-2.0
// A device with the package on it, ready for trials.
#pragma once

#include <filesystem>
#include <memory>

#include "stab/app/device_trials.h"
#include "stab/app/job.h"
#include "stab/app/target.h"
#include "stab/host/folders.h"

namespace stab {

class Workbench {
 public:
  /// Connects and checks the device. `job` must outlive it.
  Workbench(const Options& options, const Job& job, Progress& progress, const StopRequested& stop);
  /// Brings runtime, runner and the package as it is into place. Comes before all trials.
  void upload();

  Target& target() { return target_; }
  TrialRunner& trials() { return *trials_; }
  /// Where trace files of trials that are kept go.
  void keep_files_in(const std::filesystem::path& folder) { config_.keep_folder = folder; }

 private:
  Target target_;
  TemporaryFolder scratch_;
  DeviceTrialsConfig config_;
  std::unique_ptr<TrialRunner> trials_;
};

}  // namespace stab
