// SPDX-License-Identifier: Apache-2.0
#include "support/lp_file.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <vector>

namespace stab::test {
namespace {

class Writer {
 public:
  explicit Writer(const PlacementProblem& problem) : problem_(problem) {
    for (int i = 0; i < std::ssize(problem.ops); ++i) add_op(i);
    for (int t = 0; t < std::ssize(problem.tensors); ++t) add_tensor(t);
  }

  std::string take() const {
    // A constant keeps the objective from being empty.
    return "Minimize\n cost: 0 fixed" + objective_.str() + "\nSubject To\n one: fixed = 1\n" +
           rows_.str() + "Bounds\n" + bounds_.str() + "Binary\n" + binaries_.str() + "End\n";
  }

 private:
  static std::string x(int op, int backend) {
    return "x_" + std::to_string(op) + "_" + std::to_string(backend);
  }

  void add_op(int i) {
    std::string sum;
    for (int b = 0; b < problem_.backends; ++b) {
      const Ticks cost = problem_.ops[i].cost[b];
      if (cost == k_impossible) continue;
      objective_ << "\n + " << cost << " " << x(i, b);
      binaries_ << " " << x(i, b) << "\n";
      sum += " + " + x(i, b);
    }
    rows_ << " op" << i << ":" << sum << " = 1\n";
  }

  std::vector<int> sources(const PlacementTensor& tensor) const {
    if (tensor.producer == k_builtin) return {problem_.builtin()};
    std::vector<int> from;
    for (int b = 0; b < problem_.backends; ++b) {
      if (problem_.ops[tensor.producer].cost[b] != k_impossible) from.push_back(b);
    }
    return from;
  }

  void add_tensor(int t) {
    const PlacementTensor& tensor = problem_.tensors[t];
    for (int to = 0; to <= problem_.builtin(); ++to) {
      std::vector<int> readers;
      for (const int reader : tensor.readers) {
        if (to < problem_.builtin() && problem_.ops[reader].cost[to] != k_impossible)
          readers.push_back(reader);
      }
      if (readers.empty() && !(to == problem_.builtin() && tensor.graph_output)) continue;
      const std::string brought = bring(t, to);
      const std::string row = " t" + std::to_string(t) + "_" + std::to_string(to) + "_";
      if (to == problem_.builtin()) rows_ << row << "out:" << brought << " >= 1\n";
      for (const int reader : readers) {
        rows_ << row << reader << ":" << brought << " - " << x(reader, to) << " >= 0\n";
      }
    }
  }

  /// Writes the variables that bring tensor `t` to `to`, and returns their sum.
  std::string bring(int t, int to) {
    const PlacementTensor& tensor = problem_.tensors[t];
    std::string sum;
    for (const int from : sources(tensor)) {
      const Ticks cost = problem_.copy_cost(t, from, to);
      if (cost == k_impossible) continue;
      const std::string y =
          "y_" + std::to_string(t) + "_" + std::to_string(from) + "_" + std::to_string(to);
      objective_ << "\n + " << cost << " " << y;
      bounds_ << " 0 <= " << y << " <= 1\n";
      sum += " + " + y;
      if (tensor.producer == k_builtin) continue;
      rows_ << " f_" << t << "_" << from << "_" << to << ": " << y << " - "
            << x(tensor.producer, from) << " <= 0\n";
    }
    return sum.empty() ? " 0 fixed" : sum;
  }

  const PlacementProblem& problem_;
  std::ostringstream objective_, rows_, bounds_, binaries_;
};

std::optional<Ticks> number_after(std::string_view text, std::string_view word) {
  const std::size_t place = text.find(word);
  if (place == std::string_view::npos) return std::nullopt;
  text.remove_prefix(place + word.size());
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  return std::llround(value);
}

}  // namespace

std::string render_lp(const PlacementProblem& problem) {
  return Writer(problem).take();
}

std::optional<Ticks> optimum_of_cbc(std::string_view solution) {
  return number_after(solution.substr(0, solution.find('\n')), "Optimal - objective value");
}

std::optional<Ticks> optimum_of_glpsol(std::string_view solution) {
  if (solution.find("INTEGER OPTIMAL") == std::string_view::npos &&
      solution.find("\ns mip") == std::string_view::npos) {
    return std::nullopt;
  }
  return number_after(solution, "cost = ");
}

}  // namespace stab::test
