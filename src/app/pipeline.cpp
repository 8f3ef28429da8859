// SPDX-License-Identifier: Apache-2.0
#include "stab/app/pipeline.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/assemble.h"
#include "app/measured.h"
#include "app/stopwatch.h"
#include "stab/app/compare_job.h"
#include "stab/app/decide.h"
#include "stab/app/job.h"
#include "stab/app/measure.h"
#include "stab/app/profile_store.h"
#include "stab/app/prove.h"
#include "stab/app/workbench.h"
#include "stab/core/error.h"
#include "stab/core/schedule_keys.h"
#include "stab/device/shell.h"

namespace stab {
namespace {

/// Calibration runs of the optimum, and of the one that its own times lead to.
constexpr const char* k_check = "optimum";
constexpr const char* k_check_again = "optimum-2";
/// A prediction that is further off lets the run's own times re-enter.
constexpr double k_prediction_percent = 5;
constexpr int k_calibration_rounds = 3;

class Scheduling {
 public:
  Scheduling(const Options& options, Progress& progress, const StopRequested& stop, Result& result)
      : options_(options),
        progress_(progress),
        stop_(stop),
        result_(result),
        clock_(result_.stages) {}

  /// The plan alone, for people who want to know why.
  void explain() {
    result_.algorithm = options_.algorithm == Algorithm::greedy ? "greedy" : "exact";
    job_ = prepare(options_);
    Measured measured = read_back(job_, options_);
    choose_threads(measured);
    decide_plans(measured);
    check_prediction(measured);
    fill_result(measured);
    take_without_device();
    const Plan& chosen = *result_.find_plan(result_.chosen);
    finish_choice(chosen, decision_, result_);
    for (const SwitchCause& cause : decision_.causes(chosen.placement))
      result_.causes.push_back({cause.op, cause.switches, cause.copies_us});
  }

  void run() {
    result_.stab = stab_info();
    result_.algorithm = options_.algorithm == Algorithm::greedy ? "greedy" : "exact";
    clock_.start("check");
    progress_.update("check", 0, 0, options_.nnpackage.string());
    job_ = prepare(options_);
    result_.context.package = package_info(job_.package());
    result_.context.model = model_info(job_);
    result_.context.settings = settings_of(options_, job_);
    open_baseline();
    check_stop();
    Measured measured = options_.profile ? measure_on_device() : read_back(job_, options_);
    check_stop();
    choose_threads(measured);
    if (!options_.profile) check_baseline(measured.loaded.profile.context, result_.threads);
    clock_.start("decide");
    decide_plans(measured);
    if (bench_) {
      clock_.start("calibrate");
      calibrate(measured);
      finish_profile(measured);
    } else {
      check_prediction(measured);
    }
    fill_result(measured);
    if (bench_) {
      clock_.start("prove");
      prove_plans();
    } else {
      take_without_device();
    }
    compare_with_baseline();
    check_stop();
    clock_.start("write");
    write();
    clock_.stop();
    progress_.clear();
  }

 private:
  /// What runs on the device ends by itself; between the stages somebody has to look.
  void check_stop() const {
    if (stop_ && stop_())
      throw Error(ErrorKind::interrupted, "stopped while scheduling", job_.package().name,
                  "you asked for it");
  }

  RuntimeKeys keys_for(const Placement& placement, int threads,
                       const std::optional<std::string>& planner,
                       const std::optional<GreedyForm>& form = {}) const {
    KeyRequest request;
    request.placement = placement;
    request.backends = options_.backends;
    request.threads = threads;
    request.memory_planner = planner;
    request.set = options_.set;
    request.greedy = form;
    return schedule_keys(request);
  }

  Measured measure_on_device() {
    clock_.start("connect");
    progress_.update("connect", 0, 0, options_.ip);
    bench_ = std::make_unique<Workbench>(options_, job_, progress_, stop_);
    result_.context = make_context();
    if (baseline_) check_baseline(make_context(), baseline_->threads);
    clock_.watch([this] { return bench_->target().use(); });
    clock_.start("upload");
    bench_->upload();
    clock_.start("profile");
    return profile();
  }

  Context make_context() const {
    Context context;
    context.package = package_info(job_.package());
    context.model = model_info(job_);
    context.runtime = bench_->target().runtime();
    context.device = bench_->target().device();
    context.settings = settings_of(options_, job_);
    return context;
  }

  Measured profile() {
    Measured measured;
    Profile profile;
    profile.stab = stab_info();
    profile.measured_at = utc_now();
    profile.context = make_context();
    writer_ = std::make_unique<ProfileWriter>(options_.trace_dir, job_.package().name, profile);
    bench_->keep_files_in(writer_->folder());
    const std::vector<Single> singles =
        singles_to_measure(job_, options_.backends, profile.context.runtime, measured);
    for (const int threads : options_.threads.empty() ? std::vector<int>{1} : options_.threads) {
      const MeasureOutcome outcome = run_rounds(singles, RunKind::single, threads, options_.rounds,
                                                options_.max_rounds, measured);
      by_api_ = outcome.by_api;
      take_singles(job_, outcome, measured);
    }
    return measured;
  }

  MeasureOutcome run_rounds(const std::vector<Single>& singles, RunKind kind, int threads,
                            int rounds, int max_rounds, Measured& measured) {
    MeasureRequest request;
    request.model = &job_.model;
    request.operations = job_.operations;
    request.singles = singles;
    request.kind = kind;
    request.threads = threads;
    request.warmup = options_.warmup;
    request.runs =
        std::max(rounds, static_cast<int>(std::int64_t{options_.runs} * rounds / options_.rounds));
    request.rounds = rounds;
    request.max_rounds = max_rounds;
    request.first_id = static_cast<int>(measured.loaded.runs.size());
    request.by_api = by_api_;
    request.inputs = job_.own_inputs();
    request.make_keys = [&](const Placement& placement) {
      return keys_for(placement, threads, std::nullopt);
    };
    request.on_run = [&](const MeasuredRun& run) {
      if (run.outcome.trace) check_types(job_, *run.outcome.trace, run.trial.keep_as);
      if (run.outcome.runtime_version)
        writer_->profile().context.runtime.version = run.outcome.runtime_version;
      writer_->add(profile_run(run));
      measured.loaded.runs.push_back({profile_run(run), run.outcome.trace.value_or(Trace())});
    };
    request.progress = [&](const std::string& text, double done, double total) {
      progress_.update(kind == RunKind::single ? "profile" : "calibrate", done, total,
                       text + (threads > 1 ? ", " + std::to_string(threads) + " threads" : ""));
    };
    request.out_of_time = [this] { return out_of_time(); };
    return measure(bench_->trials(), request);
  }

  /// Mixed runs: those that measure copies, and one of the optimum itself, which checks the
  /// prediction.
  void calibrate(Measured& measured) {
    std::vector<Single> mixes;
    for (const CalibrationRun& run : decision_.calibration())
      mixes.push_back({"mix" + std::to_string(mixes.size() + 1), "", run.placement});
    if (!mixes.empty()) {
      run_mixes(mixes, measured);
      decide_again(measured);
    }
    const Plan* optimum = plan_of(PlanKind::optimum);
    if (optimum != nullptr && is_mixed(*optimum))
      run_mixes({{k_check, "", optimum->placement}}, measured);
    check_prediction(measured);
  }

  void run_mixes(const std::vector<Single>& mixes, Measured& measured) {
    const int rounds = std::min(k_calibration_rounds, options_.rounds);
    run_rounds(mixes, RunKind::calibrate, timing_threads_, rounds, rounds, measured);
  }

  /// What was asked for in the calibration runs of a label; none when they failed or there are
  /// none.
  std::optional<Placement> calibrated(const Measured& measured, const std::string& label) const {
    for (const RunTrace& run : measured.loaded.runs) {
      if (run.run.kind == RunKind::calibrate && run.run.label == label &&
          run.run.threads == timing_threads_ && run.run.status == RunStatus::ok)
        return run.run.placement;
    }
    return std::nullopt;
  }

  /// Compares each mixed run with its prediction. Where the optimum's is too far off its own times
  /// re-enter once; an optimum that moves for this reason has a run of its own.
  void check_prediction(Measured& measured) {
    decide_again(measured);
    warn_about_mixes(measured);
    const auto first = calibrated(measured, k_check);
    if (!first) return;
    std::optional<double> error = prediction_error(*first, k_check);
    if (error && std::abs(*error) > k_prediction_percent) {
      reenter_ = {k_check};
      decide_again(measured);
      if (const auto moved = check_moved_optimum(*first, measured)) error = moved;
    }
    decision_.certificate.prediction_error_percent = error;
  }

  std::optional<double> check_moved_optimum(const Placement& first, Measured& measured) {
    const Plan* optimum = plan_of(PlanKind::optimum);
    if (optimum == nullptr || optimum->placement == first || !is_mixed(*optimum))
      return std::nullopt;
    if (bench_) run_mixes({{k_check_again, "", optimum->placement}}, measured);
    decide_again(measured);
    const auto second = calibrated(measured, k_check_again);
    return second ? prediction_error(*second, k_check_again) : std::nullopt;
  }

  void warn_about_mixes(Measured& measured) const {
    double worst = 0;
    for (int number = 1;; ++number) {
      const std::string label = "mix" + std::to_string(number);
      const auto placement = calibrated(measured, label);
      if (!placement) break;
      const auto error = prediction_error(*placement, label);
      if (error && std::abs(*error) > std::abs(worst)) worst = *error;
    }
    if (std::abs(worst) <= k_prediction_percent) return;
    measured.warnings.push_back({"mixes_off", Severity::info, "calibration",
                                 "the costs predict a mixed run with an error of up to " +
                                     std::to_string(std::lround(worst)) + " %",
                                 ""});
  }

  const Plan* plan_of(PlanKind kind) const {
    for (const Plan& plan : decision_.plans) {
      if (plan.kind == kind) return &plan;
    }
    return nullptr;
  }

  /// Not what any single backend does alone.
  bool is_mixed(const Plan& plan) const {
    return std::none_of(decision_.plans.begin(), decision_.plans.end(), [&](const Plan& other) {
      return other.kind == PlanKind::single && other.placement == plan.placement;
    });
  }

  void decide_again(const Measured& measured) {
    timings_by_threads_[timing_threads_] = summarise(measured.loaded.runs, timing_threads_);
    decide_plans(measured);
  }

  /// How far the traced run of a placement was from what the costs say, in percent of the run.
  std::optional<double> prediction_error(const Placement& placement,
                                         const std::string& label) const {
    const LabelTiming* run = timings().find_label(label, RunKind::calibrate);
    Plan plan;
    plan.placement = placement;
    decision_.price(plan);
    if (run == nullptr || !run->graph_us || !plan.estimate || run->graph_us->median <= 0)
      return std::nullopt;
    return 100 * (plan.estimate->total_us - run->graph_us->median) / run->graph_us->median;
  }

  void finish_profile(Measured& measured) {
    writer_->complete();
    measured.loaded.profile = writer_->profile();
    measured.loaded.sha256 = sha256_hex(render_profile(writer_->profile()));
  }

  bool out_of_time() const {
    return options_.max_time &&
           clock_.total() > std::chrono::duration<double>(*options_.max_time).count();
  }

  std::vector<int> measured_threads(const Measured& measured) const {
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

  double estimate_of(const std::string& plan_id) const {
    for (const Plan& plan : decision_.plans) {
      if (plan.id == plan_id && plan.estimate) return plan.estimate->total_us;
    }
    return HUGE_VAL;
  }

  bool has_times(const Measured& measured, const Timings& timings) const {
    return std::any_of(measured.singles.begin(), measured.singles.end(), [&](const Single& single) {
      const LabelTiming* label = timings.find_label(single.label);
      return label != nullptr && label->graph_us;
    });
  }

  /// The number of threads whose plan is estimated fastest; the times of all are reported.
  void choose_threads(const Measured& measured) {
    std::optional<std::pair<double, int>> best;
    for (const int threads : measured_threads(measured)) {
      Timings& timings = timings_by_threads_[threads] = summarise(measured.loaded.runs, threads);
      if (!has_times(measured, timings)) continue;
      timing_threads_ = result_.threads = threads;
      decide_plans(measured);
      const double us = estimate_of(decision_.preferred);
      if (!best || us < best->first) best = {us, threads};
    }
    if (!best)
      throw Error(options_.profile ? ErrorKind::device : ErrorKind::input, "cannot schedule",
                  job_.package().name, "no backend has a time for the whole graph");
    timing_threads_ = result_.threads = best->second;
    if (options_.threads.empty() || std::find(options_.threads.begin(), options_.threads.end(),
                                              best->second) != options_.threads.end())
      return;
    result_.threads = options_.threads.front();
    result_.warnings.push_back({"other_threads", Severity::warning, job_.package().name,
                                "its times are those of " + std::to_string(timing_threads_) +
                                    " threads, and it is scheduled for " +
                                    std::to_string(result_.threads),
                                "profiling with -n " + std::to_string(result_.threads)});
  }

  const Timings& timings() const { return timings_by_threads_.at(timing_threads_); }

  void decide_plans(const Measured& measured) {
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
    if (baseline_ && bench_) request.baseline = baseline_->plan;
    request.make_keys = [this](const Placement& placement,
                               const std::optional<std::string>& planner,
                               const std::optional<GreedyForm>& form) {
      return keys_for(placement, result_.threads, planner, form);
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

  static std::vector<std::string> labels_of(const std::vector<Single>& singles) {
    std::vector<std::string> labels;
    for (const Single& single : singles) labels.push_back(single.label);
    return labels;
  }

  void add_warnings(const std::vector<Warning>& warnings) {
    for (const Warning& warning : warnings) {
      if (std::find(result_.warnings.begin(), result_.warnings.end(), warning) ==
          result_.warnings.end())
        result_.warnings.push_back(warning);
    }
  }

  void fill_result(const Measured& measured) {
    result_.stab = stab_info();
    if (!measured.loaded.profile.measured_at.empty())
      result_.measured_at = measured.loaded.profile.measured_at;
    if (!measured.loaded.sha256.empty()) result_.profile_sha256 = measured.loaded.sha256;
    result_.context = measured.loaded.profile.context;
    result_.context.package = package_info(job_.package());
    result_.context.model = model_info(job_);
    result_.overhead_us = decision_.overhead_us;
    result_.ops = decision_.ops;
    result_.tensors = describe_tensors(job_.model);
    result_.transfers = decision_.transfers;
    result_.certificate = decision_.certificate;
    result_.left_out = decision_.left_out;
    result_.plans = decision_.plans;
    result_.backends = backend_rows(measured.singles, timings_by_threads_);
    result_.backends.insert(result_.backends.end(), measured.failed.begin(), measured.failed.end());
    result_.noise = noise_of(timings());
    add_warnings(job_.warnings);
    add_warnings(measured.warnings);
    add_warnings(timings().warnings);
    add_warnings(decision_.warnings);
    if (bench_) add_warnings(bench_->target().warnings());
    add_conditions(measured.loaded, options_.affinity.has_value(), result_);
  }

  void prove_plans() {
    ProofRequest request;
    request.model = &job_.model;
    request.operations = job_.operations;
    request.plans = decision_.plans;
    request.input_sets = job_.input_sets;
    request.seeds = job_.seeds;
    request.backends = options_.backends;
    if (options_.tolerance)
      request.tolerance = OutputLimit{options_.tolerance->absolute, options_.tolerance->relative};
    request.own_inputs = job_.own_inputs();
    for (const OpRow& row : decision_.ops) {
      if (row.fixed == "pin") request.pinned.insert(row.op);
    }
    request.check = options_.check;
    request.verify = options_.verify;
    request.warmup = options_.warmup;
    request.runs = options_.runs;
    request.rounds = options_.rounds;
    request.baseline_may_win = decision_.baseline_may_win && baseline_->threads == result_.threads;
    request.make_keys = decision_.make_keys;
    request.price = decision_.price;
    request.progress = [this](const std::string& text, double done, double total) {
      progress_.update("prove", done, total, text);
    };
    request.out_of_time = [this] { return out_of_time(); };
    ProofOutcome outcome = prove(bench_->trials(), request);
    config_is_read_ = outcome.config_is_read;
    take_proofs(std::move(outcome), result_);
    if (result_.chosen.empty()) refuse();
  }

  void refuse() {
    result_.outcome = Outcome::refused;
    result_.exit_status = exit_status(ErrorKind::proof);
  }

  void take_without_device() {
    result_.chosen = decision_.preferred;
    result_.baseline = decision_.best_single;
    const Plan& chosen = *result_.find_plan(result_.chosen);
    const ApiStrings api = api_strings(chosen.placement, options_.backends);
    result_.delivery.available_backends = api.available_backends;
    result_.delivery.per_operation = api.per_operation;
    result_.summary.skipped_proofs = {"applied", "equal", "faster"};
  }

  void write() {
    progress_.update("write", 0, 0, "");
    Plan* chosen = nullptr;
    for (Plan& plan : result_.plans) {
      if (plan.id == result_.chosen) chosen = &plan;
    }
    if (chosen == nullptr) return;
    finish_choice(*chosen, decision_, result_);
    if (result_.error) {  // the gate: what was written on an earlier night stays
      refuse();
      return;
    }
    if (const std::string* key = too_long_for_environment(chosen->keys)) {
      result_.warnings.push_back({"environment_too_long", Severity::warning, *key,
                                  "it is longer than one environment string may be",
                                  "delivery by the C API (see stab.json)"});
    }
    const std::filesystem::path folder = output_folder(options_.output, job_.package());
    result_.summary.package_path = folder.string();
    result_.delivery.command = run_command(folder.string());
    ScheduleTexts texts;
    texts.config = config_is_read_ ? chosen->keys : late_keys(chosen->keys);
    texts.environment = chosen->keys;
    texts.record = render_schedule(result_, true);
    const FileList files = scheduled_files(job_.package(), texts);
    write_package(options_.output, job_.package(), files, options_.force);
    result_.written.emplace();
    for (const FileEntry& entry : files) {
      if (entry.kind == FileKind::regular) result_.written->push_back({entry.path, entry.sha256});
    }
  }

  /// Everything that can be checked before the device is asked.
  void open_baseline() {
    if (!options_.baseline) return;
    baseline_ = read_earlier_result(*options_.baseline);
    if (!options_.profile) return;
    Context context;
    context.model = model_info(job_);
    context.settings = settings_of(options_, job_);
    context.device = baseline_->context.device;
    const std::vector<int> threads =
        options_.threads.empty() ? std::vector<int>{1} : options_.threads;
    const bool among =
        std::find(threads.begin(), threads.end(), baseline_->threads) != threads.end();
    check_baseline(context, among ? baseline_->threads : threads.front());
  }

  void check_baseline(const Context& context, int threads) const {
    if (!baseline_ || options_.force) return;
    refuse_other_circumstances(*baseline_, {&context, threads});
  }

  void compare_with_baseline() {
    if (!baseline_ || result_.chosen.empty()) return;
    const EarlierResult now = parse_earlier_result(render_result(result_), "this run");
    const Plan* then = nullptr;
    for (const Plan& plan : result_.plans) {
      if (plan.kind == PlanKind::baseline) then = &plan;
    }
    add_comparison(*baseline_, now, options_.verify ? then : nullptr, options_, result_);
  }

  std::string run_command(const std::string& folder) const {
    const std::string quoted = shell_quote(folder);
    const std::string runner =
        bench_ && !bench_->target().runner().is_stab_runner
            ? std::filesystem::path(bench_->target().runner().path).filename().string()
            : "stab-runner";
    const std::string works = result_.delivery.works.value_or("env");
    if (works == "config" || works == "none_needed") return runner + " " + quoted;
    if (works == "api") {
      return "stab-runner --backends '" + result_.delivery.available_backends + "' --per-op '" +
             result_.delivery.per_operation + "' " + quoted;
    }
    return ". " + shell_quote(folder + "/" + k_environment_path) + " && " + runner + " " + quoted;
  }

  const Options& options_;
  Progress& progress_;
  const StopRequested& stop_;
  Result& result_;
  Stopwatch clock_;
  Job job_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<ProfileWriter> writer_;
  std::vector<std::string> reenter_;  ///< labels of mixed runs whose own times count
  std::map<int, Timings> timings_by_threads_;
  int timing_threads_ = 1;  ///< whose times decide; other than what is written only when forced
  bool by_api_ = false;     ///< only the API reaches this runtime
  Decision decision_;
  std::optional<EarlierResult> baseline_;
  bool config_is_read_ = true;
};

}  // namespace

void schedule(const Options& options, Progress& progress, const StopRequested& stop,
              Result& result) {
  Scheduling(options, progress, stop, result).run();
}

Result explain(const Options& options, Progress& progress, const StopRequested& stop) {
  Result result;
  Scheduling(options, progress, stop, result).explain();
  return result;
}

}  // namespace stab
