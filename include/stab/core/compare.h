// SPDX-License-Identifier: Apache-2.0
// Compares results of several nights: what is read of each, what must be equal for that, and the
// verdicts.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/context.h"
#include "stab/core/plan.h"
#include "stab/core/result.h"

namespace stab {

/// An operation where its schedule puts it: that backend's own traced rounds.
struct ScheduledOp {
  OpId op;
  std::string type;
  std::string backend;
  std::vector<double> rounds_us;  ///< empty where that backend was not measured
};

/// What a comparison needs of a result document or a stab.json.
struct EarlierResult {
  std::string name;  ///< of the file, for people
  std::string sha256;
  StabInfo stab;
  std::optional<std::string> measured_at;
  Context context;
  int threads = 1;
  Plan plan;  ///< the chosen one, with the rounds of its timing proof
  std::vector<ScheduledOp> ops;
  /// Whole graph while traced, per backend the rounds as singles; not in a stab.json.
  std::map<std::string, std::vector<double>> singles_us;
  std::optional<std::string> best_single;  ///< backend
};

/// Reads a result or a stab.json. Throws Error(input) naming `name` and the place, also for a
/// result that chose no plan.
EarlierResult parse_earlier_result(std::string_view text, const std::string& name);

/// Two measurements side by side.
struct Circumstances {
  const Context* context = nullptr;
  int threads = 1;
};

/// Why times of the one say nothing about the other: another model, device, number of threads, or
/// settings that change times. One phrase each ("the device is 'b', it was 'a'"); empty when
/// comparable.
std::vector<std::string> why_not_comparable(const Circumstances& then, const Circumstances& now);

/// What changed and may be the very reason of a difference: runtime, kernel, package configuration.
std::vector<std::string> what_changed(const Circumstances& then, const Circumstances& now);

/// Equal placement and keys, in whatever order: one program for the runtime.
bool same_schedule(const Plan& a, const Plan& b);

/// The last of `baselines` is the one that is compared operation by operation; all of them show how
/// nights differ. Whole graphs are compared by the rounds of the timing proof, else by the traced
/// rounds of the same best single backend, whichever all files have. Throws Error(input) when a
/// baseline stands there twice, by its bytes or by its times: then nights would seem not to differ.
Comparison compare_nights(std::span<const EarlierResult> baselines, const EarlierResult& now,
                          std::optional<double> gate_percent);

/// The verdict by pairs of one night: `now` and `then` are plans that were timed in the same
/// rounds. Operations are compared between the nights, as above. Plans of equal placement and keys
/// are one plan: no difference, surely.
/// A gate that passes so becomes unsure where the baseline's schedule itself is surely slower
/// tonight than in its file, by more than the gate allows: pairs cannot tell what changed beneath
/// both of them.
Comparison compare_tonight(const EarlierResult& baseline, const EarlierResult& now,
                           const Plan& then_tonight, std::optional<double> gate_percent);

/// Exit status that the gate asks for: 6 when it failed, or is unsure and `strict`.
int gate_status(const Comparison& comparison, bool strict);

}  // namespace stab
