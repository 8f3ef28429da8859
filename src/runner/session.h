// SPDX-License-Identifier: Apache-2.0
// One session with the runtime: opened as the options say, and closed.
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
/// Ends the process, naming the function, unless its status is good.
void check(const struct session* session, const char* function, int status);
/// Closes the session, at which the runtime writes its traces.
void close_session(struct session* session);
