// SPDX-License-Identifier: Apache-2.0
// Second proof: the outputs equal cpu's. Where they do not: another memory planner, then the guilty
// operation back to cpu.
#include <algorithm>

#include "prove_internal.h"

namespace stab::proving {
namespace {

constexpr const char* k_planner_key = "CPU_MEMORY_PLANNER";
constexpr const char* k_safe_planner = "Bump";
/// Two executions: the second one meets whatever the first left behind.
constexpr int k_runs = 2;

RuntimeKeys without_planner(RuntimeKeys keys) {
  std::erase_if(keys, [](const auto& entry) { return entry.first == k_planner_key; });
  return keys;
}

Plan all_on_cpu() {
  Plan plan;
  plan.id = "cpu-reference";
  plan.kind = PlanKind::single;
  plan.backend = k_cpu;
  return plan;
}

}  // namespace

Equality::Equality(TrialRunner& runner, const ProofRequest& request, const Route& route)
    : runner_(runner),
      request_(request),
      route_(route),
      flipping_(flipping_outputs(*request.model)) {}

TrialOutcome Equality::run(const std::string& label, const RuntimeKeys& keys, Way way,
                           std::size_t set) {
  Route route = route_;
  route.way = way;
  Trial trial = trial_by(request_, route, label, keys);
  trial.runs = k_runs;
  trial.inputs = request_.input_sets.empty() ? nullptr : &request_.input_sets[set];
  trial.wants_outputs = true;
  return runner_.run(trial);
}

bool Equality::make_references() {
  if (references_made_) return no_reference_.empty();
  references_made_ = true;
  const RuntimeKeys keys = without_planner(request_.make_keys(all_on_cpu(), std::nullopt));
  const std::size_t outputs = request_.model->subgraphs.at(0).outputs.size();
  for (std::size_t set = 0; set < std::max<std::size_t>(request_.input_sets.size(), 1); ++set) {
    Reference reference;
    for (auto* half : {&reference.first, &reference.second}) {
      TrialOutcome outcome = run("cpu", keys, Way::all, set);
      if (!outcome.ok() || outcome.outputs.size() != outputs) {
        no_reference_ = outcome.ok() ? "the runner cannot write outputs"
                                     : "cpu itself failed: " + outcome.reason;
        return false;
      }
      *half = std::move(outcome.outputs);
    }
    references_.push_back(std::move(reference));
  }
  return true;
}

Equality::Verdict Equality::compare_set(const Plan& plan, const RuntimeKeys& keys,
                                        std::size_t set) {
  Verdict verdict;
  const TrialOutcome outcome = run(plan.id, keys, route_.way, set);
  verdict.peak_rss_kb = outcome.peak_rss_kb;
  const Reference& reference = references_[set];
  if (!outcome.ok() || outcome.outputs.size() != reference.first.size()) {
    verdict.status = ProofStatus::fail;
    verdict.reason = outcome.ok()
                         ? "it wrote " + std::to_string(outcome.outputs.size()) + " outputs"
                         : outcome.reason;
    return verdict;
  }
  const Subgraph& graph = request_.model->subgraphs.at(0);
  for (std::size_t i = 0; i < reference.first.size(); ++i) {
    const DataType type = graph.tensors.at(static_cast<std::size_t>(graph.outputs[i])).type;
    verdict.outputs.push_back(compare_output(static_cast<int>(i), type, reference.first[i],
                                             reference.second[i], outcome.outputs[i],
                                             request_.tolerance.value_or(default_limit(type))));
  }
  return verdict;
}

Equality::Verdict Equality::compare(const Plan& plan, const RuntimeKeys& keys) {
  Verdict all;
  for (std::size_t set = 0; set < references_.size(); ++set) {
    Verdict one = compare_set(plan, keys, set);
    all.peak_rss_kb = std::max(all.peak_rss_kb, one.peak_rss_kb);
    if (one.status == ProofStatus::fail) {
      one.peak_rss_kb = all.peak_rss_kb;
      return one;
    }
    for (std::size_t i = 0; i < one.outputs.size(); ++i) {
      if (set == 0)
        all.outputs.push_back(one.outputs[i]);
      else
        all.outputs[i] = worse(all.outputs[i], one.outputs[i]);
    }
  }
  bool comparable = false;
  for (const EqualProof::Output& output : all.outputs) {
    comparable = comparable || output.comparable;
    if (!output.comparable || output.pass) continue;
    if (flipping_.contains(output.index) && all.status != ProofStatus::fail) {
      all.status = ProofStatus::unsure;
      all.reason = "output " + std::to_string(output.index) +
                   " picks values and may flip on rounding; give --input";
    } else if (!flipping_.contains(output.index)) {
      all.status = ProofStatus::fail;
      all.reason = "output " + std::to_string(output.index) + " differs";
    }
  }
  if (!comparable && !all.outputs.empty()) {
    all.status = ProofStatus::unsure;
    all.reason = "cpu's own outputs differ between two runs";
  }
  return all;
}

bool Equality::try_planner(Plan& plan, const Verdict& before) {
  const std::string* found = find_key(plan.keys, k_planner_key);
  const std::string asked_for = found == nullptr ? "" : *found;
  if (asked_for == k_safe_planner) return false;
  const RuntimeKeys keys = request_.make_keys(plan, k_safe_planner);
  const Verdict cured = compare(plan, keys);
  if (cured.status == ProofStatus::fail) return false;
  plan.keys = keys;
  plan.equal.status = cured.status;
  plan.equal.outputs = cured.outputs;
  plan.equal.remedy = std::string(k_planner_key) + "=" + k_safe_planner;
  plan.peak_rss_kb = cured.peak_rss_kb;
  std::string memory;
  if (before.peak_rss_kb && cured.peak_rss_kb) {
    memory = "; peak memory " + std::to_string(*cured.peak_rss_kb) + " KB instead of " +
             std::to_string(*before.peak_rss_kb) + " KB";
    if (static_cast<double>(*cured.peak_rss_kb) > 1.2 * static_cast<double>(*before.peak_rss_kb)) {
      warnings_.push_back(
          {"remedy_memory", Severity::warning, plan.id,
           "the memory planner that cures its outputs needs more than 20 % more memory" + memory,
           ""});
    }
  }
  plan.equal.reason =
      (asked_for.empty() ? std::string("the default planner gave wrong outputs")
                         : "the " + asked_for + " that was asked for gave wrong outputs") +
      memory;
  return true;
}

bool Equality::prefix_is_equal(const Plan& plan, const std::vector<OpId>& switched,
                               std::size_t length) {
  Plan part = plan;
  part.placement.clear();
  for (std::size_t i = 0; i < length; ++i)
    part.placement[switched[i]] = plan.placement.at(switched[i]);
  part.id = plan.id + "-prefix";
  return compare(part, request_.make_keys(part, std::nullopt)).status != ProofStatus::fail;
}

/// The last operation of the smallest failing prefix of the switched ones. Faults come from pairs
/// and are not monotone: the bisection keeps a passing and a failing prefix and narrows to
/// neighbours, which always exist.
std::optional<OpId> Equality::find_guilty(const Plan& plan) {
  std::vector<OpId> switched;
  for (const auto& [op, backend] : plan.placement) switched.push_back(op);
  std::size_t passing = 0;
  std::size_t failing = switched.size();
  while (failing - passing > 1) {
    const std::size_t middle = passing + (failing - passing) / 2;
    (prefix_is_equal(plan, switched, middle) ? passing : failing) = middle;
  }
  if (switched.empty()) return std::nullopt;
  return switched[failing - 1];
}

bool may_be_rearranged(const Plan& plan) {
  return plan.kind == PlanKind::optimum || plan.kind == PlanKind::averse ||
         plan.kind == PlanKind::greedy;
}

void Equality::prove(Plan& plan) {
  plan.equal = {};
  plan.equal.seeds = request_.seeds;
  if (!make_references()) {
    plan.equal.status = ProofStatus::skipped;
    plan.equal.reason = no_reference_;
    return;
  }
  Verdict verdict = compare(plan, plan.keys);
  if (verdict.peak_rss_kb) plan.peak_rss_kb = verdict.peak_rss_kb;
  const bool may_help = request_.remedies && !plan.placement.empty();
  if (verdict.status == ProofStatus::fail && may_help && try_planner(plan, verdict)) return;
  while (verdict.status == ProofStatus::fail && may_help && may_be_rearranged(plan) &&
         static_cast<int>(plan.equal.guilty.size()) < request_.max_pins) {
    const auto guilty = find_guilty(plan);
    if (!guilty) break;
    plan.equal.guilty.push_back(*guilty);
    if (request_.pinned.contains(*guilty)) {
      verdict.reason += ": operation " + to_string(*guilty) + " is to blame, and it is pinned";
      break;
    }
    plan.placement.erase(*guilty);
    plan.keys = request_.make_keys(plan, std::nullopt);
    request_.price(plan);
    verdict = compare(plan, plan.keys);
  }
  plan.equal.status = verdict.status;
  plan.equal.outputs = verdict.outputs;
  plan.equal.reason = verdict.reason;
}

}  // namespace stab::proving
