// SPDX-License-Identifier: Apache-2.0
#include "stab/app/run.h"

#include <unistd.h>

#include <iostream>

#include "stab/app/compare_job.h"
#include "stab/app/device_jobs.h"
#include "stab/app/pipeline.h"
#include "stab/app/verify.h"
#include "stab/core/report.h"
#include "stab/host/files.h"
#include "stab/host/interrupt.h"
#include "stab/host/progress.h"

namespace stab {
namespace {

constexpr int k_plain_width = 100;

TextStyle text_style(const Options& options) {
  TextStyle style;
  style.width = terminal_width(STDOUT_FILENO, k_plain_width);
  style.colour = colours_wanted(STDOUT_FILENO);
  style.verbosity = options.verbosity;
  return style;
}

int print(const Options& options, const Result& result, std::ostream& out) {
  if (options.json_file) write_file_atomically(*options.json_file, render_result(result));
  out << (options.format == OutputFormat::json ? render_result(result)
                                               : render_text(result, text_style(options)));
  out.flush();
  if (result.error) {
    const ErrorRow& error = *result.error;
    std::cerr << "stab: "
              << Error(error.kind, error.what, error.subject, error.why, error.hint).what() << "\n";
  }
  return result.exit_status;
}

int print_explanation(const Options& options, const Result& result, std::ostream& out) {
  out << (options.format == OutputFormat::json ? render_result(result)
                                               : render_explanation(result, text_style(options)));
  out.flush();
  return 0;
}

}  // namespace

int run(const Options& options, std::ostream& out) {
  const std::unique_ptr<Progress> progress = make_progress();
  switch (options.kind) {
    case JobKind::doctor:
      return doctor(options, *progress, interrupted, out);
    case JobKind::unlock:
      return unlock_device(options, *progress, interrupted, out);
    case JobKind::clean:
      return clean_device(options, *progress, interrupted, out);
    case JobKind::explain: {
      Options from_traces = options;
      from_traces.profile = false;
      return print_explanation(options, explain(from_traces, *progress, interrupted), out);
    }
    case JobKind::compare:
      return compare(options, out);
    case JobKind::verify:
      return print(options, verify(options, *progress, interrupted), out);
    default:
      return print(options, schedule(options, *progress, interrupted), out);
  }
}

}  // namespace stab
