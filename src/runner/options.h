// SPDX-License-Identifier: Apache-2.0
// The runner's command line: onert_run's options that concern a run, and a few of its own.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "index_list.h"

struct options {
  const char* model;    ///< package directory, or model file
  const char* library;  ///< --library, or NULL
  uint32_t warmup_runs;
  uint32_t runs;
  uint64_t seed;
  const char* dump_outputs;  ///< --dump:raw, or NULL
  const char* dump_inputs;   ///< --dump_input:raw, or NULL
  const char* load_inputs;   ///< --load:raw, or NULL
  const char* backends;      ///< --backends, or NULL
  const char* per_op;        ///< --per-op with the content of @FILE, or NULL
  const char* trace_dir;     ///< --trace, or NULL
  struct index_list shapes;
  struct index_list output_sizes;
  bool version;  ///< --version: tell versions instead of running
};

/// Reads the command line. Ends the process on --help (0) and on any fault (1, with a message).
void parse_options(int argc, char** argv, struct options* options);
