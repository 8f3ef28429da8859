// SPDX-License-Identifier: Apache-2.0
#include "stab/app/job.h"

#include "stab/core/error.h"
#include "stab/core/schedule_keys.h"
#include "stab/core/sha256.h"
#include "stab/host/files.h"

namespace stab {
namespace {

constexpr std::uint64_t k_most_list_bytes = 1 << 20;
constexpr std::uint64_t k_most_input_bytes = std::uint64_t{1} << 31;
constexpr std::uint64_t k_most_record_bytes = std::uint64_t{64} << 20;
constexpr int k_seeds[] = {1, 2, 3};

OpList read_op_list(const Options& options) {
  if (!options.op_list) return default_op_list();
  return parse_op_list(read_file(*options.op_list, k_most_list_bytes), options.op_list->string());
}

const Tensor& input_tensor(const Model& model, std::size_t input) {
  const Subgraph& graph = model.subgraphs.at(0);
  return graph.tensors.at(static_cast<std::size_t>(graph.inputs.at(input)));
}

void read_inputs(const Options& options, Job& job) {
  const std::size_t wanted = job.model.subgraphs.at(0).inputs.size();
  if (options.inputs.size() != wanted) {
    throw Error(ErrorKind::usage, "cannot use option", "--input",
                "the model has " + std::to_string(wanted) + " inputs, and " +
                    std::to_string(options.inputs.size()) + " files were given");
  }
  std::vector<std::string> values;
  for (std::size_t i = 0; i < wanted; ++i) {
    values.push_back(read_file(options.inputs[i], k_most_input_bytes));
    job.input_hashes.push_back(sha256_hex(values.back()));
    const auto size = element_size(input_tensor(job.model, i).type);
    if (!size) continue;
    const std::uint64_t bytes = element_count(job.model, static_cast<int>(i), job.shapes) * *size;
    if (values.back().size() == bytes) continue;
    throw Error(ErrorKind::input, "cannot use input", options.inputs[i].string(),
                "input " + std::to_string(i) + " takes " + std::to_string(bytes) +
                    " bytes, the file has " + std::to_string(values.back().size()),
                "--shape when the input is dynamic");
  }
  job.user_inputs = true;
  job.input_sets = {values};
}

void make_inputs(Job& job) {
  const std::size_t count = job.model.subgraphs.at(0).inputs.size();
  for (const int seed : k_seeds) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(make_input(input_tensor(job.model, i),
                                  element_count(job.model, static_cast<int>(i), job.shapes),
                                  static_cast<int>(i), seed));
    }
    job.input_sets.push_back(std::move(values));
    job.seeds.push_back(seed);
  }
}

/// Those that a trace must show where they were put. Control flow, custom operations and the few
/// that the runtime gives to a backend of its own run where it wants.
std::vector<OpId> ordinary_operations(const Job& job) {
  const std::vector<std::string> cpu = {k_cpu};
  std::vector<OpId> ordinary;
  for (const Operation& op : job.model.subgraphs.at(0).operations) {
    if (!candidates(job.model, op.id, job.op_list, cpu).backends.empty()) ordinary.push_back(op.id);
  }
  return ordinary;
}

void find_previous(const Options& options, Job& job) {
  const auto record = output_folder(options.output, job.package()) / k_record_path;
  std::error_code ignored;
  if (!std::filesystem::exists(record, ignored)) return;
  try {
    Schedule schedule = parse_schedule(read_file(record, k_most_record_bytes), record.string());
    if (schedule.model_sha256 == job.package().model_sha256) job.previous = std::move(schedule);
  } catch (const Error& error) {
    job.warnings.push_back({"previous_unreadable", Severity::warning, record.string(),
                            std::string("the earlier schedule is not considered: ") + error.why(),
                            ""});
  }
}

}  // namespace

Job prepare(const Options& options) {
  check_set_keys(options.set);
  check_backend_names(options.backends);
  Job job;
  for (const std::string& pin : options.pins) job.pins.push_back(parse_pin(pin));
  job.op_list = read_op_list(options);
  job.opened = read_package(options.nnpackage);
  job.warnings = job.package().warnings;
  job.model = parse_model(read_model(job.package()), job.package().manifest.format,
                          job.package().manifest.model);
  // What no device can tell is refused before anything is measured.
  resolve_pins(job.model, job.pins, job.op_list, options.backends, {});
  job.operations = ordinary_operations(job);
  job.shapes = resolve_shapes(job.model, options.shape.value_or(""));
  if (options.kind == JobKind::schedule) {
    check_output(options.output, job.package(), options.force);
    if (options.profile)
      check_trace_folder(options.trace_dir, options.output, job.package(), options.force);
  }
  if (!options.inputs.empty()) {
    read_inputs(options, job);
  } else if (options.profile && options.check) {
    try {
      make_inputs(job);
    } catch (const Error& error) {
      job.input_sets.clear();
      job.seeds.clear();
      job.warnings.push_back(
          {"inputs_by_runner", Severity::warning, error.subject(),
           "outputs are compared for the runner's own inputs only: " + error.why(),
           "--input FILE"});
    }
  }
  if (options.kind == JobKind::schedule) find_previous(options, job);
  return job;
}

}  // namespace stab
