// SPDX-License-Identifier: Apache-2.0
#include "app/deciding.h"

#include <algorithm>
#include <cmath>

#include "stab/core/error.h"
#include "stab/core/schedule_keys.h"

namespace stab {
namespace {

/// Calibration runs of the optimum, and of the one that its own times lead to.
constexpr const char* k_check = "optimum";
constexpr const char* k_check_again = "optimum-2";
/// A prediction that is further off lets the run's own times re-enter.
constexpr double k_prediction_percent = 5;

bool has_times(const Measured& measured, const Timings& timings) {
  return std::any_of(measured.singles.begin(), measured.singles.end(), [&](const Single& single) {
    const LabelTiming* label = timings.find_label(single.label);
    return label != nullptr && label->graph_us;
  });
}

std::vector<std::string> labels_of(const std::vector<Single>& singles) {
  std::vector<std::string> labels;
  for (const Single& single : singles) labels.push_back(single.label);
  return labels;
}

}  // namespace

RuntimeKeys keys_for(const Options& options, const Placement& placement, int threads,
                     const std::optional<std::string>& planner,
                     const std::optional<GreedyForm>& form) {
  KeyRequest request;
  request.placement = placement;
  request.backends = options.backends;
  request.threads = threads;
  request.memory_planner = planner;
  request.set = options.set;
  request.greedy = form;
  return schedule_keys(request);
}

void Deciding::start(const Measured& measured) {
  choose_threads(measured);
  // With one number of threads that was asked for it has just been decided.
  if (timings_by_threads_.size() > 1 || threads_ != timing_threads_) decide_plans(measured);
}

void Deciding::calibrate(Measured& measured, const RunMixes& run) {
  std::vector<Single> mixes;
  for (const CalibrationRun& wanted : decision_.calibration())
    mixes.push_back({"mix" + std::to_string(mixes.size() + 1), "", wanted.placement});
  if (!mixes.empty()) {
    run(mixes);
    decide_again(measured);
  }
  const Plan* optimum = plan_of(PlanKind::optimum);
  if (optimum != nullptr && is_mixed(*optimum)) {
    run({{k_check, "", optimum->placement}});
    decide_again(measured);
  }
  check_prediction(measured, run);
}

/// What was asked for in the calibration runs of a label; none when they failed or there are
/// none.
std::optional<Placement> Deciding::calibrated(const Measured& measured,
                                              const std::string& label) const {
  for (const RunTrace& run : measured.loaded.runs) {
    if (run.run.kind == RunKind::calibrate && run.run.label == label &&
        run.run.threads == timing_threads_ && run.run.status == RunStatus::ok)
      return run.run.placement;
  }
  return std::nullopt;
}

void Deciding::check_prediction(Measured& measured, const RunMixes& run) {
  warn_about_mixes(measured);
  const auto first = calibrated(measured, k_check);
  if (!first) return;
  std::optional<double> error = prediction_error(*first, k_check);
  if (error && std::abs(*error) > k_prediction_percent) {
    reenter_ = {k_check};
    decide_again(measured);
    if (const auto moved = check_moved_optimum(*first, measured, run)) error = moved;
  }
  decision_.certificate.prediction_error_percent = error;
}

std::optional<double> Deciding::check_moved_optimum(const Placement& first, Measured& measured,
                                                    const RunMixes& run) {
  const Plan* optimum = plan_of(PlanKind::optimum);
  if (optimum == nullptr || optimum->placement == first || !is_mixed(*optimum)) return std::nullopt;
  if (run) {
    run({{k_check_again, "", optimum->placement}});
    decide_again(measured);
  }
  const auto second = calibrated(measured, k_check_again);
  return second ? prediction_error(*second, k_check_again) : std::nullopt;
}

void Deciding::warn_about_mixes(const Measured& measured) {
  double worst = 0;
  for (int number = 1;; ++number) {
    const std::string label = "mix" + std::to_string(number);
    const auto placement = calibrated(measured, label);
    if (!placement) break;
    const auto error = prediction_error(*placement, label);
    if (error && std::abs(*error) > std::abs(worst)) worst = *error;
  }
  if (std::abs(worst) <= k_prediction_percent) return;
  warnings_.push_back({"mixes_off", Severity::info, "calibration",
                       "the costs predict a mixed run with an error of up to " +
                           std::to_string(std::lround(worst)) + " %",
                       ""});
}

const Plan* Deciding::plan_of(PlanKind kind) const {
  for (const Plan& plan : decision_.plans) {
    if (plan.kind == kind) return &plan;
  }
  return nullptr;
}

/// Not what any single backend does alone.
bool Deciding::is_mixed(const Plan& plan) const {
  return std::none_of(decision_.plans.begin(), decision_.plans.end(), [&](const Plan& other) {
    return other.kind == PlanKind::single && other.placement == plan.placement;
  });
}

void Deciding::decide_again(const Measured& measured) {
  timings_by_threads_[timing_threads_] = summarise(measured.loaded.runs, timing_threads_);
  decide_plans(measured);
}

/// How far the traced run of a placement was from what the costs say, in percent of the run.
std::optional<double> Deciding::prediction_error(const Placement& placement,
                                                 const std::string& label) const {
  const LabelTiming* run = timings().find_label(label, RunKind::calibrate);
  Plan plan;
  plan.placement = placement;
  decision_.price(plan);
  if (run == nullptr || !run->graph_us || !plan.estimate || run->graph_us->median <= 0)
    return std::nullopt;
  return 100 * (plan.estimate->total_us - run->graph_us->median) / run->graph_us->median;
}

std::vector<int> Deciding::measured_threads(const Measured& measured) const {
  std::vector<int> found;
  for (const RunTrace& run : measured.loaded.runs) {
    if (run.run.kind == RunKind::single &&
        std::find(found.begin(), found.end(), run.run.threads) == found.end())
      found.push_back(run.run.threads);
  }
  if (options_.threads.empty()) return found;
  const std::vector<int> all = found;
  std::erase_if(found, [&](int threads) {
    return std::find(options_.threads.begin(), options_.threads.end(), threads) ==
           options_.threads.end();
  });
  if (!found.empty()) return found;
  if (options_.force) return all;
  throw Error(ErrorKind::input, "cannot use the traces of", job_.package().name,
              "they were not made with the threads that -n asks for",
              "leaving out -n, --force, or profiling again");
}

double Deciding::estimate_of(const std::string& plan_id) const {
  const Plan* plan = find_plan(decision_.plans, plan_id);
  return plan != nullptr && plan->estimate ? plan->estimate->total_us : HUGE_VAL;
}

/// The number of threads whose plan is estimated fastest; the times of all are reported.
void Deciding::choose_threads(const Measured& measured) {
  std::optional<std::pair<double, int>> best;
  for (const int threads : measured_threads(measured)) {
    Timings& timings = timings_by_threads_[threads] = summarise(measured.loaded.runs, threads);
    if (!has_times(measured, timings)) continue;
    timing_threads_ = threads_ = threads;
    decide_plans(measured);
    const double us = estimate_of(decision_.preferred);
    if (!best || us < best->first) best = {us, threads};
  }
  if (!best)
    throw Error(options_.profile ? ErrorKind::device : ErrorKind::input, "cannot schedule",
                job_.package().name, "no backend has a time for the whole graph");
  timing_threads_ = threads_ = best->second;
  if (options_.threads.empty() || std::find(options_.threads.begin(), options_.threads.end(),
                                            best->second) != options_.threads.end())
    return;
  threads_ = options_.threads.front();
  warnings_.push_back({"other_threads", Severity::warning, job_.package().name,
                       "its times are those of " + std::to_string(timing_threads_) +
                           " threads, and it is scheduled for " + std::to_string(threads_),
                       "profiling with -n " + std::to_string(threads_)});
}

void Deciding::decide_plans(const Measured& measured) {
  DecideRequest request;
  const std::vector<std::string> labels = labels_of(measured.singles);
  const AveragedRuns averages = averaged_runs(measured.loaded.runs, timing_threads_, labels);
  request.model = &job_.model;
  request.timings = &timings();
  request.averages = &averages;
  request.op_list = job_.op_list;
  request.pins = job_.pins;
  request.discovered = measured.discovered;
  request.algorithm = options_.algorithm;
  request.previous = job_.previous;
  request.baseline = baseline_;
  request.make_keys = [this](const Placement& placement, const std::optional<std::string>& planner,
                             const std::optional<GreedyForm>& form) {
    return keys_for(options_, placement, threads_, planner, form);
  };
  for (const Single& single : measured.singles) {
    const LabelTiming* label = timings().find_label(single.label);
    if (label == nullptr || !label->graph_us) continue;
    request.singles.push_back(
        {single.label, single.backend, single.placement, label->graph_us->median});
    if (std::find(request.backends.begin(), request.backends.end(), single.backend) ==
        request.backends.end())
      request.backends.push_back(single.backend);
  }
  request.runs = measured.loaded.runs;
  request.reenter = reenter_;
  decision_ = decide(request);
}

}  // namespace stab
