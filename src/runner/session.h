// SPDX-License-Identifier: Apache-2.0
// One session with the runtime: opened as the options say, its tensors bound, run and closed.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "library.h"
#include "options.h"
#include "tensors.h"

/// How tracing was switched on.
enum tracing { k_tracing_none, k_tracing_environment, k_tracing_api };

struct session {
  const struct library* library;
  struct nnfw_session* handle;
  struct tensor* inputs;
  uint32_t input_count;
  struct tensor* outputs;
  uint32_t output_count;
  uint64_t load_ns;
  uint64_t prepare_ns;
  enum tracing tracing;
  bool backends_set;
};

/// Creates, loads and prepares. Ends the process, naming the function, when one of them fails.
void open_session(struct session* session, const struct library* library,
                  const struct options* options);
/// Gives every input its values and every output a buffer.
void bind_tensors(struct session* session, const struct options* options);
/// Runs once and returns the nanoseconds it took. Where an output turns out to be larger than its
/// buffer, all of them grow and the run is repeated; only the run that went through counts.
uint64_t run_session(struct session* session);
/// Asks the runtime for what each output has become (`info`, `used`).
void measure_outputs(struct session* session);
/// Closes the session, at which the runtime writes its traces.
void close_session(struct session* session);
