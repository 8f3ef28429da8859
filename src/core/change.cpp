// SPDX-License-Identifier: Apache-2.0
#include "stab/core/change.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace stab {
namespace {

constexpr double k_level = 0.05;
/// Far beyond this the normal distribution is as good, and sums over degrees of freedom stay short.
constexpr double k_most_degrees = 10000;

/// Mean of logarithms of one night's rounds, and how sure it is.
struct NightMean {
  double mean = 0;
  std::optional<double> variance;  ///< of the mean, by its rounds
  double degrees = 0;
};

std::optional<NightMean> night_mean(std::span<const double> rounds, double resolution) {
  if (rounds.empty()) return std::nullopt;
  std::vector<double> logs;
  for (const double us : rounds) {
    const double time = std::max(us, resolution / 2);
    if (!(time > 0) || !std::isfinite(time)) return std::nullopt;
    logs.push_back(std::log(time));
  }
  const double count = static_cast<double>(logs.size());
  NightMean night;
  night.mean = std::accumulate(logs.begin(), logs.end(), 0.0) / count;
  night.degrees = count - 1;
  if (logs.size() < 2) return night;
  double squares = 0;
  for (const double log : logs) squares += (log - night.mean) * (log - night.mean);
  night.variance = squares / night.degrees / count;
  return night;
}

/// A part of a variance that was estimated with so many degrees of freedom.
struct Component {
  double variance = 0;
  double degrees = 1;
};

std::size_t satterthwaite(std::span<const Component> components) {
  double sum = 0;
  double weights = 0;
  for (const Component& part : components) {
    sum += part.variance;
    if (part.variance > 0) weights += part.variance * part.variance / part.degrees;
  }
  const double degrees = weights > 0 ? sum * sum / weights : k_most_degrees;
  return static_cast<std::size_t>(std::clamp(std::floor(degrees), 1.0, k_most_degrees));
}

double percent_of(double log_ratio) {
  return 100 * std::expm1(log_ratio);
}

/// What the earlier nights have in common.
struct Nights {
  double mean = 0;                  ///< of the nights' means
  double between = 0;               ///< variance of those means around it
  std::optional<double> by_rounds;  ///< what a night's own rounds explain of that
  double round_degrees = 0;
};

Nights summarise(std::span<const NightMean> nights) {
  Nights all;
  double with_variance = 0;
  double sum = 0;
  for (const NightMean& night : nights) {
    all.mean += night.mean / static_cast<double>(nights.size());
    if (!night.variance) continue;
    sum += *night.variance;
    with_variance += 1;
    all.round_degrees += night.degrees;
  }
  if (with_variance > 0) all.by_rounds = sum / with_variance;
  for (const NightMean& night : nights)
    all.between += (night.mean - all.mean) * (night.mean - all.mean);
  if (nights.size() > 1) all.between /= static_cast<double>(nights.size() - 1);
  return all;
}

/// Variance from night to night: what the means show beyond their rounds, pooled with what is
/// assumed.
Component night_to_night(const Nights& nights, std::size_t count) {
  constexpr double k_prior = k_night_percent / 100 * k_night_percent / 100;
  const double seen = std::max(0.0, nights.between - nights.by_rounds.value_or(0));
  const double degrees = static_cast<double>(count - 1);
  return {(k_night_weight * k_prior + degrees * seen) / (k_night_weight + degrees),
          k_night_weight + degrees};
}

/// Probability within +-t, by the finite sums for whole degrees of freedom.
double middle_part(double t, std::size_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = degrees == 1 ? 0 : term;
  for (std::size_t k = odd ? 3 : 2; k + 1 < degrees; k += 2) {
    term *= static_cast<double>(k - 1) / static_cast<double>(k) * cosine * cosine;
    sum += term;
  }
  return odd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

}  // namespace

std::string_view to_string(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::faster:
      return "faster";
    case ChangeVerdict::slower:
      return "slower";
    case ChangeVerdict::same:
      return "same";
    case ChangeVerdict::unsure:
      return "unsure";
  }
  return "unsure";
}

std::string_view to_string(GateStatus status) {
  switch (status) {
    case GateStatus::none:
      return "none";
    case GateStatus::pass:
      return "pass";
    case GateStatus::unsure:
      return "unsure";
    case GateStatus::fail:
      return "fail";
  }
  return "none";
}

double student_t_two_sided(double t, std::size_t degrees_of_freedom) {
  const std::size_t degrees = std::max<std::size_t>(degrees_of_freedom, 1);
  return std::clamp(1 - middle_part(std::fabs(t), degrees), 0.0, 1.0);
}

std::optional<Change> change_in_pairs(std::span<const double> now, std::span<const double> then) {
  const auto ratio = paired_log_interval(now, then);
  if (!ratio) return std::nullopt;
  const auto percent = [](double factor) { return 100 * (factor - 1); };
  Change change;
  change.percent.median = percent(ratio->median);
  if (!ratio->low || !ratio->high) return change;
  change.percent.low = percent(*ratio->low);
  change.percent.high = percent(*ratio->high);
  const double half = (std::log(*ratio->high) - std::log(*ratio->low)) / 2;
  const double middle = (std::log(*ratio->high) + std::log(*ratio->low)) / 2;
  const std::size_t degrees = now.size() - 1;
  if (half > 0)
    change.p = student_t_two_sided(middle / half * student_t_975(degrees), degrees);
  else
    change.p = middle == 0 ? 1 : 0;
  return change;
}

std::optional<Change> change_between_nights(std::span<const std::vector<double>> earlier,
                                            std::span<const double> now, double resolution) {
  std::vector<NightMean> nights;
  for (const std::vector<double>& rounds : earlier) {
    const auto night = night_mean(rounds, resolution);
    if (!night) return std::nullopt;
    nights.push_back(*night);
  }
  const auto tonight = night_mean(now, resolution);
  if (!tonight || nights.empty()) return std::nullopt;
  const Nights before = summarise(nights);
  const double difference = tonight->mean - before.mean;
  Change change;
  change.percent.median = percent_of(difference);
  if (!before.by_rounds && (nights.size() == 1 || !tonight->variance)) return change;

  const double count = static_cast<double>(nights.size());
  const Component night = night_to_night(before, nights.size());
  change.night_percent = 100 * std::sqrt(night.variance);
  std::vector<Component> parts = {{night.variance * (1 + 1 / count), night.degrees}};
  if (before.by_rounds) parts.push_back({*before.by_rounds / count, before.round_degrees});
  if (tonight->variance) {
    parts.push_back({*tonight->variance, tonight->degrees});
  } else {
    parts.push_back({*before.by_rounds, before.round_degrees});
  }
  double variance = 0;
  for (const Component& part : parts) variance += part.variance;
  const std::size_t degrees = satterthwaite(parts);
  const double error = std::sqrt(variance);
  const double blur = resolution / std::exp(std::min(before.mean, tonight->mean));
  const double half = student_t_975(degrees) * error + blur;
  change.percent.low = percent_of(difference - half);
  change.percent.high = percent_of(difference + half);
  change.p = student_t_two_sided(std::max(0.0, std::fabs(difference) - blur) / error, degrees);
  return change;
}

ChangeVerdict judge_change(const std::optional<Change>& change, double margin) {
  if (!change || !change->percent.low || !change->percent.high) return ChangeVerdict::unsure;
  if (*change->percent.low > 0) return ChangeVerdict::slower;
  if (*change->percent.high < 0) return ChangeVerdict::faster;
  if (*change->percent.low >= -margin && *change->percent.high <= margin)
    return ChangeVerdict::same;
  return ChangeVerdict::unsure;
}

std::vector<ChangeVerdict> judge_together(std::span<const std::optional<Change>> changes,
                                          double margin) {
  std::vector<ChangeVerdict> verdicts;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    verdicts.push_back(judge_change(changes[i], margin));
    if (changes[i] && changes[i]->percent.low) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return changes[a]->p < changes[b]->p; });
  bool rejecting = true;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const std::size_t i = order[rank];
    rejecting = rejecting && changes[i]->p <= k_level / static_cast<double>(order.size() - rank);
    if (rejecting) continue;
    const Interval& percent = changes[i]->percent;
    const bool within = *percent.low >= -margin && *percent.high <= margin;
    verdicts[i] = within ? ChangeVerdict::same : ChangeVerdict::unsure;
  }
  return verdicts;
}

GateStatus judge_gate(const std::optional<Change>& change, std::optional<double> limit) {
  if (!limit) return GateStatus::none;
  if (!change || !change->percent.low || !change->percent.high) return GateStatus::unsure;
  if (*change->percent.low > *limit) return GateStatus::fail;
  return *change->percent.high <= *limit ? GateStatus::pass : GateStatus::unsure;
}

}  // namespace stab
