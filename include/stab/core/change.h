// SPDX-License-Identifier: Apache-2.0
// Whether something became faster or slower: within one night by pairs of rounds, or between
// nights.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "stab/core/statistics.h"

namespace stab {

enum class ChangeVerdict { faster, slower, same, unsure };
std::string_view to_string(ChangeVerdict verdict);

/// How a limit on slowing down was met. `unsure`: the interval reaches beyond the limit, but not
/// all of it does.
enum class GateStatus { none, pass, unsure, fail };
std::string_view to_string(GateStatus status);

/// Within this many percent two times are the same for all practical purposes, where no limit says
/// otherwise.
inline constexpr double k_same_percent = 5;

/// How far the same program on the same device differs from night to night (standard deviation of
/// the logarithm, in percent) as long as no baselines show it: the upper end of what boards do
/// after a reboot, in another temperature, with memory laid out anew.
inline constexpr double k_night_percent = 3;

/// That assumption counts as much as so many further nights.
inline constexpr int k_night_weight = 2;

/// Now against then, in percent: +10 is 10 % slower.
struct Change {
  Interval percent;                     ///< 95 %; no bounds where nothing tells the spread
  double p = 1;                         ///< two-sided probability of such a change by chance
  std::optional<double> night_percent;  ///< night-to-night deviation that was reckoned with

  bool operator==(const Change&) const = default;
};

/// Rounds of one night: `now[i]` and `then[i]` are neighbours in time, so whatever the night does
/// to both cancels. Absent like paired_log_interval.
std::optional<Change> change_in_pairs(std::span<const double> now, std::span<const double> then);

/// A night against earlier ones, each given by its round medians. Rounds of one night do not tell
/// how nights differ, so three components of variance are added up: between nights, the rounds of
/// the earlier nights, the rounds of this one. The first is the variance of the earlier nights'
/// means less what their rounds explain, pooled with k_night_percent, which counts as
/// k_night_weight further nights (a scaled inverse chi-squared prior as in Smyth, "Linear models
/// and empirical Bayes methods for assessing differential expression", 2004, with a fixed prior).
/// The sum has degrees of freedom after Satterthwaite ("An approximate distribution of estimates of
/// variance components", 1946), rounded down. Works on logarithms of round medians; `resolution`
/// (of the clock, in the unit of the medians) widens the interval on both sides and stands in for
/// times of 0. Absent without rounds on either side, or with a median that is not above 0 where
/// there is no resolution; without bounds where a single baseline or all nights have one round.
std::optional<Change> change_between_nights(std::span<const std::vector<double>> earlier,
                                            std::span<const double> now, double resolution = 0);

/// slower or faster when the interval leaves zero out, same when it lies within `margin` percent,
/// unsure otherwise and without bounds.
ChangeVerdict judge_change(const std::optional<Change>& change, double margin);

/// Verdicts over many things of one comparison: with 64 operations three would look slower by
/// chance. faster and slower only where Holm's step-down procedure ("A simple sequentially
/// rejective multiple test procedure", 1979) rejects at 5 % for all of them together: it holds
/// however they depend on each other, and operations of one night do.
std::vector<ChangeVerdict> judge_together(std::span<const std::optional<Change>> changes,
                                          double margin);

/// Whether the change crosses `limit` percent: surely (all of the interval above), surely not, or
/// unsure. none without a limit.
GateStatus judge_gate(const std::optional<Change>& change, std::optional<double> limit);

/// Two-sided probability of a value beyond +-t under Student's t distribution; exact for whole
/// degrees of freedom, from 1 on (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_t_two_sided(double t, std::size_t degrees_of_freedom);

}  // namespace stab
