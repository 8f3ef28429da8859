// SPDX-License-Identifier: Apache-2.0
#include "stab/app/run.h"

#include <functional>
#include <iostream>

#include "app/assemble.h"
#include "app/deliver.h"
#include "stab/app/compare_job.h"
#include "stab/app/device_jobs.h"
#include "stab/app/pipeline.h"
#include "stab/app/verify.h"
#include "stab/core/report.h"
#include "stab/host/interrupt.h"
#include "stab/host/progress.h"

namespace stab {
namespace {

/// What is known of a result before the job starts.
Result blank_result(const Options& options) {
  Result result;
  result.stab = stab_info();
  result.algorithm = options.algorithm == Algorithm::greedy ? "greedy" : "exact";
  const auto path = std::filesystem::path(options.nnpackage).lexically_normal();
  result.context.package.name =
      path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
  if (result.context.package.name.empty()) result.context.package.name = options.nnpackage.string();
  if (options.threads.size() == 1) result.threads = options.threads.front();
  return result;
}

/// Runs a job that fills a result, and delivers the result however the job ends.
int run_job(const Options& options, std::ostream& out, const std::function<void(Result&)>& job) {
  check_destinations(options);
  Result result = blank_result(options);
  try {
    job(result);
  } catch (const std::exception& failure) {
    deliver_failure(options, failure, result, out);
    throw;
  }
  deliver(options, result, out);
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
      return run_job(options, out,
                     [&](Result& result) { verify(options, *progress, interrupted, result); });
    default:
      return run_job(options, out,
                     [&](Result& result) { schedule(options, *progress, interrupted, result); });
  }
}

}  // namespace stab
