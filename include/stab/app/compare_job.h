// SPDX-License-Identifier: Apache-2.0
// Comparing with earlier results: files against a file, and the baseline of a run.
#pragma once

#include <filesystem>
#include <ostream>

#include "stab/app/options.h"
#include "stab/core/compare.h"
#include "stab/core/result.h"

namespace stab {

/// Reads a result or a stab.json. Throws Error(input).
EarlierResult read_earlier_result(const std::filesystem::path& file);

/// Throws Error(input) naming every difference that makes times of the two say nothing about each
/// other.
void refuse_other_circumstances(const EarlierResult& earlier, const Circumstances& now);

/// The error that a gate ends a job with; absent when it does not. An unsure gate ends it only with
/// --strict.
std::optional<ErrorRow> gate_error(const Comparison& comparison, bool strict);

/// Fills the result's comparison, warns, and sets its error and exit status where the gate asks for
/// it. `then` is the baseline's plan as it was timed in the same rounds as `now`'s; null: file
/// against file.
void add_comparison(const EarlierResult& baseline, const EarlierResult& now, const Plan* then,
                    const Options& options, Result& result);

/// `stab compare OLD.json … NEW.json`: prints the comparison, returns the exit status.
int compare(const Options& options, std::ostream& out);

}  // namespace stab
