// SPDX-License-Identifier: Apache-2.0
// The short list of schedules worth proving, and what moving single operations would change about
// one of them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stab/core/cost_model.h"
#include "stab/core/ids.h"
#include "stab/core/placement.h"
#include "stab/core/plan.h"
#include "stab/core/scheduler.h"

namespace stab {

/// Everything that one backend runs in its single run, and what the graph took then.
struct SinglePlan {
  std::string backend;
  Placement placement;
  std::optional<double> graph_us;
};

/// The fastest measured one; the first among equals, and those without a time last. There must be
/// one.
std::size_t best_single(std::span<const SinglePlan> singles);

struct CandidateRequest {
  std::vector<SinglePlan> singles;   ///< in the order of backends
  std::optional<Placement> greedy;   ///< in place of the optimum and the noise-averse optimum
  std::vector<Placement> previous;   ///< plans that are there already
  std::vector<Placement> baselines;  ///< plans of a result to compare with
  double fixed_us = 0;
  double overhead_us = 0;
  SolverLimits limits;
};

struct CandidateSet {
  /// Numbered "p1", …: the optimum, the noise-averse optimum (or the greedy plan alone), singles,
  /// previous, baselines. Several may have the same placement. A plan that the measurements say
  /// nothing of has no estimate.
  std::vector<Plan> plans;
  std::size_t baseline = 0;                ///< index of the best single
  std::optional<Certificate> certificate;  ///< of the optimum; absent with a greedy plan
};

/// The candidates for a problem whose default placement is the best single's.
CandidateSet make_candidates(const ModelProblem& problem, const OpTimes& times,
                             const CandidateRequest& request);

/// What the whole plan would cost in microseconds, fixed and overhead apart, if only this operation
/// moved, by operation and backend; the plan's own cost where it is.
std::map<OpId, std::map<std::string, double>> in_company_us(const ModelProblem& problem,
                                                            std::span<const int> placement);

/// An operation and the switches that are there because of where it is: what it makes is read on
/// other backends, or it alone brings a tensor to its own.
struct SwitchCause {
  OpId op;
  int switches = 0;
  double copies_us = 0;
};

/// Operations that cause switches: by cost, then number of switches, then operation.
std::vector<SwitchCause> switch_causes(const ModelProblem& problem, std::span<const int> placement);

}  // namespace stab
