// SPDX-License-Identifier: Apache-2.0
// What a runner printed: the block of times that all runners share, and stab-runner's own line of
// JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stab {

/// An input or output of the model as stab-runner saw it after prepare.
struct RunnerTensor {
  int index = 0;
  std::string dtype;  ///< "f32", "i8", …
  std::int64_t bytes = 0;
  std::vector<std::int32_t> shape;

  bool operator==(const RunnerTensor&) const = default;
};

/// Times of one runner process; absent where the runner did not tell.
struct RunnerOutput {
  std::optional<double> load_us;
  std::optional<double> prepare_us;
  std::optional<double> mean_us;
  std::optional<double> min_us;
  std::optional<double> max_us;
  std::optional<double> geomean_us;
  std::optional<std::vector<double>> samples_us;  ///< one for each timed run, in order
  std::optional<int> warmup_runs;                 ///< really made
  std::optional<double> cpu_time_us;              ///< of the process during the timed runs
  std::optional<std::int64_t> peak_rss_kb;
  std::optional<std::string> version;  ///< of the runtime, "1.30.0"
  std::optional<std::string> tracing;  ///< "api", "env" or "none"
  std::vector<RunnerTensor> inputs;
  std::vector<RunnerTensor> outputs;
  bool stab_runner = false;  ///< its line was there and could be read
  std::string problem;       ///< why that line was left out; empty when all is well
};

/// Reads what a runner printed on standard output, or any tail of it. The last block and the last
/// line count. Never throws: text is not trusted, and what cannot be read (negative, not finite,
/// too long, wrong type) stays absent.
RunnerOutput parse_runner_output(std::string_view text);

}  // namespace stab
