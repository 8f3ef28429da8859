// SPDX-License-Identifier: Apache-2.0
// Runs a prepared session: its inputs and outputs bound to memory, outputs of any size.
#pragma once

#include <stdint.h>

#include "options.h"
#include "session.h"

/// Gives every input its values and every output a buffer.
void bind_tensors(struct session* session, const struct options* options);
/// Runs once and returns the nanoseconds it took. Where an output turns out to be larger than its
/// buffer, all of them grow and the run is repeated; only the run that went through counts.
uint64_t run_session(struct session* session);
/// Asks the runtime for what each output has become (`info`, `used`, `sized`).
void measure_outputs(struct session* session);
