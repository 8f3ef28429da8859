// SPDX-License-Identifier: Apache-2.0
// Medians, spreads and intervals of times measured in rounds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace stab {

/// The runtime's clock counts whole microseconds, so a time read from a trace is within this of the
/// true one.
inline constexpr double k_clock_resolution_us = 1.0;

/// A value and where it lies with 95 % confidence. The bounds are absent where one measurement says
/// nothing about its own spread.
struct Interval {
  double median = 0;
  std::optional<double> low;
  std::optional<double> high;

  bool operator==(const Interval&) const = default;
};

/// Middle value, or the mean of the two middle ones. Absent for an empty sample, as below.
std::optional<double> median(std::span<const double> sample);

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan, "Sample Quantiles in
/// Statistical Packages", 1996). `p` from 0 to 1.
std::optional<double> quantile(std::span<const double> sample, double p);

/// 0 when one value is 0; absent when one is negative.
std::optional<double> geometric_mean(std::span<const double> sample);

/// Median distance from the median.
std::optional<double> median_absolute_deviation(std::span<const double> sample);

/// How many values have a modified z-score above 3.5 (Iglewicz and Hoaglin, "How to Detect and
/// Handle Outliers", 1993): 0.6745 times the distance from the median over the median absolute
/// deviation. Where that is below `resolution` the mean absolute deviation over 1.2533 stands in,
/// as they advise; distances up to `resolution` never count.
std::size_t outlier_count(std::span<const double> sample, double resolution = 0);

/// 97.5 % quantile of Student's t distribution, from 1 degree of freedom on: what two-sided 95 %
/// intervals need. Up to 30 from the table of the NIST/SEMATECH e-Handbook (1.3.6.7.2), above by
/// the expansion of Abramowitz and Stegun, 26.7.5 (error below 1e-6).
double student_t_975(std::size_t degrees_of_freedom);

/// Median of the medians of rounds with a 95 % Student t interval of the mean of their logarithms.
/// Rounds are independent, the runs within one are not. Where a round's median is 0 logarithms say
/// nothing, so the interval is that of the plain mean, not below 0. Widened to hold the median
/// itself and `resolution`/2 on both sides: equal readings of a coarse clock are no proof of equal
/// times. Absent without rounds; without bounds for one round.
std::optional<Interval> round_interval(std::span<const double> round_medians,
                                       double resolution = 0);

/// Ratio a/b by paired rounds: the median of the ratios (its logarithm, to be exact) with a 95 %
/// Student t interval of the mean difference of logarithms, widened to hold the median. `a[i]` and
/// `b[i]` are of the same round. Absent when the sizes differ or are 0, or a median is not above 0;
/// without bounds for one round.
std::optional<Interval> paired_log_interval(std::span<const double> a, std::span<const double> b);

/// The same for the difference a - b in plain units, for which zeros are no trouble; widened by
/// `resolution` on both sides.
std::optional<Interval> paired_difference_interval(std::span<const double> a,
                                                   std::span<const double> b,
                                                   double resolution = 0);

/// How far the medians moved from the first to the last round, in percent: Theil and Sen's slope
/// (the median of the slopes between all pairs of rounds; Sen 1968) of log medians, times the
/// rounds between. Absent below three rounds or where a median is 0.
std::optional<double> drift_percent(std::span<const double> round_medians);

/// Standard deviation of log medians between rounds, in percent. Absent below two rounds or where a
/// median is 0.
std::optional<double> between_rounds_percent(std::span<const double> round_medians);

/// The longer half of an interval in percent of its median. Absent without bounds or at a median of
/// 0.
std::optional<double> half_width_percent(const Interval& interval);

}  // namespace stab
