// SPDX-License-Identifier: Apache-2.0
#include "stab/app/pipeline.h"

#include <algorithm>
#include <chrono>

#include "app/assemble.h"
#include "app/stopwatch.h"
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

  Result run() {
    result_.algorithm = options_.algorithm == Algorithm::greedy ? "greedy" : "exact";
    clock_.start("check");
    progress_.update("check", 0, 0, options_.nnpackage.string());
    job_ = prepare(options_);
    Measured measured = options_.profile ? measure_on_device() : read_back();
    choose_threads(measured);
    clock_.start("decide");
    decide_plans(measured);
    if (bench_) {
      clock_.start("prove");
      prove_plans();
    } else {
      take_without_device();
    }
    clock_.start("write");
    write();
    clock_.stop();
    progress_.clear();
    return std::move(result_);
  }

 private:
  // ---- measuring
  // -------------------------------------------------------------------------------------------------

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
      Single single{backend, backend, {}};
      for (const OpId op : job_.operations) {
        const Candidates choice =
            candidates(job_.model, op, job_.op_list, std::vector<std::string>{k_cpu, backend});
        if (std::find(choice.backends.begin(), choice.backends.end(), backend) !=
            choice.backends.end())
          single.placement[op] = backend;
      }
      if (single.placement.empty()) {
        failed.push_back(failed_row(backend, BackendStatus::refused,
                                    "it can run none of the model's operations"));
      } else {
        singles.push_back(single);
      }
    }
    return singles;
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
    ProfileWriter writer(options_.trace_dir, job_.package().name, profile);
    bench_->keep_files_in(writer.folder());
    const std::vector<Single> singles = singles_to_measure(measured.failed);
    int next_id = 0;
    for (const int threads : options_.threads.empty() ? std::vector<int>{1} : options_.threads) {
      MeasureOutcome outcome = measure_threads(singles, threads, next_id, writer, measured);
      next_id += static_cast<int>(outcome.runs.size());
      take_singles(outcome, measured);
    }
    writer.complete();
    measured.loaded.profile = writer.profile();
    measured.loaded.sha256 = sha256_hex(render_profile(writer.profile()));
    return measured;
  }

  MeasureOutcome measure_threads(const std::vector<Single>& singles, int threads, int first_id,
                                 ProfileWriter& writer, Measured& measured) {
    MeasureRequest request;
    request.model = &job_.model;
    request.operations = job_.operations;
    request.singles = singles;
    request.threads = threads;
    request.warmup = options_.warmup;
    request.runs = options_.runs;
    request.rounds = options_.rounds;
    request.max_rounds = options_.max_rounds;
    request.first_id = first_id;
    request.make_keys = [&](const Placement& placement) {
      return keys_for(placement, threads, std::nullopt);
    };
    request.on_run = [&](const MeasuredRun& run) {
      check_types(run);
      if (run.outcome.runtime_version)
        writer.profile().context.runtime.version = run.outcome.runtime_version;
      writer.add(profile_run(run));
      measured.loaded.runs.push_back({profile_run(run), run.outcome.trace.value_or(Trace())});
    };
    request.progress = [&](const std::string& text, double done, double total) {
      progress_.update("profile", done, total,
                       text + (threads > 1 ? ", " + std::to_string(threads) + " threads" : ""));
    };
    request.out_of_time = [this] { return out_of_time(); };
    return measure(bench_->trials(), request);
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
      if (single.failed)
        measured.failed.push_back(
            failed_row(single.single.backend, BackendStatus::failed, single.reason));
    }
  }

  // ---- reading back
  // ----------------------------------------------------------------------------------------------

  Measured read_back() {
    clock_.start("read traces");
    Measured measured;
    measured.loaded = load_profile(options_.trace_dir, job_.package().name);
    check_profile(measured.loaded.profile);
    measured.warnings = measured.loaded.warnings;
    for (const RunTrace& run : measured.loaded.runs) {
      if (run.run.kind != RunKind::single ||
          (!run.trace.has_samples() && !run.trace.has_averages()))
        continue;
      const bool known =
          std::any_of(measured.singles.begin(), measured.singles.end(),
                      [&](const Single& other) { return other.label == run.run.label; });
      if (!known)
        measured.singles.push_back({run.run.label, parse_run_label(run.run.label).backend,
                                    run.run.placement.value_or(Placement())});
    }
    if (measured.singles.empty()) {
      throw Error(ErrorKind::input, "cannot schedule from the traces of", job_.package().name,
                  "no run in them can be used", "profiling again");
    }
    return measured;
  }

  void check_profile(const Profile& profile) {
    const std::string& recorded = profile.context.model.sha256;
    if (recorded == job_.package().model_sha256 || options_.force || recorded.empty()) return;
    throw Error(ErrorKind::input, "cannot use the traces of", job_.package().name,
                "they are of model " + recorded.substr(0, 12) + "… and the package holds model " +
                    job_.package().model_sha256.substr(0, 12) + "…",
                "profiling again, or --force");
  }

  // ---- deciding
  // --------------------------------------------------------------------------------------------------

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
    decision_ = decide(request);
    fill_result(measured);
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
    result_.measured_at = measured.loaded.profile.measured_at;
    result_.profile_sha256 = measured.loaded.sha256;
    result_.context = measured.loaded.profile.context;
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

  // ---- proving
  // ---------------------------------------------------------------------------------------------------

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
    result_.chosen = decision_.plans.front().id;
    result_.baseline = decision_.best_single;
    const Plan& chosen = decision_.plans.front();
    const ApiStrings api = api_strings(chosen.placement, options_.backends);
    result_.delivery.available_backends = api.available_backends;
    result_.delivery.per_operation = api.per_operation;
    result_.summary.skipped_proofs = {"applied", "equal", "faster"};
  }

  // ---- writing
  // ---------------------------------------------------------------------------------------------------

  void write() {
    progress_.update("write", 0, 0, "");
    Plan* chosen = nullptr;
    for (Plan& plan : result_.plans) {
      if (plan.id == result_.chosen) chosen = &plan;
    }
    if (chosen == nullptr) return;
    finish_choice(*chosen, decision_, result_);
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

  std::string run_command(const std::string& folder) const {
    const std::string runner =
        bench_ && !bench_->target().runner().is_stab_runner ? "onert_run" : "stab-runner";
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
  std::map<int, Timings> timings_by_threads_;
  Decision decision_;
  bool config_is_read_ = true;
};

}  // namespace

Result schedule(const Options& options, Progress& progress, const StopRequested& stop) {
  return Scheduling(options, progress, stop).run();
}

}  // namespace stab
