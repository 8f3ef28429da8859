// SPDX-License-Identifier: Apache-2.0
// Time and memory of the solver over the size of a graph, its width, and the number of backends.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "stab/core/cost_model.h"
#include "stab/core/scheduler.h"
#include "support/graph_builder.h"
#include "support/random_problem.h"

namespace {

std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

}  // namespace

void* operator new(std::size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += malloc_usable_size(memory);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return memory;
}

void operator delete(void* memory) noexcept {
  live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  operator delete(memory);
}

namespace stab {
namespace {

void run(benchmark::State& state, const PlacementProblem& problem) {
  Certificate certificate;
  const std::size_t before = live_bytes;
  peak_bytes = before;
  for (auto _ : state) certificate = solve(problem).certificate;
  state.counters["ops"] = static_cast<double>(problem.ops.size());
  state.counters["width"] = certificate.width;
  state.counters["states"] = static_cast<double>(certificate.states);
  state.counters["gap_percent"] = 100 * certificate.gap();
  state.counters["peak_MB"] = static_cast<double>(peak_bytes - before) / 1e6;
  state.SetLabel(std::string(to_string(certificate.status)) + ", " +
                 std::string(to_string(certificate.method)));
}

/// Each backend a class of its own, nothing forced: the hardest case of each graph.
test::ProblemShape open_shape(int ops, int backends) {
  test::ProblemShape shape;
  shape.ops = ops;
  shape.backends = backends;
  shape.impossible = shape.pinned = shape.outputs = 0;
  shape.largest_cost = 20'000;
  shape.largest_copy = 30'000;
  return shape;
}

void chains(benchmark::State& state) {
  test::ProblemShape shape =
      open_shape(static_cast<int>(state.range(0)), static_cast<int>(state.range(1)));
  shape.most_inputs = shape.reach = 1;
  std::mt19937_64 random(1);
  run(state, test::random_problem(random, shape));
}
BENCHMARK(chains)
    ->ArgsProduct({{100, 1000, 10'000}, {2, 4, 6}})
    ->ArgNames({"ops", "backends"})
    ->Unit(benchmark::kMillisecond);

/// Each operation reads up to two of the last `reach` tensors.
void wide_graphs(benchmark::State& state) {
  test::ProblemShape shape = open_shape(1000, static_cast<int>(state.range(1)));
  shape.most_inputs = 2;
  shape.reach = static_cast<int>(state.range(0));
  std::mt19937_64 random(1);
  run(state, test::random_problem(random, shape));
}
BENCHMARK(wide_graphs)
    ->ArgsProduct({{2, 3, 4, 6, 8}, {2, 4, 6}})
    ->ArgNames({"reach", "backends"})
    ->Unit(benchmark::kMillisecond);

/// Inputs from anywhere before: no network looks like that.
void shapeless_graphs(benchmark::State& state) {
  std::mt19937_64 random(1);
  run(state, test::random_problem(random, open_shape(static_cast<int>(state.range(0)),
                                                     static_cast<int>(state.range(1)))));
}
BENCHMARK(shapeless_graphs)
    ->ArgsProduct({{50, 100, 300}, {2, 3, 4}})
    ->ArgNames({"ops", "backends"})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// A flat dense block of twelve layers, in which every operation can run on every backend, and no
/// two share a class.
void flat_dense_blocks(benchmark::State& state) {
  const Model model = test::densenet_flat(12, 1);
  std::vector<std::string> backends = {"cpu"};
  while (std::ssize(backends) < state.range(0))
    backends.push_back("own" + std::to_string(backends.size()));
  const OpTimes times = test::made_up_times(model, backends, 1);
  run(state, make_problem(model, times, TransferModel(backends, {}), backends).problem);
}
BENCHMARK(flat_dense_blocks)
    ->DenseRange(2, 10, 2)
    ->ArgName("backends")
    ->Unit(benchmark::kMillisecond);

/// Well-known networks on cpu, ruy, xnnpack and up to three accelerators.
void networks(benchmark::State& state, const test::NamedModel& known, std::size_t backends) {
  const std::vector<std::string> all = {"cpu", "ruy", "xnnpack", "acl_neon", "acl_cl", "gpu_cl"};
  const std::vector<std::string> some(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(backends));
  const OpTimes times = test::made_up_times(known.model, some, 1);
  run(state, make_problem(known.model, times, TransferModel(some, {}), some).problem);
}

}  // namespace
}  // namespace stab

int main(int argc, char** argv) {
  for (const stab::test::NamedModel& known : stab::test::well_known_models()) {
    for (const std::size_t backends : {4u, 6u}) {
      benchmark::RegisterBenchmark(
          (known.name + "/backends:" + std::to_string(backends)).c_str(),
          [known, backends](benchmark::State& state) { stab::networks(state, known, backends); })
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
