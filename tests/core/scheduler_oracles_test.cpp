// SPDX-License-Identifier: Apache-2.0
// The solver against methods that share nothing with it: minimum cuts, and integer programming by
// Debian's solvers.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <string>

#include "stab/core/scheduler.h"
#include "support/consistency.h"
#include "support/lp_file.h"
#include "support/min_cut.h"
#include "support/random_problem.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::ProblemShape;
using test::random_problem;

TEST(SchedulerOracles, EqualsAMinimumCutOnFiveHundredGraphsOfTwoBackends) {
  std::mt19937_64 random(4314);
  for (int round = 0; round < 500; ++round) {
    SCOPED_TRACE(round);
    ProblemShape shape;
    shape.backends = 2;
    shape.ops = 1 + round * 2 / 5;
    shape.reach = round % 3 == 0 ? 0 : 2 + round % 7;
    shape.most_inputs = 1 + round % 3;
    shape.largest_cost = round % 2 == 0 ? 5000 : 8;
    shape.largest_copy = round % 5 == 0 ? 20000 : 5;
    const PlacementProblem problem = random_problem(random, shape);
    const Solution solution = solve(problem);
    test::expect_consistent(problem, solution);
    EXPECT_EQ(solution.certificate.cost, test::min_cut_cost(problem));
    EXPECT_EQ(solution.certificate.status, Certificate::Status::optimal);
    if (HasFailure()) return;
  }
}

bool run_in(const fs::path& folder, const std::string& command) {
  return std::system(("cd '" + folder.string() + "' && " + command + " > log 2>&1").c_str()) == 0;
}

std::optional<Ticks> optimum_by_cbc(const PlacementProblem& problem) {
  const test::TempDir folder;
  folder.write("a.lp", test::render_lp(problem));
  if (!run_in(folder.path(), "cbc a.lp ratio 0 solve solution a.sol")) return std::nullopt;
  return test::optimum_of_cbc(test::read_text(folder.path() / "a.sol"));
}

std::optional<Ticks> optimum_by_glpsol(const PlacementProblem& problem) {
  const test::TempDir folder;
  folder.write("a.lp", test::render_lp(problem));
  if (!run_in(folder.path(), "glpsol --lp a.lp --cuts -o a.txt")) return std::nullopt;
  return test::optimum_of_glpsol(test::read_text(folder.path() / "a.txt"));
}

/// Fifty graphs that an integer program solver can do in a fraction of a second each: what neural
/// networks look like (inputs from nearby), and a few small ones without any such order.
ProblemShape shape_of(int round) {
  ProblemShape shape;
  shape.backends = 2 + round % 3;
  shape.classes = round % 4 == 3 ? 2 : 0;
  shape.ops = round % 5 == 0 ? 25 : 20 + 280 * round / 49;
  shape.reach = round % 5 == 0 ? 0 : 2 + round % 3;
  shape.most_inputs = 2;
  shape.largest_cost = 20000;
  shape.largest_copy = 15000;
  return shape;
}

TEST(SchedulerOracles, EqualsAnIntegerProgramOnFiftyGraphs) {
  test::require_program("cbc");
  std::mt19937_64 random(5118);
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE(round);
    const PlacementProblem problem = random_problem(random, shape_of(round));
    const Solution solution = solve(problem);
    test::expect_consistent(problem, solution);
    EXPECT_EQ(optimum_by_cbc(problem), solution.certificate.cost);
    if (HasFailure()) return;
  }
}

// What elimination is too wide for: bounds and search decide.
TEST(SchedulerOracles, EqualsAnIntegerProgramOnFiveTangles) {
  test::require_program("cbc");
  std::mt19937_64 random(1);
  ProblemShape shape;
  shape.ops = 100;
  shape.largest_cost = 20000;
  shape.largest_copy = 30000;
  for (int round = 0; round < 5; ++round) {
    SCOPED_TRACE(round);
    const PlacementProblem problem = random_problem(random, shape);
    const Solution solution = solve(problem);
    test::expect_consistent(problem, solution);
    EXPECT_EQ(solution.certificate.method, SolveMethod::branch_and_bound);
    EXPECT_EQ(solution.certificate.status, Certificate::Status::optimal);
    EXPECT_EQ(optimum_by_cbc(problem), solution.certificate.cost);
    if (HasFailure()) return;
  }
}

TEST(SchedulerOracles, EqualsTheIntegerProgramOfAnotherSolverOnSmallGraphs) {
  test::require_program("glpsol");
  std::mt19937_64 random(5222);
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE(round);
    ProblemShape shape = shape_of(round);
    shape.ops = 12;
    const PlacementProblem problem = random_problem(random, shape);
    EXPECT_EQ(optimum_by_glpsol(problem), solve(problem).certificate.cost);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace stab
