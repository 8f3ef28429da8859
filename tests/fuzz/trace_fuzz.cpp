// SPDX-License-Identifier: Apache-2.0
// Traces of any bytes: the reader either refuses them or gives a trace within its bounds, and says
// the same however the bytes are pieced. The first byte chooses the size of the pieces and the
// options.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "stab/core/error.h"
#include "stab/core/timings.h"
#include "stab/core/trace.h"

namespace {

struct Outcome {
  std::optional<stab::Trace> trace;
  std::string refusal;
};

void expect(bool holds) {
  if (!holds) std::abort();
}

Outcome read(std::string_view bytes, std::size_t piece, const stab::TraceOptions& options) {
  Outcome outcome;
  try {
    stab::TraceReader reader(options);
    reader.begin_file("trace");
    while (!bytes.empty()) {
      const std::string part(bytes.substr(0, piece));
      bytes.remove_prefix(part.size());
      reader.feed(part);
    }
    outcome.trace = reader.finish();
  } catch (const stab::Error& error) {
    expect(error.kind() == stab::ErrorKind::input);
    outcome.refusal = error.what();
  }
  return outcome;
}

void expect_bounds(const stab::Trace& trace, const stab::TraceOptions& options) {
  expect(trace.graph_us.size() <= options.max_executions);
  expect(trace.graph_us.size() == trace.ops_us.size());
  expect(!options.last_runs ||
         static_cast<std::int64_t>(trace.graph_us.size()) <= *options.last_runs);
  expect(!trace.ops.empty());
  for (const stab::OpTrace& op : trace.ops) {
    expect(op.samples_us.size() <= trace.graph_us.size());
    expect(!op.samples_us.empty() || op.averaged || op.apart_us);
    expect(trace.find(op.op, op.backend) == &op);
    for (const double us : op.samples_us) expect(us >= 0);
  }
}

void expect_timings(const stab::Trace& trace) {
  stab::RunTrace run;
  run.run.label = trace.ops.front().backend;
  run.trace = trace;
  const std::vector<stab::RunTrace> runs = {run, run};
  const stab::Timings timings = stab::summarise(runs, 1);
  expect(timings.ops.size() + timings.fixed.size() + timings.in_company.size() <= trace.ops.size());
  for (const stab::OpTiming& timing : timings.ops) {
    expect(timings.find(timing.op, timing.backend) == &timing);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  stab::TraceOptions options;
  options.max_executions = 4;
  if ((data[0] & 1) != 0) options.last_runs = 2;
  if ((data[0] & 2) != 0) options.max_samples = 3;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const Outcome whole = read(bytes, size, options);
  const Outcome pieces = read(bytes, 1 + (data[0] >> 2), options);
  expect(whole.refusal == pieces.refusal);
  expect(whole.trace.has_value() == pieces.trace.has_value());
  if (!whole.trace) return 0;
  expect_bounds(*whole.trace, options);
  expect(whole.trace->graph_us == pieces.trace->graph_us);
  expect(whole.trace->ops.size() == pieces.trace->ops.size());
  expect_timings(*whole.trace);
  return 0;
}
