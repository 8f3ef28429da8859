// SPDX-License-Identifier: Apache-2.0
#include "stab/app/run.h"

#include <unistd.h>

#include <iostream>

#include "stab/app/pipeline.h"
#include "stab/core/report.h"
#include "stab/host/files.h"
#include "stab/host/interrupt.h"
#include "stab/host/progress.h"

namespace stab {
namespace {

constexpr int k_plain_width = 100;

void print(const Options& options, const Result& result, std::ostream& out) {
  if (options.json_file) write_file_atomically(*options.json_file, render_result(result));
  if (options.format == OutputFormat::json) {
    out << render_result(result);
  } else {
    TextStyle style;
    style.width = terminal_width(STDOUT_FILENO, k_plain_width);
    style.colour = colours_wanted(STDOUT_FILENO);
    style.verbosity = options.verbosity;
    out << render_text(result, style);
  }
  out.flush();
}

}  // namespace

int run(const Options& options, std::ostream& out) {
  const std::unique_ptr<Progress> progress = make_progress();
  const Result result = schedule(options, *progress, interrupted);
  progress->clear();
  print(options, result, out);
  if (result.error)
    std::cerr << "stab: "
              << Error(result.error->kind, result.error->what, result.error->subject,
                       result.error->why, result.error->hint)
                     .what()
              << "\n";
  return result.exit_status;
}

}  // namespace stab
