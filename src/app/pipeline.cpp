// SPDX-License-Identifier: Apache-2.0
#include "stab/app/pipeline.h"

#include <algorithm>
#include <chrono>

#include "app/assemble.h"
#include "app/stopwatch.h"
#include "stab/app/compare_job.h"
#include "stab/app/decide.h"
#include "stab/app/job.h"
#include "stab/app/measure.h"
#include "stab/app/profile_store.h"
#include "stab/app/prove.h"
#include "stab/app/workbench.h"
#include "stab/core/error.h"
#include "stab/core/op_names.h"
#include "stab/core/schedule_keys.h"

namespace stab {
namespace {

/// What both ways of getting traces end in.
struct Measured {
  LoadedProfile loaded;
  std::vector<Single> singles;     ///< with the placements that were run in the end
  std::vector<BackendRow> failed;  ///< backends that were asked for and have no time
  Discovered discovered;
  std::vector<Warning> warnings;
};

class Scheduling {
 public:
  Scheduling(const Options& options, Progress& progress, const StopRequested& stop)
      : options_(options), progress_(progress), stop_(stop), clock_(result_.stages) {}

  /// The plan alone, for people who want to know why.
  Result explain() {
    result_.algorithm = options_.algorithm == Algorithm::greedy ? "greedy" : "exact";
    job_ = prepare(options_);
    Measured measured = read_back();
    choose_threads(measured);
    decide_plans(measured);
    fill_result(measured);
    take_without_device();
    const Plan& chosen = *result_.find_plan(result_.chosen);
    finish_choice(chosen, decision_, result_);
    for (const SwitchCause& cause : decision_.causes(chosen.placement))
      result_.causes.push_back({cause.op, cause.switches, cause.copies_us});
    return std::move(result_);
  }

  Result run() {
    result_.algorithm = options_.algorithm == Algorithm::greedy ? "greedy" : "exact";
    clock_.start("check");
    progress_.update("check", 0, 0, options_.nnpackage.string());
    job_ = prepare(options_);
    open_baseline();
    Measured measured = options_.profile ? measure_on_device() : read_back();
    choose_threads(measured);
    if (!options_.profile) check_baseline(measured.loaded.profile.context, result_.threads);
    clock_.start("decide");
    decide_plans(measured);
    if (bench_) {
      clock_.start("calibrate");
      calibrate(measured);
      finish_profile(measured);
    }
    fill_result(measured);
    if (bench_) {
      clock_.start("prove");
      prove_plans();
    } else {
      take_without_device();
    }
    compare_with_baseline();
    clock_.start("write");
    write();
    clock_.stop();
    progress_.clear();
    return std::move(result_);
  }

 private:
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
    clock_.start("connect and upload");
    progress_.update("connect", 0, 0, options_.ip);
    bench_ = std::make_unique<Workbench>(options_, job_, progress_, stop_);
    if (baseline_) check_baseline(make_context(), baseline_->threads);
    clock_.start("profile");
    return profile();
  }

  std::vector<Single> singles_to_measure(std::vector<BackendRow>& failed) const {
    std::vector<Single> singles = {{k_cpu, k_cpu, {}}};
    for (const std::string& backend : options_.backends) {
      if (backend == k_cpu) continue;
      if (const std::string reason = unusable(backend); !reason.empty()) {
        failed.push_back(failed_row(backend, BackendStatus::missing, reason));
        continue;
      }
      const bool listed = is_listed(backend);
      const Placement all = what_it_may_run(backend, listed);
      if (all.empty()) {
        failed.push_back(failed_row(backend, BackendStatus::refused,
                                    "it can run none of the model's operations"));
        continue;
      }
      const Placement some = listed ? all : of_usual_types(all);
      if (!some.empty()) singles.push_back({backend, backend, some});
      if (!listed && some.size() < all.size())
        singles.push_back({to_string(RunLabel{backend, true}), backend, all});
    }
    return singles;
  }

  bool is_listed(const std::string& backend) const {
    return std::any_of(job_.op_list.begin(), job_.op_list.end(),
                       [&](const BackendOps& line) { return line.backend == backend; });
  }

  /// What the op list gives it; for a backend of which the list says nothing every ordinary
  /// operation: runs will tell.
  Placement what_it_may_run(const std::string& backend, bool listed) const {
    Placement placement;
    const std::vector<std::string> backends =
        listed ? std::vector<std::string>{k_cpu, backend} : std::vector<std::string>{k_cpu};
    for (const OpId op : job_.operations) {
      const Candidates choice = candidates(job_.model, op, job_.op_list, backends);
      const std::string wanted = listed ? backend : k_cpu;
      const bool may = std::find(choice.backends.begin(), choice.backends.end(), wanted) !=
                       choice.backends.end();
      if (may && !why_not_mappable(job_.model, op)) placement[op] = backend;
    }
    return placement;
  }

  /// The heavy types, which every accelerating backend is made for.
  Placement of_usual_types(const Placement& all) const {
    Placement some;
    for (const auto& [op, backend] : all) {
      const std::string& type = job_.model.operation(op).type;
      if (type == "Conv2D" || type == "DepthwiseConv2D" || type == "FullyConnected")
        some[op] = backend;
    }
    return some;
  }

  std::string unusable(const std::string& backend) const {
    for (const BackendInfo& info : bench_->target().runtime().backends) {
      if (info.name == backend) return info.usable ? "" : info.reason;
    }
    return "the runtime folder has no libbackend_" + backend + ".so";
  }

  static BackendRow failed_row(const std::string& name, BackendStatus status,
                               const std::string& reason) {
    BackendRow row;
    row.name = name;
    row.status = status;
    row.reason = reason;
    return row;
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
    const std::vector<Single> singles = singles_to_measure(measured.failed);
    for (const int threads : options_.threads.empty() ? std::vector<int>{1} : options_.threads) {
      take_singles(run_rounds(singles, RunKind::single, threads, options_.rounds,
                              options_.max_rounds, measured),
                   measured);
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
    request.runs = std::max(rounds, options_.runs * rounds / options_.rounds);
    request.rounds = rounds;
    request.max_rounds = max_rounds;
    request.first_id = static_cast<int>(measured.loaded.runs.size());
    request.make_keys = [&](const Placement& placement) {
      return keys_for(placement, threads, std::nullopt);
    };
    request.on_run = [&](const MeasuredRun& run) {
      check_types(run);
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
  /// prediction. Above 5 % its own times re-enter once.
  void calibrate(Measured& measured) {
    constexpr int k_rounds = 3;
    constexpr const char* k_check = "optimum";
    std::vector<Single> mixes;
    for (const CalibrationRun& run : decision_.calibration())
      mixes.push_back({"mix" + std::to_string(mixes.size() + 1), "", run.placement});
    if (!mixes.empty()) {
      run_rounds(mixes, RunKind::calibrate, result_.threads, std::min(k_rounds, options_.rounds),
                 std::min(k_rounds, options_.rounds), measured);
      decide_again(measured);
    }
    const Plan* optimum = plan_of(PlanKind::optimum);
    if (optimum == nullptr || !is_mixed(*optimum)) return;
    const Placement checked = optimum->placement;
    run_rounds({{k_check, "", checked}}, RunKind::calibrate, result_.threads,
               std::min(k_rounds, options_.rounds), std::min(k_rounds, options_.rounds), measured);
    decide_again(measured);
    std::optional<double> error = prediction_error(checked, k_check);
    if (error && std::abs(*error) > 5) {
      reenter_ = {k_check};
      decide_again(measured);
      error = prediction_error(checked, k_check);
    }
    decision_.certificate.prediction_error_percent = error;
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
    timings_by_threads_[result_.threads] = summarise(measured.loaded.runs, result_.threads);
    decide_plans(measured);
  }

  /// How far the traced run of a placement was from what the costs say, in percent of the run.
  std::optional<double> prediction_error(const Placement& placement, const char* label) const {
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

  /// The operation at an index of a trace must be the model's.
  void check_types(const MeasuredRun& run) const {
    if (!run.outcome.trace) return;
    for (const OpTrace& op : run.outcome.trace->ops) {
      const auto& operations = job_.model.subgraphs.at(0).operations;
      if (op.op.subgraph != 0 || op.op.index >= static_cast<int>(operations.size())) continue;
      check_type(operations[static_cast<std::size_t>(op.op.index)], op.type, run.trial.keep_as);
    }
  }

  void take_singles(const MeasureOutcome& outcome, Measured& measured) {
    measured.warnings.insert(measured.warnings.end(), outcome.warnings.begin(),
                             outcome.warnings.end());
    for (const SingleOutcome& single : outcome.singles) {
      const bool known =
          std::any_of(measured.singles.begin(), measured.singles.end(),
                      [&](const Single& other) { return other.label == single.single.label; });
      if (!single.failed && !known) measured.singles.push_back(single.single);
      if (!single.failed) note_discovered(single.single, measured);
      if (single.failed)
        measured.failed.push_back(
            failed_row(single.single.backend, BackendStatus::failed, single.reason));
    }
  }

  /// What a backend was seen to run decides, where no list knows it or where it could not run all
  /// that the list says.
  void note_discovered(const Single& single, Measured& measured) const {
    if (single.backend == k_cpu) return;
    const bool listed = is_listed(single.backend);
    if (listed && single.placement == what_it_may_run(single.backend, true)) return;
    for (const auto& [op, backend] : single.placement) measured.discovered[backend].insert(op);
  }

  Measured read_back() {
    clock_.start("read traces");
    Measured measured;
    ProfileQuery query{options_.trace_dir, job_.package().name, options_.backends, std::nullopt,
                       options_.force};
    if (options_.threads.size() == 1) query.threads = options_.threads.front();
    measured.loaded = load_profile(query);
    check_profile(measured.loaded.profile);
    measured.warnings = measured.loaded.warnings;
    for (const RunTrace& run : measured.loaded.runs) {
      if (run.run.kind != RunKind::single ||
          (!run.trace.has_samples() && !run.trace.has_averages()))
        continue;
      const bool known =
          std::any_of(measured.singles.begin(), measured.singles.end(),
                      [&](const Single& other) { return other.label == run.run.label; });
      if (known) continue;
      measured.singles.push_back({run.run.label, parse_run_label(run.run.label).backend,
                                  run.run.placement.value_or(Placement())});
      note_discovered(measured.singles.back(), measured);
    }
    if (measured.singles.empty()) {
      throw Error(ErrorKind::input, "cannot schedule from the traces of", job_.package().name,
                  "no run in them can be used", "profiling again");
    }
    return measured;
  }

  /// Traces belong to a model, its shapes and a device; flat layouts say nothing of these.
  void check_profile(const Profile& profile) const {
    if (options_.force || profile.context.model.sha256.empty()) return;
    const std::string trouble = why_not_of(profile.context, job_, options_);
    if (trouble.empty()) return;
    throw Error(ErrorKind::input, "cannot use the traces of", job_.package().name, trouble,
                "profiling again, or --force");
  }

  std::vector<int> measured_threads(const Measured& measured) const {
    std::vector<int> found;
    for (const RunTrace& run : measured.loaded.runs) {
      if (run.run.kind == RunKind::single &&
          std::find(found.begin(), found.end(), run.run.threads) == found.end())
        found.push_back(run.run.threads);
    }
    if (options_.threads.empty()) return found;
    std::erase_if(found, [&](int threads) {
      return std::find(options_.threads.begin(), options_.threads.end(), threads) ==
             options_.threads.end();
    });
    if (found.empty()) {
      throw Error(ErrorKind::input, "cannot use the traces of", job_.package().name,
                  "they were not made with the threads that -n asks for",
                  "leaving out -n, or profiling again");
    }
    return found;
  }

  /// The number of threads with the fastest single backend; the times of all are reported.
  void choose_threads(const Measured& measured) {
    std::optional<double> best;
    for (const int threads : measured_threads(measured)) {
      Timings timings = summarise(measured.loaded.runs, threads);
      for (const Single& single : measured.singles) {
        const LabelTiming* label = timings.find_label(single.label);
        if (label == nullptr || !label->graph_us) continue;
        if (best && label->graph_us->median >= *best) continue;
        best = label->graph_us->median;
        result_.threads = threads;
      }
      timings_by_threads_[threads] = std::move(timings);
    }
    if (!best)
      throw Error(options_.profile ? ErrorKind::device : ErrorKind::input, "cannot schedule",
                  job_.package().name, "no backend has a time for the whole graph");
  }

  const Timings& timings() const { return timings_by_threads_.at(result_.threads); }

  void decide_plans(const Measured& measured) {
    DecideRequest request;
    const std::vector<std::string> labels = labels_of(measured.singles);
    const AveragedRuns averages = averaged_runs(measured.loaded.runs, result_.threads, labels);
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
    const std::string runner =
        bench_ && !bench_->target().runner().is_stab_runner
            ? std::filesystem::path(bench_->target().runner().path).filename().string()
            : "stab-runner";
    const std::string works = result_.delivery.works.value_or("env");
    if (works == "config" || works == "none_needed") return runner + " " + folder;
    if (works == "api") {
      return "stab-runner --backends '" + result_.delivery.available_backends + "' --per-op '" +
             result_.delivery.per_operation + "' " + folder;
    }
    return ". " + folder + "/" + k_environment_path + " && " + runner + " " + folder;
  }

  const Options& options_;
  Progress& progress_;
  const StopRequested& stop_;
  Result result_;
  Stopwatch clock_;
  Job job_;
  std::unique_ptr<Workbench> bench_;
  std::unique_ptr<ProfileWriter> writer_;
  std::vector<std::string> reenter_;  ///< labels of mixed runs whose own times count
  std::map<int, Timings> timings_by_threads_;
  Decision decision_;
  std::optional<EarlierResult> baseline_;
  bool config_is_read_ = true;
};

}  // namespace

Result schedule(const Options& options, Progress& progress, const StopRequested& stop) {
  return Scheduling(options, progress, stop).run();
}

Result explain(const Options& options, Progress& progress, const StopRequested& stop) {
  return Scheduling(options, progress, stop).explain();
}

}  // namespace stab
