// SPDX-License-Identifier: Apache-2.0
#include "stab/core/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace stab {
namespace {

double mean(std::span<const double> sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

// Of a sample, not of a population; at least two values.
double standard_deviation(std::span<const double> sample) {
  const double centre = mean(sample);
  double squares = 0;
  for (const double value : sample) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(sample.size() - 1));
}

bool all_positive(std::span<const double> sample) {
  return std::all_of(sample.begin(), sample.end(), [](double value) { return value > 0; });
}

std::vector<double> logarithms(std::span<const double> sample) {
  std::vector<double> logs;
  logs.reserve(sample.size());
  for (const double value : sample) logs.push_back(std::log(value));
  return logs;
}

// 95 % interval of the mean with the sample's own median; no bounds below two values.
Interval mean_interval(std::span<const double> sample) {
  Interval interval{*median(sample), {}, {}};
  if (sample.size() < 2) return interval;
  const double half = student_t_975(sample.size() - 1) * standard_deviation(sample) /
                      std::sqrt(static_cast<double>(sample.size()));
  interval.low = mean(sample) - half;
  interval.high = mean(sample) + half;
  return interval;
}

// Sets `centre` as the median and makes the bounds hold it with `margin` on both sides.
Interval widened(Interval interval, double centre, double margin) {
  interval.median = centre;
  if (interval.low) interval.low = std::min(*interval.low, centre - margin);
  if (interval.high) interval.high = std::max(*interval.high, centre + margin);
  return interval;
}

Interval exponential(Interval interval) {
  interval.median = std::exp(interval.median);
  if (interval.low) interval.low = std::exp(*interval.low);
  if (interval.high) interval.high = std::exp(*interval.high);
  return interval;
}

}  // namespace

std::optional<double> median(std::span<const double> sample) {
  return quantile(sample, 0.5);
}

std::optional<double> quantile(std::span<const double> sample, double p) {
  if (sample.empty()) return std::nullopt;
  std::vector<double> sorted(sample.begin(), sample.end());
  const double place = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(std::floor(place));
  const auto at = sorted.begin() + below;
  std::nth_element(sorted.begin(), at, sorted.end());
  const double fraction = place - std::floor(place);
  if (fraction == 0) return *at;
  const double above = *std::min_element(at + 1, sorted.end());
  return *at + fraction * (above - *at);
}

std::optional<double> geometric_mean(std::span<const double> sample) {
  if (sample.empty() || std::any_of(sample.begin(), sample.end(), [](double v) { return v < 0; })) {
    return std::nullopt;
  }
  if (!all_positive(sample)) return 0.0;
  return std::exp(mean(logarithms(sample)));
}

std::optional<double> median_absolute_deviation(std::span<const double> sample) {
  const auto centre = median(sample);
  if (!centre) return std::nullopt;
  std::vector<double> distances;
  distances.reserve(sample.size());
  for (const double value : sample) distances.push_back(std::abs(value - *centre));
  return median(distances);
}

std::size_t outlier_count(std::span<const double> sample, double resolution) {
  const auto centre = median(sample);
  if (!centre) return 0;
  std::vector<double> distances;
  distances.reserve(sample.size());
  for (const double value : sample) distances.push_back(std::abs(value - *centre));
  double scale = *median(distances) / 0.6745;
  if (scale == 0 || scale * 0.6745 < resolution) scale = std::max(scale, mean(distances) * 1.2533);
  return static_cast<std::size_t>(std::count_if(
      distances.begin(), distances.end(),
      [&](double distance) { return distance > resolution && distance > 3.5 * scale; }));
}

double student_t_975(std::size_t degrees_of_freedom) {
  static constexpr std::array<double, 30> k_table = {
      12.7062047, 4.3026527, 3.1824463, 2.7764451, 2.5705818, 2.4469119, 2.3646243, 2.3060041,
      2.2621572,  2.2281389, 2.2009852, 2.1788128, 2.1603687, 2.1447867, 2.1314495, 2.1199053,
      2.1098156,  2.1009220, 2.0930241, 2.0859634, 2.0796138, 2.0738731, 2.0686576, 2.0638986,
      2.0595386,  2.0555294, 2.0518305, 2.0484071, 2.0452296, 2.0422725};
  if (degrees_of_freedom <= k_table.size())
    return k_table.at(std::max<std::size_t>(degrees_of_freedom, 1) - 1);
  const double n = static_cast<double>(degrees_of_freedom);
  const double x = 1.959963985;
  const double x2 = x * x;
  const double g1 = (x2 + 1) * x / 4;
  const double g2 = ((5 * x2 + 16) * x2 + 3) * x / 96;
  const double g3 = (((3 * x2 + 19) * x2 + 17) * x2 - 15) * x / 384;
  const double g4 = ((((79 * x2 + 776) * x2 + 1482) * x2 - 1920) * x2 - 945) * x / 92160;
  return x + g1 / n + g2 / (n * n) + g3 / (n * n * n) + g4 / (n * n * n * n);
}

std::optional<Interval> round_interval(std::span<const double> round_medians, double resolution) {
  const auto centre = median(round_medians);
  if (!centre) return std::nullopt;
  const bool plain = !all_positive(round_medians);
  const Interval interval =
      plain ? mean_interval(round_medians) : exponential(mean_interval(logarithms(round_medians)));
  Interval wide = widened(interval, *centre, resolution / 2);
  if (wide.low) wide.low = std::max(*wide.low, std::min(0.0, *centre));
  return wide;
}

std::optional<Interval> paired_log_interval(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size() || a.empty() || !all_positive(a) || !all_positive(b))
    return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(std::log(a[i]) - std::log(b[i]));
  const Interval interval = mean_interval(differences);
  return exponential(widened(interval, interval.median, 0));
}

std::optional<Interval> paired_difference_interval(std::span<const double> a,
                                                   std::span<const double> b, double resolution) {
  if (a.size() != b.size() || a.empty()) return std::nullopt;
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const Interval interval = mean_interval(differences);
  return widened(interval, interval.median, resolution);
}

std::optional<double> drift_percent(std::span<const double> round_medians) {
  if (round_medians.size() < 3 || !all_positive(round_medians)) return std::nullopt;
  const std::vector<double> logs = logarithms(round_medians);
  std::vector<double> slopes;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t j = i + 1; j < logs.size(); ++j) {
      slopes.push_back((logs[j] - logs[i]) / static_cast<double>(j - i));
    }
  }
  return 100 * std::expm1(*median(slopes) * static_cast<double>(logs.size() - 1));
}

std::optional<double> between_rounds_percent(std::span<const double> round_medians) {
  if (round_medians.size() < 2 || !all_positive(round_medians)) return std::nullopt;
  return 100 * standard_deviation(logarithms(round_medians));
}

std::optional<double> half_width_percent(const Interval& interval) {
  if (!interval.low || !interval.high || interval.median == 0) return std::nullopt;
  const double half = std::max(interval.median - *interval.low, *interval.high - interval.median);
  return 100 * half / interval.median;
}

}  // namespace stab
