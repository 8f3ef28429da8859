// SPDX-License-Identifier: Apache-2.0
// What the report says in words: intervals, gains, plans and their proofs.
#pragma once

#include <optional>
#include <string>

#include "stab/core/result.h"

namespace stab {

/// True when the user fixed operations: then no plan is what a backend does by itself.
bool has_pins(const Result& result);

/// "9.8 ms to 10.4 ms"; empty without an interval.
std::string interval_words(const std::optional<Interval>& interval);

/// "12.3 % faster than X (10.1 % to 14.0 %)", "3.2 times slower than X (…)", "within noise of X".
/// Empty without a speedup.
std::string gain_words(const std::optional<Interval>& speedup, const std::string& over);

/// "all on ruy", "noise-averse", "today".
std::string plan_name(const Result& result, const Plan& plan);

std::string applied_words(const Result& result, const Plan& plan);
std::string equal_words(const EqualProof& proof);
std::string faster_words(const Result& result, const Plan& plan);

}  // namespace stab
