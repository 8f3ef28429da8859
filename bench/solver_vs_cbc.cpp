// SPDX-License-Identifier: Apache-2.0
// The solver against Debian's integer programming solver cbc on the same problems: processor
// seconds of both, and the ratio. cbc gets a minute for each; what it cannot prove in that time is
// shown with the least ratio that follows.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "stab/core/cost_model.h"
#include "stab/core/scheduler.h"
#include "support/graph_builder.h"
#include "support/lp_file.h"
#include "support/random_problem.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

constexpr int k_cbc_seconds = 60;

double child_seconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec) / 1e6;
}

struct CbcAnswer {
  double seconds = 0;
  std::optional<Ticks> optimum;
};

CbcAnswer ask_cbc(const fs::path& folder, const PlacementProblem& problem) {
  std::ofstream(folder / "a.lp") << test::render_lp(problem);
  fs::remove(folder / "a.sol");
  const double before = child_seconds();
  const std::string command = "cd '" + folder.string() + "' && cbc a.lp ratio 0 sec " +
                              std::to_string(k_cbc_seconds) + " solve solution a.sol > log 2>&1";
  const bool ran = std::system(command.c_str()) == 0;
  CbcAnswer answer{child_seconds() - before, std::nullopt};
  std::ifstream stream(folder / "a.sol");
  const std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (ran) answer.optimum = test::optimum_of_cbc(text);
  return answer;
}

void compare(const fs::path& folder, const std::string& name, const PlacementProblem& problem) {
  int repeats = 0;
  const std::clock_t start = std::clock();
  Certificate certificate;
  do {
    certificate = solve(problem).certificate;
    ++repeats;
  } while (std::clock() - start < CLOCKS_PER_SEC / 5);
  const double own = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repeats;
  const CbcAnswer cbc = ask_cbc(folder, problem);
  const char* verdict = !cbc.optimum                       ? "cbc has no proof"
                        : *cbc.optimum == certificate.cost ? "equal"
                                                           : "DIFFERENT";
  std::printf("%-34s %6zu %3d %12.6f %10.3f %s%9.0f  %s, %s\n", name.c_str(), problem.ops.size(),
              problem.backends, own, cbc.seconds, cbc.optimum ? " " : ">", cbc.seconds / own,
              std::string(to_string(certificate.status)).c_str(), verdict);
  std::fflush(stdout);
}

PlacementProblem network(const Model& model, std::size_t count) {
  const std::vector<std::string> all = {"cpu", "ruy", "xnnpack", "acl_neon", "acl_cl", "gpu_cl"};
  const std::vector<std::string> some(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(count));
  return make_problem(model, test::made_up_times(model, some, 1), TransferModel(some, {}), some)
      .problem;
}

PlacementProblem random_graph(int ops, int backends, int inputs, int reach) {
  test::ProblemShape shape;
  shape.ops = ops;
  shape.backends = backends;
  shape.most_inputs = inputs;
  shape.reach = reach;
  shape.largest_cost = 20'000;
  shape.largest_copy = 30'000;
  std::mt19937_64 random(1);
  return test::random_problem(random, shape);
}

void compare_all(const fs::path& folder) {
  std::printf("%-34s %6s %3s %12s %10s %10s\n", "problem", "ops", "b", "stab s", "cbc s", "ratio");
  for (const test::NamedModel& known : test::well_known_models()) {
    for (const std::size_t backends : {4u, 6u})
      compare(folder, known.name, network(known.model, backends));
  }
  for (const int backends : {2, 3, 4}) {
    compare(folder, "random, inputs from nearby", random_graph(300, backends, 2, 4));
    compare(folder, "random, inputs from anywhere", random_graph(100, backends, 3, 0));
  }
}

}  // namespace
}  // namespace stab

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("solver_vs_cbc." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const bool found = std::system("cbc quit > /dev/null 2>&1") == 0;
  if (found) stab::compare_all(folder);
  std::filesystem::remove_all(folder);
  if (found) return 0;
  std::fprintf(stderr, "solver_vs_cbc: cbc is not installed: try apt-get install coinor-cbc\n");
  return 1;
}
