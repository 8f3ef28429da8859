// SPDX-License-Identifier: Apache-2.0
#include "support/simulated_job.h"

#include <stdexcept>

#include "app/assemble.h"
#include "stab/core/schedule_keys.h"
#include "support/simulated_device.h"

namespace stab::test {
namespace {

constexpr int k_operations = 14;
constexpr int k_rounds = 6;
constexpr std::uint64_t k_tensor_bytes = 200'704;
const std::string k_hash(64, 'a');

Model make_model() {
  Model model = chain_model(k_operations);
  Subgraph& graph = model.subgraphs.front();
  for (Tensor& tensor : graph.tensors) {
    tensor.shape = {1, 28, 28, 64};
    tensor.bytes = k_tensor_bytes;
  }
  graph.tensors.at(3).name = "block/<conv> & \"bias\"";
  graph.tensors.at(5).name = "=SUM(A1:A9), really";
  for (const std::size_t depthwise : {2U, 4U, 7U, 10U}) {
    graph.operations.at(depthwise).schema_name = "DEPTHWISE_CONV_2D";
    graph.operations.at(depthwise).type = graph.operations.at(depthwise).key = "DepthwiseConv2D";
  }
  return model;
}

SimulatedDevice make_device() {
  SimulatedDevice device(k_operations);
  device.true_us["cpu"] = {900, 2100, 450, 1900, 380, 2500, 3100, 700, 120, 640, 300, 210, 95, 40};
  device.true_us["ruy"] = {640, 1500, 450, 1350, 380, 3600, 4100, 700, 180, 900, 300, 260, 140, 60};
  device.true_us["acl_neon"] = {800,  1800, 600, 1500, 500, 900, 1000,
                                1200, 400,  800, 700,  500, 300, 200};
  device.overhead_us = 85;
  device.round_noise = 0.006;
  device.run_noise = 0.012;
  return device;
}

DeviceInfo device_info() {
  DeviceInfo device;
  device.id = "0123456789abcdef";
  device.name = "bench board <3>";
  device.transport = "ssh";
  device.host = "board.example";
  device.kernel = "Linux 6.1.21-v8+";
  device.boot_id = "11111111-2222-3333-4444-555555555555";
  device.arch = "aarch64";
  device.libc = "glibc 2.36";
  device.soc = "BCM2711";
  device.cores = {{1'800'000, 4, "0xf"}};
  device.memory_bytes = 3'978'559'488;
  return device;
}

class Simulation {
 public:
  SimulatedJob run() {
    measure_singles();
    decide_plans();
    prove_plans();
    finish();
    return {std::move(loaded_.profile), std::move(result_)};
  }

  Result estimate() {
    device_.true_us["acl_neon"] = std::vector<double>(k_operations, 5000);
    device_.true_us["ruy"] = std::vector<double>(k_operations, 4000);
    measure_singles();
    decide_plans();
    result_.plans = decision_.plans;
    result_.chosen = decision_.preferred;
    result_.baseline = decision_.best_single;
    finish();
    return std::move(result_);
  }

 private:
  RuntimeKeys keys_for(const Placement& placement,
                       const std::optional<std::string>& planner) const {
    KeyRequest request;
    request.placement = placement;
    request.backends = backends_;
    request.memory_planner = planner;
    return schedule_keys(request);
  }

  Single single(const std::string& backend) const {
    Single single{backend, backend, {}};
    if (backend == k_cpu) return single;
    for (const Operation& op : model_.subgraphs.front().operations) {
      if (backend != "ruy" || op.type == "Conv2D") single.placement[op.id] = backend;
    }
    return single;
  }

  void measure_singles() {
    Profile& profile = loaded_.profile;
    profile.stab = {"0.1.0", "abcdef123456"};
    profile.measured_at = "2026-01-31T12:00:00Z";
    profile.context.package = {"net <1>", k_hash, {{"MY_KEY", "kept"}}};
    profile.context.model = {"net.tflite", k_hash, ModelFormat::tflite, {k_operations}};
    profile.context.runtime = {k_hash,
                               "1.26.0",
                               true,
                               {"BACKENDS", "OP_BACKEND_MAP"},
                               {{"acl_neon", k_hash, true, ""},
                                {"cpu", k_hash, true, ""},
                                {"ruy", k_hash, true, ""},
                                {"xnnpack", "", false, "libXNNPACK.so is not there"}}};
    profile.context.device = device_info();
    profile.context.settings.runs = 8 * k_rounds;
    profile.context.settings.rounds = k_rounds;
    profile.context.settings.seeds = {1, 2, 3};

    MeasureRequest request;
    request.model = &model_;
    for (const Operation& op : model_.subgraphs.front().operations) operations_.push_back(op.id);
    request.operations = operations_;
    for (const std::string& backend : backends_) request.singles.push_back(single(backend));
    request.runs = profile.context.settings.runs;
    request.rounds = request.max_rounds = k_rounds;
    request.make_keys = [this](const Placement& placement) {
      return keys_for(placement, std::nullopt);
    };
    request.on_run = [this](const MeasuredRun& run) { keep(run); };
    request.progress = [](const std::string&, double, double) {};
    request.out_of_time = [] { return false; };
    for (const SingleOutcome& outcome : measure(device_, request).singles) {
      if (outcome.failed) throw std::runtime_error("the simulated " + outcome.single.label);
      singles_.push_back(outcome.single);
    }
    profile.complete = true;
  }

  void keep(const MeasuredRun& run) {
    ProfileRun row = profile_run(run);
    const auto warmth = static_cast<std::int64_t>(loaded_.runs.size());
    row.before = DeviceState{"ondemand", {1'500'000, 1'800'000}, 44'000 + 100 * warmth, false, 0.3};
    row.after = DeviceState{"ondemand", {1'800'000, 1'800'000}, 46'000 + 200 * warmth, false, 1.1};
    row.chrome =
        RunFile{run.label + "_1." + std::to_string(run.round) + ".chrome.json", 999, k_hash};
    row.prepare_us = 12'500;
    loaded_.profile.runs.push_back(row);
    loaded_.runs.push_back({row, run.outcome.trace.value_or(Trace())});
  }

  void decide_plans() {
    timings_ = summarise(loaded_.runs, 1);
    DecideRequest request;
    request.model = &model_;
    request.timings = &timings_;
    request.averages = &averages_;
    request.op_list = default_op_list();
    request.backends = backends_;
    for (const Single& one : singles_) {
      request.singles.push_back({one.label, one.backend, one.placement,
                                 timings_.find_label(one.label)->graph_us->median});
      if (one.backend != k_cpu) {
        for (const auto& [op, backend] : one.placement) request.discovered[backend].insert(op);
      }
    }
    request.runs = loaded_.runs;
    request.make_keys =
        [this](const Placement& placement, const std::optional<std::string>& planner,
               const std::optional<GreedyForm>&) { return keys_for(placement, planner); };
    decision_ = decide(request);
  }

  void prove_plans() {
    ProofRequest request;
    request.model = &model_;
    request.operations = operations_;
    request.plans = decision_.plans;
    request.backends = backends_;
    request.input_sets = {{"a"}, {"b"}, {"c"}};
    request.seeds = {1, 2, 3};
    request.runs = 8 * k_rounds;
    request.rounds = k_rounds;
    request.make_keys = decision_.make_keys;
    request.price = decision_.price;
    take_proofs(prove(device_, request), result_);
  }

  void finish() {
    result_.stab = loaded_.profile.stab;
    result_.context = loaded_.profile.context;
    result_.measured_at = loaded_.profile.measured_at;
    result_.profile_sha256 = k_hash;
    result_.overhead_us = decision_.overhead_us;
    result_.ops = decision_.ops;
    result_.tensors = describe_tensors(model_);
    result_.transfers = decision_.transfers;
    result_.certificate = decision_.certificate;
    result_.left_out = {{{0, 13}, "ruy", "its index would also move operation 1:13 (Add)"}};
    result_.backends = backend_rows(singles_, {{1, timings_}});
    BackendRow missing;
    missing.name = "xnnpack";
    missing.status = BackendStatus::missing;
    missing.reason = "the runtime has no libbackend_xnnpack.so";
    result_.backends.push_back(missing);
    result_.noise = noise_of(timings_);
    result_.warnings.insert(result_.warnings.end(), timings_.warnings.begin(),
                            timings_.warnings.end());
    add_conditions(loaded_, false, result_);
    finish_choice(*result_.find_plan(result_.chosen), decision_, result_);
    result_.summary.package_path = "nnpkg_sched/net <1>";
    result_.delivery.command = "stab-runner 'nnpkg_sched/net <1>'";
    result_.stages = {{"check", 0.125, 0, 0},
                      {"profile", 42.5, 40.25, 0},
                      {"decide", 0.0625, 0, 0},
                      {"prove", 61.75, 58, 0}};
    result_.written = std::vector<WrittenFile>{{"metadata/MANIFEST", k_hash}};
  }

  const std::vector<std::string> backends_ = {"cpu", "ruy", "acl_neon"};
  const Model model_ = make_model();
  SimulatedDevice device_ = make_device();
  std::vector<OpId> operations_;
  LoadedProfile loaded_;
  std::vector<Single> singles_;
  Timings timings_;
  AveragedRuns averages_;
  Decision decision_;
  Result result_;
};

}  // namespace

SimulatedJob simulated_job() {
  return Simulation().run();
}

Result simulated_estimate() {
  return Simulation().estimate();
}

}  // namespace stab::test
