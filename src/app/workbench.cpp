// SPDX-License-Identifier: Apache-2.0
#include "stab/app/workbench.h"

#include <iostream>

namespace stab {

Workbench::Workbench(const Options& options, const Job& job, Progress& progress,
                     const StopRequested& stop)
    : target_(options, progress, stop) {
  config_.run = [this](const RunRequest& request) { return target_.run(request); };
  config_.package = &job.package();
  config_.outputs = job.model.subgraphs.at(0).outputs.size();
  config_.stage = [this](const FileList& files) { return target_.stage(files); };
  config_.shape_argument = shape_argument(job.shapes);
  config_.affinity = options.affinity;
  config_.env = options.env;
  config_.timeout = options.timeout;
  config_.scratch_folder = scratch_.path();
  config_.keep_folder = scratch_.path();
  if (options.verbosity > 0) {
    config_.live_output = [&progress](std::string_view text) {
      progress.clear();
      std::cerr << text;
    };
  }
}

void Workbench::upload() {
  target_.upload_runtime();
  config_.runner = target_.runner();
  trials_ = make_device_trials(config_);
  target_.stage(config_.package->files);
}

}  // namespace stab
