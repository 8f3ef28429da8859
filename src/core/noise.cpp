// SPDX-License-Identifier: Apache-2.0
// The parts of the cost model that know about spread: half-widths of differences, and bounds of
// estimates.
#include <algorithm>
#include <set>

#include "stab/core/cost_model.h"
#include "stab/core/statistics.h"

namespace stab {
namespace {

/// What a time may be off by when nothing is known of its spread.
double assumed_half_width_us(double us) {
  return std::max(2.0, 0.01 * us);
}

double longer_half(const Interval& interval) {
  return std::max(interval.median - *interval.low, *interval.high - interval.median);
}

/// Of one time by itself.
double half_width_us(const OpTiming& timing) {
  return timing.us.low && timing.us.high ? longer_half(timing.us)
                                         : assumed_half_width_us(timing.us.median);
}

double half_width_us(const OpTiming& there, const OpTiming& home) {
  // Rounds of another measurement share nothing with these but the number.
  if (there.kind != home.kind) return half_width_us(there) + half_width_us(home);
  const PairedRounds rounds = pair_rounds(there.rounds, home.rounds);
  const std::optional<Interval> difference =
      paired_difference_interval(rounds.a, rounds.b, k_clock_resolution_us);
  if (!difference || !difference->low || !difference->high)
    return assumed_half_width_us(home.us.median);
  return longer_half(*difference);
}

const OpTiming* find(const OpTimes& times, OpId op, const std::string& backend) {
  const auto of_op = times.find(op);
  if (of_op == times.end()) return nullptr;
  const auto found = of_op->second.find(backend);
  return found == of_op->second.end() ? nullptr : &found->second;
}

/// Sums over operations of the rounds that each of them has; none when they come from measurements
/// that share no rounds.
std::vector<double> sums_by_round(const std::vector<const OpTiming*>& chosen) {
  const auto other_kind = [&](const OpTiming* timing) {
    return timing->kind != chosen.front()->kind;
  };
  if (std::any_of(chosen.begin(), chosen.end(), other_kind)) return {};
  std::map<int, double> sums;
  std::map<int, std::size_t> counts;
  for (const OpTiming* timing : chosen) {
    for (const RoundMedian& round : timing->rounds) {
      sums[round.round] += round.us;
      ++counts[round.round];
    }
  }
  std::vector<double> complete;
  for (const auto& [round, sum] : sums) {
    if (counts[round] == chosen.size()) complete.push_back(sum);
  }
  return complete;
}

void add_bounds(Estimate& estimate, const std::vector<const OpTiming*>& chosen) {
  estimate.low_us = estimate.high_us = estimate.total_us;
  const std::vector<double> sums = sums_by_round(chosen);
  if (const std::optional<Interval> interval = round_interval(sums);
      interval && interval->low && interval->high) {
    estimate.low_us -= interval->median - *interval->low;
    estimate.high_us += *interval->high - interval->median;
  } else {
    for (const OpTiming* timing : chosen) {
      const double assumed = assumed_half_width_us(timing->us.median);
      estimate.low_us -= timing->us.low ? timing->us.median - *timing->us.low : assumed;
      estimate.high_us += timing->us.high ? *timing->us.high - timing->us.median : assumed;
    }
  }
  estimate.low_us = std::max(estimate.low_us, 0.0);
}

}  // namespace

HalfWidths half_widths(const ModelProblem& made, const OpTimes& times) {
  HalfWidths result;
  for (std::size_t i = 0; i < made.ops.size(); ++i) {
    const int home = made.problem.ops[i].preferred;
    std::vector<Ticks>& widths = result.emplace_back(made.backends.size(), 0);
    const OpTiming* home_time = find(times, made.ops[i], made.backends[home]);
    for (int b = 0; b < std::ssize(made.backends); ++b) {
      const OpTiming* time = find(times, made.ops[i], made.backends[b]);
      if (b != home && time != nullptr && home_time != nullptr)
        widths[b] = to_ticks(half_width_us(*time, *home_time));
    }
  }
  return result;
}

PlacementProblem averse(const PlacementProblem& problem, const HalfWidths& half_widths) {
  PlacementProblem charged = problem;
  for (std::size_t i = 0; i < charged.ops.size(); ++i) {
    PlacementOp& op = charged.ops[i];
    for (int b = 0; b < charged.backends; ++b) {
      if (b != op.preferred && op.cost[b] != k_impossible) op.cost[b] += half_widths[i][b];
    }
  }
  return charged;
}

std::optional<Estimate> estimate(const ModelProblem& made, const OpTimes& times,
                                 std::span<const int> placement, double fixed_us,
                                 double overhead_us) {
  const Evaluation evaluation = evaluate(made.problem, placement);
  if (!evaluation.feasible()) return std::nullopt;
  Estimate result;
  result.ops_us = to_us(evaluation.ops) + fixed_us;
  result.copies_us = to_us(evaluation.copies);
  result.overhead_us = overhead_us;
  result.total_us = result.ops_us + result.copies_us + result.overhead_us;
  std::vector<const OpTiming*> chosen;
  for (std::size_t i = 0; i < made.ops.size(); ++i) {
    const OpTiming* time = find(times, made.ops[i], made.backends[placement[i]]);
    if (time != nullptr) chosen.push_back(time);
  }
  add_bounds(result, chosen);
  return result;
}

}  // namespace stab
