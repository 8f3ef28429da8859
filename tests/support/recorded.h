// SPDX-License-Identifier: Apache-2.0
// Traces that real runtimes wrote (tests/data/traces), inflated where they are kept gzipped.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/trace.h"

namespace stab::test {

/// One recorded run: `averaged` and `chrome` are its two forms.
struct RecordedRun {
  std::string runtime;  ///< "onert-1.26-armv7"
  std::string model;    ///< "onet"
  std::string label;    ///< "cpu", "mixed"
  int threads = 1;
  std::string averaged;
  std::string chrome;

  std::string name() const {
    return runtime + "/" + model + "/" + label + "_" + std::to_string(threads);
  }
};

/// Every run below tests/data/traces, sorted by name.
std::vector<RecordedRun> recorded_runs();

/// That one run; throws std::runtime_error when it was not recorded.
RecordedRun recorded_run(std::string_view runtime, std::string_view model, std::string_view label,
                         int threads = 1);

/// Both forms of a run, folded.
Trace read_recorded(const RecordedRun& run, TraceOptions options = {});

/// The content of a file, inflated where its name ends in ".gz". Throws std::runtime_error naming
/// it.
std::string read_inflated(const std::filesystem::path& file);

}  // namespace stab::test
