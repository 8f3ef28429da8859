// SPDX-License-Identifier: Apache-2.0
// The solver against Debian's integer programming solver cbc on the same problems: processor
// seconds of both, and the ratio; medians where a row stands for several problems, and the least
// ratio among them. cbc gets a minute for each; where it cannot prove its answer in that time, the
// ratio is at least what is shown.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
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

/// A single random graph says little: of each kind, so many are compared.
constexpr std::uint64_t k_seeds = 5;

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

struct Comparison {
  double own_seconds = 0;
  double cbc_seconds = 0;
  bool is_optimal = false;  ///< by the solver's own certificate
  bool has_proof = false;   ///< cbc has
  bool is_equal = false;

  double ratio() const { return cbc_seconds / own_seconds; }
};

Comparison compare(const fs::path& folder, const PlacementProblem& problem) {
  int repeats = 0;
  const std::clock_t start = std::clock();
  Certificate certificate;
  do {
    certificate = solve(problem).certificate;
    ++repeats;
  } while (std::clock() - start < CLOCKS_PER_SEC / 5);
  const double own = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / repeats;
  const CbcAnswer cbc = ask_cbc(folder, problem);
  return {own, cbc.seconds, certificate.status == Certificate::Status::optimal,
          cbc.optimum.has_value(), cbc.optimum == certificate.cost};
}

template <typename Figure>
double median(const std::vector<Comparison>& comparisons, Figure figure) {
  std::vector<double> figures;
  for (const Comparison& comparison : comparisons) figures.push_back(figure(comparison));
  std::sort(figures.begin(), figures.end());
  const std::size_t half = figures.size() / 2;
  return figures.size() % 2 == 1 ? figures[half] : (figures[half - 1] + figures[half]) / 2;
}

void print_row(const std::string& name, const PlacementProblem& first,
               const std::vector<Comparison>& row) {
  const auto own = [](const Comparison& c) { return c.own_seconds; };
  const auto cbc = [](const Comparison& c) { return c.cbc_seconds; };
  const auto ratio = [](const Comparison& c) { return c.ratio(); };
  const auto less = [](const Comparison& a, const Comparison& b) { return a.ratio() < b.ratio(); };
  const Comparison& least = *std::min_element(row.begin(), row.end(), less);
  int optimal = 0, proofs = 0, equal = 0;
  for (const Comparison& c : row) {
    optimal += c.is_optimal;
    proofs += c.has_proof;
    equal += c.is_equal;
  }
  std::printf("%-29s %6zu %3d %3zu %11.6f %9.3f %9.0f %s%9.0f  %d optimal, %d proven by cbc%s\n",
              name.c_str(), first.ops.size(), first.backends, row.size(), median(row, own),
              median(row, cbc), median(row, ratio), least.has_proof ? " " : ">", least.ratio(),
              optimal, proofs, equal < proofs ? ", DIFFERENT" : "");
  std::fflush(stdout);
}

void compare_network(const fs::path& folder, const std::string& name,
                     const PlacementProblem& problem) {
  print_row(name, problem, {compare(folder, problem)});
}

PlacementProblem network(const Model& model, std::size_t count) {
  const std::vector<std::string> all = {"cpu", "ruy", "xnnpack", "acl_neon", "acl_cl", "gpu_cl"};
  const std::vector<std::string> some(all.begin(),
                                      all.begin() + static_cast<std::ptrdiff_t>(count));
  return make_problem(model, test::made_up_times(model, some, 1), TransferModel(some, {}), some)
      .problem;
}

PlacementProblem random_graph(test::ProblemShape shape, int backends, std::uint64_t seed) {
  shape.backends = backends;
  shape.largest_cost = 20'000;
  shape.largest_copy = 30'000;
  std::mt19937_64 random(seed);
  return test::random_problem(random, shape);
}

void compare_random(const fs::path& folder, const std::string& name,
                    const test::ProblemShape& shape) {
  for (const int backends : {2, 3, 4}) {
    std::vector<Comparison> row;
    for (std::uint64_t seed = 1; seed <= k_seeds; ++seed) {
      row.push_back(compare(folder, random_graph(shape, backends, seed)));
    }
    print_row(name, random_graph(shape, backends, 1), row);
  }
}

void compare_all(const fs::path& folder) {
  std::printf("%-29s %6s %3s %3s %11s %9s %9s %10s\n", "problem", "ops", "b", "n", "stab s",
              "cbc s", "ratio", "least");
  for (const test::NamedModel& known : test::well_known_models()) {
    for (const std::size_t backends : {4u, 6u})
      compare_network(folder, known.name, network(known.model, backends));
  }
  test::ProblemShape nearby;
  nearby.ops = 300;
  nearby.most_inputs = 2;
  nearby.reach = 4;
  compare_random(folder, "random, inputs from nearby", nearby);
  test::ProblemShape anywhere;
  anywhere.ops = 100;
  anywhere.most_inputs = 3;
  anywhere.reach = 0;
  compare_random(folder, "random, inputs from anywhere", anywhere);
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
