// SPDX-License-Identifier: Apache-2.0
#include "stab/core/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "support/graph_builder.h"

namespace stab {
namespace {

struct World {
  Model model;
  ModelProblem made;
};

World world_of(Model model, const std::vector<std::string>& backends) {
  ModelProblem made = make_problem(model, test::made_up_times(model, backends, 1),
                                   TransferModel(backends, {}), backends);
  return {std::move(model), std::move(made)};
}

std::vector<TransferPoint> points_of(const World& world, const Placement& placement) {
  std::vector<TransferPoint> points;
  const Evaluation evaluation =
      evaluate(world.made.problem, world.made.to_numbers(placement).value());
  const auto name = [&world](int location) {
    return location == world.made.problem.builtin() ? std::string(k_portable)
                                                    : backend_class(world.made.backends[location]);
  };
  for (const CopyMade& copy : evaluation.copies_made) {
    const Tensor& tensor = world.model.subgraphs[0].tensors[world.made.tensors[copy.tensor].index];
    points.push_back({name(copy.from), name(copy.to), tensor.bytes.value(), to_us(copy.cost)});
  }
  return points;
}

TEST(Calibration, FitsEveryPairOfClassesFromAFewRuns) {
  const std::vector<std::string> backends = {"cpu", "ruy", "acl_neon", "acl_cl"};
  for (Model model : {test::mobilenet_v2(), test::resnet_50(), test::u_net()}) {
    const World world = world_of(std::move(model), backends);
    const std::vector<CalibrationRun> runs = plan_calibration(world.model, world.made);
    EXPECT_LE(runs.size(), 6u);
    std::vector<TransferPoint> points;
    for (const CalibrationRun& run : runs) {
      const std::vector<TransferPoint> own = points_of(world, run.placement);
      EXPECT_EQ(static_cast<int>(own.size()), run.copies);
      points.insert(points.end(), own.begin(), own.end());
    }
    const TransferModel fitted(backends, points);
    EXPECT_EQ(fitted.transfers().size(), 6u);
    for (const Transfer& transfer : fitted.transfers()) {
      EXPECT_EQ(transfer.source, TransferSource::fitted) << transfer.from << " " << transfer.to;
      EXPECT_NEAR(transfer.latency_us, 50, 1);
    }
  }
}

TEST(Calibration, AsksForNothingAmongPortableBackends) {
  const World world = world_of(test::mobilenet_v2(), {"cpu", "ruy", "xnnpack"});
  EXPECT_TRUE(plan_calibration(world.model, world.made).empty());
}

TEST(Calibration, AsksForNothingThatIsKnown) {
  const World world = world_of(test::mobilenet_v2(), {"cpu", "acl_neon"});
  std::vector<TransferPoint> known;
  for (const CalibrationRun& run : plan_calibration(world.model, world.made, {}, 100)) {
    const std::vector<TransferPoint> own = points_of(world, run.placement);
    known.insert(known.end(), own.begin(), own.end());
  }
  EXPECT_FALSE(known.empty());
  EXPECT_TRUE(plan_calibration(world.model, world.made, known).empty());
}

TEST(Calibration, GivesTheSameRunsEachTime) {
  const World world = world_of(test::u_net(), {"cpu", "acl_neon", "gpu_cl"});
  const std::vector<CalibrationRun> first = plan_calibration(world.model, world.made);
  const std::vector<CalibrationRun> second = plan_calibration(world.model, world.made);
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(first[k].placement, second[k].placement);
}

}  // namespace
}  // namespace stab
