// SPDX-License-Identifier: Apache-2.0
// stab-runner: runs a package on the ONE runtime found at run time, times it, and prints the
// result.
#include <errno.h>
#include <string.h>

#include "execution.h"
#include "library.h"
#include "options.h"
#include "report.h"
#include "session.h"
#include "system.h"

/// A warm-up lasts long enough for the clocks of a device to rise, and never for long.
static const uint64_t k_shortest_warmup_ns = 500000000u;
static const uint64_t k_longest_warmup_ns = 5000000000u;

static uint32_t warm_up(struct session* session, uint32_t wanted) {
  if (wanted == 0) return 0;
  const uint64_t start = monotonic_ns();
  for (uint32_t done = 1;; ++done) {
    run_session(session);
    const uint64_t passed = monotonic_ns() - start;
    if (passed >= k_longest_warmup_ns) return done;
    if (done >= wanted && passed >= k_shortest_warmup_ns) return done;
  }
}

static struct measurement measure(struct session* session, const struct options* options) {
  struct measurement result = {.sample_count = options->runs};
  result.samples = allocate(options->runs, sizeof(uint64_t));
  result.warmup_runs = warm_up(session, options->warmup_runs);
  const uint64_t cpu_start = process_cpu_ns();
  const uint64_t start = monotonic_ns();
  for (uint32_t i = 0; i < options->runs; ++i) result.samples[i] = run_session(session);
  result.wall_ns = monotonic_ns() - start;
  result.cpu_ns = process_cpu_ns() - cpu_start;
  result.peak_rss_kb = peak_rss_kb();
  return result;
}

static void print(struct text* text) {
  if (write_output(text->data, text->size) != 0) {
    fail(k_exit_usage, "cannot write the result: %s", strerror(errno));
  }
}

static void tell_versions(const struct options* options) {
  struct text text = {NULL, 0, 0};
  text_add(&text, "stab-runner %s\n", STAB_RUNNER_VERSION);
  if (options->library != NULL) {
    struct library library;
    load_library(options->library, &library);
    text_add(&text, "runtime %s (%s)\n", library.version == NULL ? "unknown" : library.version,
             library.path);
  }
  print(&text);
}

int main(int argc, char** argv) {
  struct options options;
  parse_options(argc, argv, &options);
  if (options.version) {
    tell_versions(&options);
    return k_exit_done;
  }
  struct library library;
  struct session session;
  load_library(options.library, &library);
  open_session(&session, &library, &options);
  bind_tensors(&session, &options);
  const struct measurement measurement = measure(&session, &options);
  measure_outputs(&session);
  for (uint32_t i = 0; options.dump_outputs != NULL && i < session.output_count; ++i) {
    dump_tensor(&session.outputs[i], options.dump_outputs, i);
  }
  close_session(&session);
  struct text text = {NULL, 0, 0};
  add_block(&text, &session, &measurement);
  add_json(&text, &session, &measurement);
  print(&text);
  return k_exit_done;
}
