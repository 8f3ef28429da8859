// SPDX-License-Identifier: Apache-2.0
// Measuring, deciding and proving on many simulated devices whose truth is known: what is printed
// has to hold as often as it says.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <random>

#include "app/assemble.h"
#include "stab/app/decide.h"
#include "stab/app/measure.h"
#include "stab/app/prove.h"
#include "stab/core/op_list.h"
#include "stab/core/schedule_keys.h"
#include "support/simulated_device.h"

namespace stab {
namespace {

using test::chain_model;
using test::SimulatedDevice;

constexpr int k_operations = 5;
constexpr int k_rounds = 8;

/// How a device's times scatter.
struct Noise {
  const char* name;
  double round;  ///< of the log factor of a process
  double run;    ///< of each run in it
  double drift;  ///< of the log factor from one process to the next
};

void PrintTo(const Noise& noise, std::ostream* out) {
  *out << noise.name;
}

Placement on_ruy(const std::vector<int>& operations) {
  Placement placement;
  for (const int i : operations) placement[{0, i}] = "ruy";
  return placement;
}

RuntimeKeys make_keys(const Placement& placement, const std::optional<std::string>& planner) {
  KeyRequest keys;
  keys.placement = placement;
  keys.backends = {"cpu", "ruy"};
  keys.memory_planner = planner;
  return schedule_keys(keys);
}

/// One night on one device: profile, decide, prove.
struct Night {
  Night(const Noise& noise, unsigned seed) : device(k_operations, seed) {
    device.round_noise = noise.round;
    device.run_noise = noise.run;
    device.drift_per_trial = noise.drift;
  }

  /// True times between 50 and 200 us; with equal ones both backends take the same.
  void draw_times(unsigned seed, bool equal) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> draw(50, 200);
    for (const char* backend : {"cpu", "ruy"}) {
      std::vector<double>& times = device.true_us[backend];
      times.clear();
      for (int i = 0; i < k_operations; ++i)
        times.push_back(equal ? 100.0 : std::round(draw(random)));
    }
  }

  void run() {
    const MeasureOutcome measured = measure_all();
    std::vector<RunTrace> runs;
    for (const MeasuredRun& run : measured.runs)
      runs.push_back({profile_run(run), run.outcome.trace.value_or(Trace())});
    const Timings timings = summarise(runs, 1);
    DecideRequest request;
    request.model = &model;
    request.timings = &timings;
    request.op_list = parse_op_list("ruy:ReLU", "the op list");
    request.backends = {"cpu", "ruy"};
    request.runs = runs;
    request.make_keys = [](const Placement& placement, const std::optional<std::string>& planner,
                           const std::optional<GreedyForm>&) {
      return make_keys(placement, planner);
    };
    for (const SingleOutcome& single : measured.singles) {
      request.singles.push_back({single.single.label, single.single.backend,
                                 single.single.placement,
                                 timings.find_label(single.single.label)->graph_us->median});
    }
    decision = decide(request);
    prove_all();
  }

  MeasureOutcome measure_all() {
    MeasureRequest request;
    request.model = &model;
    request.operations = operations();
    request.singles = {{"cpu", "cpu", {}}, {"ruy", "ruy", on_ruy({0, 1, 2, 3, 4})}};
    request.runs = 5 * k_rounds;
    request.rounds = request.max_rounds = k_rounds;
    request.make_keys = [](const Placement& placement) {
      return make_keys(placement, std::nullopt);
    };
    return measure(device, request);
  }

  void prove_all() {
    ProofRequest request;
    request.model = &model;
    request.operations = operations();
    request.plans = decision.plans;
    request.backends = {"cpu", "ruy"};
    request.check = false;
    request.runs = 5 * k_rounds;
    request.rounds = k_rounds;
    request.make_keys = decision.make_keys;
    request.price = decision.price;
    proven = prove(device, request);
  }

  static std::vector<OpId> operations() {
    std::vector<OpId> all;
    for (int i = 0; i < k_operations; ++i) all.push_back({0, i});
    return all;
  }

  const Plan& plan(const std::string& id) const {
    for (const Plan& plan : proven.plans) {
      if (plan.id == id) return plan;
    }
    throw std::runtime_error("no plan " + id);
  }

  std::string id_of_cpu() const {
    for (const Plan& plan : decision.plans) {
      if (plan.kind == PlanKind::single && plan.backend == k_cpu) return plan.id;
    }
    return {};
  }

  bool estimate_holds(const std::string& id) const {
    const Estimate& estimate = *plan(id).estimate;
    return estimate.low_us <= true_us(id) && true_us(id) <= estimate.high_us;
  }

  double true_us(const std::string& id) const { return device.true_graph_us(plan(id).placement); }

  Model model = chain_model(k_operations, "ReLU");
  SimulatedDevice device;
  Decision decision;
  ProofOutcome proven;
};

class KnownTruth : public testing::TestWithParam<Noise> {};

/// 1,000 intervals of 95 %: fewer than 930 that hold the truth happen once in 500 times.
constexpr int k_nights = 1000;
constexpr int k_least = 930;

/// The optimum is the smallest of many estimates, which looks better than it is: its interval holds
/// the truth a little less often, and is no verdict for this reason.
constexpr int k_least_of_the_best = 900;

bool holds(const Interval& interval, double truth) {
  return interval.low && interval.high && *interval.low <= truth && truth <= *interval.high;
}

TEST_P(KnownTruth, LiesInTheIntervalsThatArePrinted) {
  // Drift moves the machine itself between profile and proof, which no estimate can know.
  const bool steady = GetParam().drift == 0;
  int of_cpu = 0;
  int of_chosen = 0;
  int gains = 0;
  int gains_printed = 0;
  int slower = 0;
  for (unsigned seed = 1; seed <= k_nights; ++seed) {
    Night night(GetParam(), seed);
    night.draw_times(seed, false);
    night.run();
    const double truth = night.true_us(night.proven.chosen);
    const double truth_of_single = night.true_us(night.proven.baseline);
    of_cpu += night.estimate_holds(night.id_of_cpu());
    of_chosen += night.estimate_holds(night.proven.chosen);
    slower += truth > 1.001 * truth_of_single;
    if (!night.proven.speedup) continue;
    ++gains_printed;
    gains += holds(*night.proven.speedup, truth_of_single / truth);
  }
  if (steady) {
    EXPECT_GE(of_cpu, k_least);
    EXPECT_GE(of_chosen, k_least_of_the_best);
  }
  EXPECT_GE(gains_printed, k_nights / 2);
  EXPECT_GE(gains * k_nights, k_least * gains_printed);
  EXPECT_EQ(slower, 0);
}

TEST_P(KnownTruth, OfEqualBackendsIsNoGainOnAverage) {
  double sum = 0;
  int gains = 0;
  for (unsigned seed = 1; seed <= k_nights; ++seed) {
    Night night(GetParam(), seed);
    night.draw_times(seed, true);
    night.run();
    if (!night.proven.speedup) continue;
    sum += std::log(night.proven.speedup->median);
    ++gains;
  }
  EXPECT_NEAR(sum / k_nights, 0, 0.002);
  EXPECT_LE(gains, k_nights / 20);
}

INSTANTIATE_TEST_SUITE_P(Devices, KnownTruth,
                         testing::Values(Noise{"quiet", 0.002, 0.002, 0},
                                         Noise{"usual", 0.015, 0.01, 0},
                                         Noise{"loud", 0.05, 0.05, 0},
                                         Noise{"heating", 0.015, 0.01, 0.002}),
                         [](const auto& device) { return device.param.name; });

}  // namespace
}  // namespace stab
