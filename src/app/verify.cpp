// SPDX-License-Identifier: Apache-2.0
#include "stab/app/verify.h"

#include "app/assemble.h"
#include "app/stopwatch.h"
#include "stab/app/compare_job.h"
#include "stab/app/job.h"
#include "stab/app/prove.h"
#include "stab/app/workbench.h"
#include "stab/core/error.h"
#include "stab/host/files.h"

namespace stab {
namespace {

constexpr std::uint64_t k_most_record_bytes = std::uint64_t{64} << 20;
constexpr const char* k_scheduled = "scheduled";
constexpr const char* k_baseline = "baseline";

Schedule read_schedule(const Package& package) {
  const FileEntry* record = find_entry(package.files, k_record_path);
  if (record == nullptr) {
    throw Error(ErrorKind::input, "cannot verify package", package.name,
                "it has no metadata/stab.json: stab did not schedule it",
                "stab --nnpackage DIR --ip HOST first, then verify the package that it writes");
  }
  Schedule schedule = parse_schedule(
      record->text ? *record->text : read_file(record->source, k_most_record_bytes), k_record_path);
  if (schedule.model_sha256 != package.model_sha256) {
    throw Error(ErrorKind::input, "cannot verify package", package.name,
                "its stab.json is of model " + schedule.model_sha256.substr(0, 12) +
                    "… and it holds model " + package.model_sha256.substr(0, 12) + "…",
                "scheduling it again");
  }
  return schedule;
}

/// Keys of any other plan under this schedule's settings: the same, with backends and map of the
/// placement.
RuntimeKeys keys_like(const RuntimeKeys& scheduled, const Plan& plan,
                      const std::vector<std::string>& backends,
                      const std::optional<std::string>& planner) {
  const ApiStrings api = api_strings(plan.placement, backends);
  RuntimeKeys keys = {{"BACKENDS", api.available_backends}};
  if (!api.per_operation.empty()) keys.emplace_back("OP_BACKEND_MAP", api.per_operation);
  for (const auto& [key, value] : scheduled) {
    const bool placing = key == "BACKENDS" || key.rfind("OP_BACKEND_", 0) == 0;
    if (!placing && key != "CPU_MEMORY_PLANNER") keys.emplace_back(key, value);
  }
  if (planner) keys.emplace_back("CPU_MEMORY_PLANNER", *planner);
  return keys;
}

ProofRequest make_request(const Options& options, const Job& job, const Schedule& schedule) {
  ProofRequest request;
  request.model = &job.model;
  request.operations = job.operations;
  request.backends = options.backends;
  request.input_sets = job.input_sets;
  request.own_inputs = job.own_inputs();
  request.seeds = job.seeds;
  if (options.tolerance)
    request.tolerance = OutputLimit{options.tolerance->absolute, options.tolerance->relative};
  request.check = options.check;
  request.verify = options.verify;
  request.warmup = options.warmup;
  request.runs = options.runs;
  request.rounds = options.rounds;
  request.remedies = false;
  request.time_today = false;
  request.as_is = k_scheduled;
  Plan scheduled = schedule.chosen;
  scheduled.id = k_scheduled;
  request.plans = {scheduled};
  request.make_keys = [keys = scheduled.keys, backends = options.backends](
                          const Plan& plan, const std::optional<std::string>& planner) {
    return keys_like(keys, plan, backends, planner);
  };
  request.plans.insert(request.plans.end(), schedule.singles.begin(), schedule.singles.end());
  return request;
}

/// The baseline's schedule joins the timing with the keys it had.
void add_baseline(const EarlierResult& baseline, ProofRequest& request) {
  Plan plan = baseline.plan;
  plan.id = k_baseline;
  plan.kind = PlanKind::baseline;
  plan.faster = {};
  request.plans.push_back(std::move(plan));
}

void compare_with(const EarlierResult& baseline, const Options& options, Result& result) {
  const EarlierResult now = parse_earlier_result(render_result(result), "this run");
  add_comparison(baseline, now, options.verify ? result.find_plan(k_baseline) : nullptr, options,
                 result);
  if (result.error) result.outcome = Outcome::failed;
}

/// The way that the record promises has to work; one that asks less of the user may.
bool works_as_promised(const std::string& promised, const std::string& found) {
  const auto effort = [](const std::string& way) {
    return way == "api" ? 3 : way == "env" ? 2 : way == "config" ? 1 : 0;
  };
  return effort(found) <= effort(promised);
}

void judge(const ProofOutcome& outcome, const std::optional<std::string>& promised,
           Result& result) {
  Plan* plan = find_plan(result.plans, k_scheduled);
  result.chosen = k_scheduled;
  const std::string found = result.delivery.works.value_or("none_needed");
  if (promised && plan->applied.status == ProofStatus::pass &&
      !works_as_promised(*promised, found)) {
    plan->applied.status = ProofStatus::fail;
    plan->applied.reason = "it was to be delivered by " + *promised +
                           ", which this runtime does not follow; " + found + " would work";
  }
  const bool applied = plan->applied.status == ProofStatus::pass;
  const bool equal = plan->equal.status != ProofStatus::fail;
  const bool fast = plan->faster.status != FasterStatus::slower;
  if (applied && equal && fast) {
    result.outcome =
        plan->equal.status == ProofStatus::pass && plan->faster.status != FasterStatus::skipped
            ? Outcome::proven
            : Outcome::estimated;
    return;
  }
  result.outcome = Outcome::failed;
  result.exit_status = exit_status(ErrorKind::proof);
  std::string why = !applied ? "it is not applied: " + plan->applied.reason
                    : !equal ? "its outputs differ from cpu's: " + plan->equal.reason
                             : "it is slower than " + outcome.baseline;
  result.error = ErrorRow{ErrorKind::proof, "cannot prove package", result.context.package.name,
                          why, "scheduling it again"};
}

}  // namespace

void verify(const Options& options, Progress& progress, const StopRequested& stop, Result& result) {
  result.stab = stab_info();
  Stopwatch clock(result.stages);
  clock.start("check");
  const Job job = prepare(options);
  result.context.package = package_info(job.package());
  result.context.model = model_info(job);
  result.context.settings = settings_of(options, job);
  const Schedule schedule = read_schedule(job.package());
  result.threads = schedule.threads;
  result.algorithm = schedule.algorithm;
  std::optional<EarlierResult> baseline;
  if (options.baseline) baseline = read_earlier_result(*options.baseline);
  clock.start("connect");
  Workbench bench(options, job, progress, stop);
  clock.watch([&] { return bench.target().use(); });
  clock.start("upload");
  bench.upload();
  result.context.runtime = bench.target().runtime();
  result.context.device = bench.target().device();
  if (baseline && !options.force)
    refuse_other_circumstances(*baseline, {&result.context, result.threads});
  clock.start("prove");
  ProofRequest request = make_request(options, job, schedule);
  if (baseline) add_baseline(*baseline, request);
  request.price = [](Plan&) {};
  request.progress = [&](const std::string& text, double done, double total) {
    progress.update("verify", done, total, text);
  };
  const ProofOutcome outcome = prove(bench.trials(), request);
  clock.stop();
  progress.clear();
  take_proofs(ProofOutcome(outcome), result);
  for (const Warning& warning : bench.target().warnings()) result.warnings.push_back(warning);
  judge(outcome, schedule.works, result);
  if (baseline && !result.error) compare_with(*baseline, options, result);
}

}  // namespace stab
