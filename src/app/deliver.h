// SPDX-License-Identifier: Apache-2.0
// Where a result goes: standard output and the files that were asked for.
#pragma once

#include <exception>
#include <ostream>

#include "stab/app/options.h"
#include "stab/core/report.h"

namespace stab {

/// How text looks on standard output: the terminal's width, else COLUMNS, else 100 columns.
TextStyle text_style(const Options& options);

/// Throws Error(output) where a file that was asked for cannot be written, before anything is
/// measured for it.
void check_destinations(const Options& options);

/// Writes each file that was asked for, whole or not at all, and prints what belongs on `out`: the
/// file named "-", or the report. All files are tried; throws the Error(output) of the first that
/// failed.
void deliver(const Options& options, const Result& result, std::ostream& out);

/// The same for a job that threw: what stands in `result` so far, its outcome and error from
/// `failure`. Prints the text report's talk nowhere, JSON and "-" as ever. A file that cannot be
/// written is only mentioned: the job's own error says more.
void deliver_failure(const Options& options, const std::exception& failure, Result& result,
                     std::ostream& out);

}  // namespace stab
