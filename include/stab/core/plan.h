// SPDX-License-Identifier: Apache-2.0
// A candidate schedule with everything that is known of it: where it came from, what it should
// cost, what was proven.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stab/core/ids.h"
#include "stab/core/placement.h"
#include "stab/core/statistics.h"

namespace stab {

enum class PlanKind { optimum, averse, single, greedy, previous, baseline, today };
std::string_view to_string(PlanKind kind);

enum class ProofStatus { pass, fail, unsure, skipped };
std::string_view to_string(ProofStatus status);

/// One copy of a tensor to another class of backends, as the plan pays it.
struct PlanCopy {
  TensorId tensor;
  std::string from;
  std::string to;
  double cost_us = 0;
};

struct Estimate {
  double total_us = 0;
  double ops_us = 0;
  double copies_us = 0;
  double overhead_us = 0;
  double low_us = 0;
  double high_us = 0;
};

/// First proof: the staged package runs each operation where the plan says.
struct AppliedProof {
  struct Mismatch {
    OpId op;
    std::string wanted;
    std::string ran;
  };
  ProofStatus status = ProofStatus::skipped;
  std::vector<Mismatch> mismatches;
  std::string reason;  ///< of a failure that is not a mismatch (the run failed)
};

/// Second proof: outputs equal cpu's.
struct EqualProof {
  struct Output {
    int index = 0;
    std::string dtype;
    double max_abs = 0;
    double max_rel = 0;
    double limit_abs = 0;
    double limit_rel = 0;
    bool nan = false;        ///< NaN where the reference has none, or the other way round
    bool comparable = true;  ///< false: cpu differs from itself there
    bool pass = true;
  };
  ProofStatus status = ProofStatus::skipped;
  std::vector<int> seeds;
  std::vector<Output> outputs;        ///< worst over all seeds
  std::optional<std::string> remedy;  ///< "CPU_MEMORY_PLANNER=Bump" when it cured a difference
  std::vector<OpId> guilty;           ///< operations pinned to cpu because of a difference
  std::string reason;
};

enum class FasterStatus { faster, same, slower, skipped };
std::string_view to_string(FasterStatus status);

/// Third proof: not slower than the best single backend, in rounds that no choice was made on.
struct FasterProof {
  FasterStatus status = FasterStatus::skipped;
  std::string against;  ///< plan id
  std::optional<double> median_us;
  std::vector<double> round_medians_us;
  std::vector<std::vector<double>> samples_us;  ///< per round
  std::optional<Interval> delta_us;  ///< this plan minus `against`, median with 95 % interval
};

struct Plan {
  std::string id;  ///< "p1", …
  PlanKind kind = PlanKind::optimum;
  std::optional<std::string> backend;  ///< of single plans
  Placement placement;
  std::vector<std::pair<std::string, std::string>>
      keys;  ///< complete, as delivered, remedy included
  int switches = 0;
  std::vector<PlanCopy> copies;
  std::optional<Estimate> estimate;
  std::optional<std::int64_t> peak_rss_kb;
  AppliedProof applied;
  EqualProof equal;
  FasterProof faster;
};

/// The plan of that id; null when there is none.
Plan* find_plan(std::vector<Plan>& plans, std::string_view id);
const Plan* find_plan(const std::vector<Plan>& plans, std::string_view id);

}  // namespace stab
