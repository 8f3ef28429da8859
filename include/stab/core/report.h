// SPDX-License-Identifier: Apache-2.0
// The report for people: one text from one Result.
#pragma once

#include <cstddef>
#include <string>

#include "stab/core/result.h"

namespace stab {

struct TextStyle {
  int width = 80;  ///< columns; long lines are shortened in the middle of their least telling part
  bool colour = false;
  int verbosity = 0;  ///< 1: every operation instead of the ten that matter most
};

/// The whole report, ending with the line that says what was written, how to run it, and how sure
/// that is.
std::string render_text(const Result& result, const TextStyle& style);

/// Breaks a sentence at blanks so that each line fits into `width` columns; following lines start
/// under `indent`.
std::string wrap_text(const std::string& text, std::size_t indent, int width);

/// Why the plan is as it is: each operation's alternatives with what a change would cost in
/// company, the copies paid, the operations that cause most switches, the certificate.
std::string render_explanation(const Result& result, const TextStyle& style);

/// The operations as CSV (RFC 4180, UTF-8, decimal points): a line for each in order, with its
/// backend, and for each backend that was measured its median, the interval around it, and what the
/// whole plan would take if this operation alone moved there. Unknown is empty.
std::string render_csv(const Result& result);

/// JUnit's XML for CI servers: the job, each proof of the chosen plan and the gate as test cases. A
/// job that ended early is an error, a proof that fails a failure, one that was left out skipped.
std::string render_junit(const Result& result);

/// One HTML file that needs nothing else, no script either: summary, backends, operations, samples,
/// copies, conditions, warnings, proofs, as charts and tables. Well-formed XML, too.
std::string render_html(const Result& result);

/// "optimal for the measured costs (dynamic programming, width 3), prediction off by 2.1 %"; empty
/// without one.
std::string render_certificate(const CertificateRow& row);

/// "43.8 ms", "812 us", "1.23 s": three significant digits.
std::string render_time(double us);

/// The final line alone: proven, estimated or written only, and the gain.
std::string render_verdict(const Result& result);

}  // namespace stab
