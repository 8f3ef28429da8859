// SPDX-License-Identifier: Apache-2.0
// The placement problem of one model with its measured times, and the way between operations and
// the solver's indices.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stab/core/model.h"
#include "stab/core/op_list.h"
#include "stab/core/placement_problem.h"
#include "stab/core/result.h"
#include "stab/core/scheduler.h"
#include "stab/core/timings.h"

namespace stab {

class PlanProblem {
 public:
  PlanProblem(const Model& model, const Timings& timings, const OpList& list,
              const std::vector<std::string>& backends, const Discovered& discovered);

  void set_default(const Placement& placement);
  void set_overhead(double us) { overhead_us_ = us; }
  /// Throws Error(input) when the operation was not measured there.
  void pin(OpId op, const std::string& backend);
  bool can(OpId op, const std::string& backend) const;

  Solution solve() const { return stab::solve(problem_); }
  /// Each operation away from the default placement is charged the half-width of its difference.
  Solution solve_averse() const;
  Placement placement_of(const std::vector<int>& backends) const;
  void price(Plan& plan) const;
  std::map<OpId, std::map<std::string, double>> in_company(const Placement& placement) const;

  std::vector<OpRow> rows() const;
  std::vector<TransferRow> transfers() const;
  std::optional<double> overhead_us() const { return overhead_us_; }

 private:
  void add_operations(const OpList& list, const Discovered& discovered);
  void add_tensors();
  std::vector<Ticks> copy_table(const Tensor& tensor) const;
  std::vector<int> indices_of(const Placement& placement) const;
  Ticks averse_charge(std::size_t op, int backend) const;
  int backend_index(const std::string& backend) const;

  const Model& model_;
  const Timings& timings_;
  std::vector<std::string> backends_;
  PlacementProblem problem_;
  std::vector<OpId> ops_;                             ///< by the solver's index
  std::map<OpId, std::optional<std::string>> fixed_;  ///< reason
  std::vector<TensorId> tensors_;                     ///< by the solver's index
  std::optional<double> overhead_us_;
};

}  // namespace stab
