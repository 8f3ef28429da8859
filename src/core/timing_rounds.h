// SPDX-License-Identifier: Apache-2.0
// Parts of the summary of a profile: values of several rounds, and one label's runs as a whole.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "stab/core/timings.h"

namespace stab::timing {

/// Runs of one kind and label, by round.
using Runs = std::vector<const RunTrace*>;

/// Values by round; those of one round are pooled. No round is empty.
using Rounds = std::map<int, std::vector<double>>;

/// Why an operation is no choice; absent when it is one.
std::optional<FixedKind> fixed_kind(const OpTrace& op);

std::vector<RoundMedian> round_medians(const Rounds& rounds);
/// Absent without rounds.
std::optional<Interval> interval_of(const std::vector<RoundMedian>& rounds);

/// `averaged`: none of the runs has samples.
LabelTiming label_timing(const Runs& runs, bool averaged);

}  // namespace stab::timing
