// SPDX-License-Identifier: Apache-2.0
// From measurements to a decision that was checked: the number of threads, the plans, and how well
// mixed runs were predicted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/measured.h"
#include "stab/app/decide.h"
#include "stab/app/job.h"

namespace stab {

/// The complete keys of a placement under these options.
RuntimeKeys keys_for(const Options& options, const Placement& placement, int threads,
                     const std::optional<std::string>& planner,
                     const std::optional<GreedyForm>& form);

class Deciding {
 public:
  /// Runs mixed placements on the device; what they tell is added to the measurement.
  using RunMixes = std::function<void(const std::vector<Single>& mixes)>;

  /// `baseline`: the plan of an earlier result, which joins the candidates.
  Deciding(const Options& options, const Job& job, std::optional<Plan> baseline)
      : options_(options), job_(job), baseline_(std::move(baseline)) {}

  /// Chooses the number of threads and decides for it. Throws Error(device) or, without one,
  /// Error(input) when no backend has a time.
  void start(const Measured& measured);
  /// Measures what copies cost and how fast the optimum really is, and decides again.
  void calibrate(Measured& measured, const RunMixes& run);
  /// Compares each mixed run with its prediction. Where the optimum's is too far off its own times
  /// re-enter once; an optimum that moves for this reason has a run of its own (with `run`, else it
  /// is looked for among the recorded ones).
  void check_prediction(Measured& measured, const RunMixes& run);

  const Decision& decision() const { return decision_; }
  int threads() const { return threads_; }  ///< of the schedule that is written
  /// Whose times decide; other than `threads` only when that was forced.
  int timing_threads() const { return timing_threads_; }
  const Timings& timings() const { return timings_by_threads_.at(timing_threads_); }
  const std::map<int, Timings>& timings_by_threads() const { return timings_by_threads_; }
  const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  std::vector<int> measured_threads(const Measured& measured) const;
  void choose_threads(const Measured& measured);
  void decide_plans(const Measured& measured);
  void decide_again(const Measured& measured);
  double estimate_of(const std::string& plan_id) const;
  const Plan* plan_of(PlanKind kind) const;
  bool is_mixed(const Plan& plan) const;
  std::optional<Placement> calibrated(const Measured& measured, const std::string& label) const;
  std::optional<double> prediction_error(const Placement& placement,
                                         const std::string& label) const;
  std::optional<double> check_moved_optimum(const Placement& first, Measured& measured,
                                            const RunMixes& run);
  void warn_about_mixes(const Measured& measured);

  const Options& options_;
  const Job& job_;
  std::optional<Plan> baseline_;
  std::map<int, Timings> timings_by_threads_;
  int timing_threads_ = 1;
  int threads_ = 1;
  std::vector<std::string> reenter_;  ///< labels of mixed runs whose own times count
  Decision decision_;
  std::vector<Warning> warnings_;
};

}  // namespace stab
