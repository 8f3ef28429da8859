// SPDX-License-Identifier: Apache-2.0
// Reading traces from memory, in bytes per second: both forms as a runtime wrote them.
#include <benchmark/benchmark.h>

#include <string>

#include "stab/core/trace.h"
#include "support/recorded.h"

namespace {

void read(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    stab::Trace trace = stab::parse_trace(text, "trace");
    benchmark::DoNotOptimize(trace);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void read_chrome(benchmark::State& state) {
  read(state, stab::test::recorded_run("onert-2026", "onet", "cpu").chrome);
}
BENCHMARK(read_chrome);

void read_averaged(benchmark::State& state) {
  read(state, stab::test::recorded_run("onert-2026", "onet", "cpu").averaged);
}
BENCHMARK(read_averaged);

}  // namespace

BENCHMARK_MAIN();
