// SPDX-License-Identifier: Apache-2.0
// What the runner prints: onert_run's block for people, and one line of JSON for programs.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "session.h"
#include "system.h"

/// What was measured, times in nanoseconds.
struct measurement {
  uint64_t* samples;  ///< one per timed run
  size_t sample_count;
  uint32_t warmup_runs;
  uint64_t cpu_ns;       ///< CPU time of all threads over the timed runs
  uint64_t wall_ns;      ///< from the start of the first timed run to the end of the last
  uint64_t peak_rss_kb;  ///< 0: unknown
};

/// The n-th root of the product of the samples, in nanoseconds. No sample counts as less than 1.
uint64_t geometric_mean(const uint64_t* samples, size_t count);

void add_block(struct text* text, const struct session* session,
               const struct measurement* measurement);
void add_json(struct text* text, const struct session* session,
              const struct measurement* measurement);
