// SPDX-License-Identifier: Apache-2.0
#include "app/measured.h"

#include <algorithm>

#include "app/assemble.h"
#include "stab/core/error.h"
#include "stab/core/op_names.h"

namespace stab {
namespace {

bool is_listed(const Job& job, const std::string& backend) {
  return std::any_of(job.op_list.begin(), job.op_list.end(),
                     [&](const BackendOps& line) { return line.backend == backend; });
}

/// What the op list gives it; for a backend of which the list says nothing every ordinary
/// operation: runs will tell.
Placement what_it_may_run(const Job& job, const std::string& backend) {
  Placement placement;
  const bool listed = is_listed(job, backend);
  const std::string& wanted = listed ? backend : k_cpu;
  const std::vector<std::string> backends =
      listed ? std::vector<std::string>{k_cpu, backend} : std::vector<std::string>{k_cpu};
  for (const OpId op : job.operations) {
    const Candidates choice = candidates(job.model, op, job.op_list, backends);
    const bool may =
        std::find(choice.backends.begin(), choice.backends.end(), wanted) != choice.backends.end();
    if (may && !why_not_mappable(job.model, op)) placement[op] = backend;
  }
  return placement;
}

/// The heavy types, which every accelerating backend is made for.
Placement of_usual_types(const Job& job, const Placement& all) {
  Placement some;
  for (const auto& [op, backend] : all) {
    const std::string& type = job.model.operation(op).type;
    if (type == "Conv2D" || type == "DepthwiseConv2D" || type == "FullyConnected")
      some[op] = backend;
  }
  return some;
}

std::string why_unusable(const RuntimeInfo& runtime, const std::string& backend) {
  for (const BackendInfo& info : runtime.backends) {
    if (info.name == backend) return info.usable ? "" : info.reason;
  }
  return "the runtime folder has no libbackend_" + backend + ".so";
}

BackendRow failed_row(const std::string& name, BackendStatus status, const std::string& reason) {
  BackendRow row;
  row.name = name;
  row.status = status;
  row.reason = reason;
  return row;
}

/// What a backend was seen to run decides, where no list knows it or where it could not run all
/// that the list says.
void note_discovered(const Job& job, const Single& single, Measured& measured) {
  if (single.backend == k_cpu) return;
  if (is_listed(job, single.backend) && single.placement == what_it_may_run(job, single.backend))
    return;
  for (const auto& [op, backend] : single.placement) measured.discovered[backend].insert(op);
}

bool has_label(const Measured& measured, const std::string& label) {
  return std::any_of(measured.singles.begin(), measured.singles.end(),
                     [&](const Single& single) { return single.label == label; });
}

void take_failure(const SingleOutcome& failed, Measured& measured) {
  const std::string& backend = failed.single.backend;
  const bool works = std::any_of(measured.singles.begin(), measured.singles.end(),
                                 [&](const Single& single) { return single.backend == backend; });
  const bool known = std::any_of(measured.failed.begin(), measured.failed.end(),
                                 [&](const BackendRow& row) { return row.name == backend; });
  if (works) {
    measured.warnings.push_back({"backend_failed_partly", Severity::warning, failed.single.label,
                                 "some of its runs failed: " + failed.reason, ""});
  } else if (!known) {
    measured.failed.push_back(failed_row(backend, BackendStatus::failed, failed.reason));
  }
}

}  // namespace

std::vector<Single> singles_to_measure(const Job& job, const std::vector<std::string>& backends,
                                       const RuntimeInfo& runtime, Measured& measured) {
  std::vector<Single> singles = {{k_cpu, k_cpu, {}}};
  for (const std::string& backend : backends) {
    if (backend == k_cpu) continue;
    if (const std::string reason = why_unusable(runtime, backend); !reason.empty()) {
      measured.failed.push_back(failed_row(backend, BackendStatus::missing, reason));
      continue;
    }
    const Placement all = what_it_may_run(job, backend);
    if (all.empty()) {
      measured.failed.push_back(
          failed_row(backend, BackendStatus::refused, "it can run none of the model's operations"));
      continue;
    }
    const bool listed = is_listed(job, backend);
    const Placement some = listed ? all : of_usual_types(job, all);
    if (!some.empty()) singles.push_back({backend, backend, some});
    if (!listed && some.size() < all.size())
      singles.push_back({to_string(RunLabel{backend, true}), backend, all});
  }
  return singles;
}

void take_singles(const Job& job, const MeasureOutcome& outcome, Measured& measured) {
  measured.warnings.insert(measured.warnings.end(), outcome.warnings.begin(),
                           outcome.warnings.end());
  for (const SingleOutcome& single : outcome.singles) {
    if (single.failed) continue;
    if (!has_label(measured, single.single.label)) measured.singles.push_back(single.single);
    note_discovered(job, single.single, measured);
    std::erase_if(measured.failed,
                  [&](const BackendRow& row) { return row.name == single.single.backend; });
  }
  for (const SingleOutcome& single : outcome.singles) {
    if (single.failed) take_failure(single, measured);
  }
}

void check_types(const Job& job, const Trace& trace, const std::string& label) {
  const auto& operations = job.model.subgraphs.at(0).operations;
  for (const OpTrace& op : trace.ops) {
    if (op.op.subgraph != 0 || op.op.index >= static_cast<int>(operations.size())) continue;
    check_type(operations[static_cast<std::size_t>(op.op.index)], op.type, label);
  }
}

Measured read_back(const Job& job, const Options& options) {
  Measured measured;
  ProfileQuery query{options.trace_dir, job.package().name, options.backends, std::nullopt,
                     options.force};
  if (options.threads.size() == 1 && !options.force) query.threads = options.threads.front();
  measured.loaded = load_profile(query);
  measured.warnings = measured.loaded.warnings;
  const Context& recorded = measured.loaded.profile.context;
  if (!options.force && !recorded.model.sha256.empty()) {
    // Flat layouts say nothing of model, shapes and device.
    if (const std::string trouble = why_not_of(recorded, job, options); !trouble.empty()) {
      throw Error(ErrorKind::input, "cannot use the traces of", job.package().name, trouble,
                  "profiling again, or --force");
    }
  }
  for (const RunTrace& run : measured.loaded.runs) {
    check_types(job, run.trace, run.run.label);
    if (run.run.kind != RunKind::single || run.run.status != RunStatus::ok ||
        (!run.trace.has_samples() && !run.trace.has_averages()) ||
        has_label(measured, run.run.label))
      continue;
    measured.singles.push_back({run.run.label, parse_run_label(run.run.label).backend,
                                run.run.placement.value_or(Placement())});
    note_discovered(job, measured.singles.back(), measured);
  }
  if (measured.singles.empty()) {
    throw Error(ErrorKind::input, "cannot schedule from the traces of", job.package().name,
                "no run in them can be used" +
                    (measured.warnings.empty() ? "" : "; first: " + measured.warnings.front().text),
                "profiling again");
  }
  return measured;
}

}  // namespace stab
