// SPDX-License-Identifier: Apache-2.0
#include "stab/core/plan.h"

#include <algorithm>
#include <utility>

#include "stab/core/result.h"

namespace stab {

std::string_view to_string(PlanKind kind) {
  switch (kind) {
    case PlanKind::optimum:
      return "optimum";
    case PlanKind::averse:
      return "averse";
    case PlanKind::single:
      return "single";
    case PlanKind::greedy:
      return "greedy";
    case PlanKind::previous:
      return "previous";
    case PlanKind::baseline:
      return "baseline";
    case PlanKind::today:
      return "today";
  }
  return "optimum";
}

std::string_view to_string(ProofStatus status) {
  switch (status) {
    case ProofStatus::pass:
      return "pass";
    case ProofStatus::fail:
      return "fail";
    case ProofStatus::unsure:
      return "unsure";
    case ProofStatus::skipped:
      return "skipped";
  }
  return "skipped";
}

std::string_view to_string(FasterStatus status) {
  switch (status) {
    case FasterStatus::faster:
      return "faster";
    case FasterStatus::same:
      return "same";
    case FasterStatus::slower:
      return "slower";
    case FasterStatus::skipped:
      return "skipped";
  }
  return "skipped";
}

std::string_view to_string(BackendStatus status) {
  switch (status) {
    case BackendStatus::used:
      return "used";
    case BackendStatus::measured:
      return "measured";
    case BackendStatus::missing:
      return "missing";
    case BackendStatus::failed:
      return "failed";
    case BackendStatus::refused:
      return "refused";
  }
  return "failed";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::proven:
      return "proven";
    case Outcome::estimated:
      return "estimated";
    case Outcome::written_only:
      return "written_only";
    case Outcome::refused:
      return "refused";
    case Outcome::failed:
      return "failed";
    case Outcome::interrupted:
      return "interrupted";
  }
  return "failed";
}

const Plan* find_plan(const std::vector<Plan>& plans, std::string_view id) {
  const auto found =
      std::find_if(plans.begin(), plans.end(), [id](const Plan& plan) { return plan.id == id; });
  return found == plans.end() ? nullptr : &*found;
}

Plan* find_plan(std::vector<Plan>& plans, std::string_view id) {
  return const_cast<Plan*>(find_plan(std::as_const(plans), id));
}

const Plan* Result::find_plan(const std::string& id) const {
  return stab::find_plan(plans, id);
}

}  // namespace stab
