// SPDX-License-Identifier: Apache-2.0
#include "stab/core/greedy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "stab/core/error.h"
#include "stab/core/trace.h"
#include "support/recorded.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

const ListedTypes k_first_list = {{"ruy", {"Conv2D", "FullyConnected"}},
                                  {"xnnpack", {"Conv2D", "DepthwiseConv2D", "FullyConnected"}}};

std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream) << file;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

AveragedRun averaged(const std::string& backend, const std::string& bytes) {
  const Trace trace = parse_trace(bytes, backend);
  AveragedRun run{backend, trace.graph_averaged.value().mean_us, {}};
  for (const OpTrace& op : trace.ops) {
    run.ops.push_back({op.op, op.backend, op.type, op.averaged.value().mean_us});
  }
  return run;
}

/// The whole file as the first stab writes it around the map.
std::string config_of(const GreedyPlan& plan, const std::vector<std::string>& backends) {
  std::string text = "OP_BACKEND_MAP=" + plan.map_text;
  for (const std::string& type : plan.default_types)
    text += "\nOP_BACKEND_" + type + "=" + plan.default_backend;
  text += "\nBACKENDS=cpu";
  for (std::size_t b = 1; b < backends.size(); ++b) text += ";" + backends[b];
  return text + "\nEIGEN_THREADS=1\nRUY_THREADS=1\nXNNPACK_THREADS=1";
}

struct Recorded {
  std::string ours;
  std::string first;  ///< as the first stab writes it
};

Recorded of_recorded(const std::string& runtime, const std::string& model,
                     const ListedTypes& listed) {
  std::vector<std::string> backends = {"cpu"};
  for (const auto& [backend, types] : listed) backends.push_back(backend);
  std::vector<AveragedRun> runs;
  for (const std::string& backend : backends) {
    runs.push_back(averaged(backend, test::recorded_run(runtime, model, backend).averaged));
  }
  const fs::path golden = fs::path(STAB_TEST_DATA) / "greedy" / (runtime + "." + model + ".cfg");
  return {config_of(greedy(runs, listed), backends), read(golden)};
}

void expect_equal(const Recorded& recorded) {
  EXPECT_EQ(recorded.ours, recorded.first);
}

const std::string k_mobilenet = "mobilenet_v1_0.25_224_1_default_1";

TEST(Greedy, WritesWhatTheFirstStabWritesForRecordedTraces) {
  expect_equal(of_recorded("onert-2022", k_mobilenet, k_first_list));
  for (const std::string& model :
       {std::string("onet"), std::string("hand_landmark"), k_mobilenet}) {
    expect_equal(of_recorded("onert-1.26-armv7", model, k_first_list));
  }
  for (const std::string& model : {std::string("onet"), k_mobilenet}) {
    expect_equal(of_recorded("onert-1.30-x86_64", model, {{"ruy", {"Conv2D", "FullyConnected"}}}));
  }
}

TEST(Greedy, DiffersFromTheFirstStabWhereThatTookZeroMicrosecondsForUnset) {
  // Operation 38 of this trace is a FullyConnected of 0 us on cpu, 4 on ruy and 1 on xnnpack, which
  // is the default.
  Recorded recorded = of_recorded("onert-2022", "onet", k_first_list);
  const std::string only_here = "38=cpu;";
  const std::size_t place = recorded.ours.find(only_here);
  ASSERT_NE(place, std::string::npos);
  recorded.ours.erase(place, only_here.size());
  expect_equal(recorded);
}

TEST(Greedy, WritesWhatTheFirstStabWritesForTiesAndEachDefault) {
  for (int number = 0; number < 9; ++number) {
    const fs::path folder =
        fs::path(STAB_TEST_DATA) / "greedy" / ("made_" + std::to_string(number));
    std::vector<AveragedRun> runs;
    for (const std::string backend : {"cpu", "ruy", "xnnpack"}) {
      runs.push_back(averaged(backend, read(folder / (backend + "_1"))));
    }
    EXPECT_EQ(config_of(greedy(runs, k_first_list), {"cpu", "ruy", "xnnpack"}),
              read(folder / "config.cfg"))
        << folder;
  }
}

TEST(Greedy, LetsAnOperationOfZeroMicrosecondsWin) {
  const GreedyPlan plan = greedy({{"cpu", 10, {{{0, 0}, "cpu", "Conv2D", 5}}},
                                  {"ruy", 12, {{{0, 0}, "ruy", "Conv2D", 0}}},
                                  {"xnnpack", 12, {{{0, 0}, "xnnpack", "Conv2D", 1}}}},
                                 k_first_list);
  EXPECT_EQ(plan.map_text, "0=ruy;");
}

TEST(Greedy, LeavesOutBackendsThatNeverRanAnOperation) {
  // The default is ruy, whose run has the depthwise operation on cpu.
  const GreedyPlan plan =
      greedy({{"cpu", 10, {{{0, 0}, "cpu", "DepthwiseConv2D", 5}, {{0, 1}, "cpu", "Conv2D", 9}}},
              {"ruy", 8, {{{0, 0}, "cpu", "DepthwiseConv2D", 6}, {{0, 1}, "ruy", "Conv2D", 2}}}},
             k_first_list);
  EXPECT_EQ(plan.default_backend, "ruy");
  EXPECT_EQ(plan.map_text, "0=cpu;");
  EXPECT_EQ(plan.choices.at({0, 1}), "ruy");
}

TEST(Greedy, KeepsOperationsOfOtherSubgraphsApart) {
  const GreedyPlan plan =
      greedy({{"cpu", 10, {{{0, 0}, "cpu", "Conv2D", 5}, {{1, 0}, "cpu", "Conv2D", 900}}},
              {"ruy", 12, {{{0, 0}, "ruy", "Conv2D", 7}, {{1, 0}, "ruy", "Conv2D", 1}}}},
             k_first_list);
  EXPECT_EQ(plan.map_text, "");
  EXPECT_EQ(plan.choices.size(), 1u);
}

TEST(Greedy, SaysWhenThereIsNothingToDecideBy) {
  EXPECT_THROW(greedy({}, k_first_list), Error);
}

}  // namespace
}  // namespace stab
