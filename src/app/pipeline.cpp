// SPDX-License-Identifier: Apache-2.0
#include "stab/app/pipeline.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "app/assemble.h"
#include "app/deciding.h"
#include "app/measured.h"
#include "app/stopwatch.h"
#include "stab/app/compare_job.h"
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
    decide(measured);
    deciding_->check_prediction(measured, {});
    fill_result(measured);
    take_without_device();
    const Plan& chosen = *result_.find_plan(result_.chosen);
    finish_choice(chosen, decision(), result_);
    for (const SwitchCause& cause : decision().causes(chosen.placement))
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
    clock_.start("decide");
    decide(measured);
    if (!options_.profile) check_baseline(measured.loaded.profile.context, result_.threads);
    if (bench_) {
      clock_.start("calibrate");
      deciding_->calibrate(measured, [&](const std::vector<Single>& mixes) {
        const int rounds = std::min(k_calibration_rounds, options_.rounds);
        run_rounds(mixes, RunKind::calibrate, deciding_->timing_threads(), rounds, rounds,
                   measured);
      });
      finish_profile(measured);
    } else {
      deciding_->check_prediction(measured, {});
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

  void decide(const Measured& measured) {
    const bool with_baseline = baseline_ && bench_;
    deciding_.emplace(options_, job_,
                      with_baseline ? std::optional(baseline_->plan) : std::nullopt);
    deciding_->start(measured);
    result_.threads = deciding_->threads();
  }

  const Decision& decision() const { return deciding_->decision(); }

  /// Those to profile with.
  std::vector<int> wanted_threads() const {
    return options_.threads.empty() ? std::vector<int>{1} : options_.threads;
  }

  Measured measure_on_device() {
    clock_.start("connect");
    progress_.update("connect", 0, 0, options_.ip);
    bench_ = std::make_unique<Workbench>(options_, job_, progress_, stop_);
    result_.context = make_context();
    if (baseline_) check_baseline(result_.context, baseline_->threads);
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
    profile.context = result_.context;
    writer_ = std::make_unique<ProfileWriter>(options_.trace_dir, job_.package().name, profile);
    bench_->keep_files_in(writer_->folder());
    const std::vector<Single> singles =
        singles_to_measure(job_, options_.backends, profile.context.runtime, measured);
    for (const int threads : wanted_threads()) {
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
      return keys_for(options_, placement, threads, std::nullopt, std::nullopt);
    };
    request.on_run = [&](const MeasuredRun& run) {
      if (run.outcome.trace) check_types(job_, *run.outcome.trace, run.trial.keep_as);
      if (run.outcome.runtime_version)
        writer_->profile().context.runtime.version = run.outcome.runtime_version;
      const ProfileRun row = profile_run(run);
      writer_->add(row);
      measured.loaded.runs.push_back({row, run.outcome.trace.value_or(Trace())});
    };
    request.progress = [&](const std::string& text, double done, double total) {
      progress_.update(kind == RunKind::single ? "profile" : "calibrate", done, total,
                       text + (threads > 1 ? ", " + std::to_string(threads) + " threads" : ""));
    };
    request.out_of_time = [this] { return out_of_time(); };
    return measure(bench_->trials(), request);
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
    result_.overhead_us = decision().overhead_us;
    result_.ops = decision().ops;
    result_.tensors = describe_tensors(job_.model);
    result_.transfers = decision().transfers;
    result_.certificate = decision().certificate;
    result_.left_out = decision().left_out;
    result_.plans = decision().plans;
    result_.backends = backend_rows(measured.singles, deciding_->timings_by_threads());
    result_.backends.insert(result_.backends.end(), measured.failed.begin(), measured.failed.end());
    result_.noise = noise_of(deciding_->timings());
    add_warnings(job_.warnings);
    add_warnings(measured.warnings);
    add_warnings(deciding_->warnings());
    add_warnings(deciding_->timings().warnings);
    add_warnings(decision().warnings);
    if (bench_) add_warnings(bench_->target().warnings());
    add_conditions(measured.loaded, options_.affinity.has_value(), result_);
  }

  void prove_plans() {
    ProofRequest request;
    request.model = &job_.model;
    request.operations = job_.operations;
    request.plans = decision().plans;
    request.input_sets = job_.input_sets;
    request.seeds = job_.seeds;
    request.backends = options_.backends;
    if (options_.tolerance)
      request.tolerance = OutputLimit{options_.tolerance->absolute, options_.tolerance->relative};
    request.own_inputs = job_.own_inputs();
    for (const OpRow& row : decision().ops) {
      if (row.fixed == "pin") request.pinned.insert(row.op);
    }
    request.check = options_.check;
    request.verify = options_.verify;
    request.warmup = options_.warmup;
    request.runs = options_.runs;
    request.rounds = options_.rounds;
    request.baseline_may_win = decision().baseline_may_win && baseline_->threads == result_.threads;
    request.make_keys = decision().make_keys;
    request.price = decision().price;
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
    result_.chosen = decision().preferred;
    result_.baseline = decision().best_single;
    const Plan& chosen = *result_.find_plan(result_.chosen);
    const ApiStrings api = api_strings(chosen.placement, options_.backends);
    result_.delivery.available_backends = api.available_backends;
    result_.delivery.per_operation = api.per_operation;
    result_.summary.skipped_proofs = {"applied", "equal", "faster"};
  }

  void write() {
    progress_.update("write", 0, 0, "");
    Plan* chosen = find_plan(result_.plans, result_.chosen);
    if (chosen == nullptr) return;
    finish_choice(*chosen, decision(), result_);
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
    const std::vector<int> threads = wanted_threads();
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
  bool by_api_ = false;  ///< only the API reaches this runtime
  std::optional<Deciding> deciding_;
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
