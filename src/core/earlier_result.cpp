// SPDX-License-Identifier: Apache-2.0
// Reads what a comparison needs of a result document or a stab.json, and no more.
#include <algorithm>
#include <array>

#include "core/document.h"
#include "stab/core/compare.h"
#include "stab/core/sha256.h"
#include "stab/core/statistics.h"

namespace stab {
namespace {

constexpr int k_schema_version = 1;
constexpr std::string_view k_what = "cannot compare with";
constexpr std::array<std::string_view, 2> k_kinds = {"result", "schedule"};

std::vector<double> read_times(const JsonPlace& place) {
  std::vector<double> times = place.numbers();
  if (std::any_of(times.begin(), times.end(), [](double us) { return us < 0; }))
    place.fail("times of 0 or more expected");
  return times;
}

PlanKind read_plan_kind(const JsonPlace& place) {
  for (const PlanKind kind :
       {PlanKind::optimum, PlanKind::averse, PlanKind::single, PlanKind::greedy, PlanKind::previous,
        PlanKind::baseline, PlanKind::today}) {
    if (place.text() == to_string(kind)) return kind;
  }
  place.fail("no plan is of this kind");
}

Plan read_plan(const JsonPlace& place) {
  Plan plan;
  plan.id = place.at("id").text();
  plan.kind = read_plan_kind(place.at("kind"));
  plan.backend = place.find_text("backend");
  plan.placement = place.at("placement").placement();
  for (const auto& [key, value] : place.at("keys").members())
    plan.keys.emplace_back(key, value.text());
  const auto faster = place.find("faster");
  if (!faster) return plan;
  if (const auto rounds = faster->find("round_medians_us"))
    plan.faster.round_medians_us = read_times(*rounds);
  plan.faster.median_us = median(plan.faster.round_medians_us);
  return plan;
}

void read_plans(const JsonPlace& document, EarlierResult& result) {
  const auto chosen = document.find_text("chosen");
  if (!chosen) document.fail("it chose no plan: that run was refused or failed");
  const auto best_single = document.find_text("baseline");
  bool found = false;
  for (const JsonPlace& place : document.at("plans").elements()) {
    const std::string id = place.at("id").text();
    if (id == best_single) result.best_single = place.find_text("backend");
    if (id != *chosen || found) continue;
    result.plan = read_plan(place);
    found = true;
  }
  if (!found) document.at("chosen").fail("no plan has this id");
}

ScheduledOp read_op(const JsonPlace& place, const Placement& placement) {
  ScheduledOp op;
  const auto id = parse_op_id(place.at("op").text());
  if (!id) place.at("op").fail("no operation is named so");
  op.op = *id;
  op.type = place.text_or("type", "");
  op.backend = backend_of(placement, op.op);
  const auto candidates = place.find("candidates");
  const auto candidate = candidates ? candidates->find(op.backend) : std::nullopt;
  if (!candidate) return op;
  if (const auto rounds = candidate->find("round_medians_us")) op.rounds_us = read_times(*rounds);
  return op;
}

/// Round medians of a backend as single with the number of threads that was chosen.
std::vector<double> read_single(const JsonPlace& backend, int threads) {
  std::vector<double> medians;
  const auto by_threads = backend.find("by_threads");
  const auto times = by_threads ? by_threads->find(std::to_string(threads)) : std::nullopt;
  const auto samples = times ? times->find("samples_us") : std::nullopt;
  if (!samples) return medians;
  for (const JsonPlace& round : samples->elements()) {
    if (const auto middle = median(read_times(round))) medians.push_back(*middle);
  }
  return medians;
}

}  // namespace

EarlierResult parse_earlier_result(std::string_view text, const std::string& name) {
  const auto json = parse_document(text, k_what, name, k_kinds, k_schema_version);
  const JsonPlace document(json, std::string(k_what), name);
  EarlierResult result;
  result.name = name;
  result.sha256 = sha256_hex(text);
  if (const auto stab = document.find("stab")) result.stab = read_stab(*stab);
  result.measured_at = document.find_text("measured_at");
  result.context = read_context(document.at("context"));
  result.threads = static_cast<int>(document.at("threads").integer(1, 1024));
  read_plans(document, result);
  for (const JsonPlace& place : document.at("ops").elements())
    result.ops.push_back(read_op(place, result.plan.placement));
  const auto same = [](const ScheduledOp& a, const ScheduledOp& b) { return a.op == b.op; };
  std::stable_sort(result.ops.begin(), result.ops.end(),
                   [](const ScheduledOp& a, const ScheduledOp& b) { return a.op < b.op; });
  if (std::adjacent_find(result.ops.begin(), result.ops.end(), same) != result.ops.end())
    document.at("ops").fail("an operation stands there twice");
  if (const auto backends = document.find("backends")) {
    for (const JsonPlace& backend : backends->elements()) {
      std::vector<double> rounds = read_single(backend, result.threads);
      if (!rounds.empty()) result.singles_us.emplace(backend.at("name").text(), std::move(rounds));
    }
  }
  return result;
}

}  // namespace stab
