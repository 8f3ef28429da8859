// SPDX-License-Identifier: Apache-2.0
#include "stab/core/plan.h"

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

const Plan* Result::find_plan(const std::string& id) const {
  for (const Plan& plan : plans) {
    if (plan.id == id) return &plan;
  }
  return nullptr;
}

}  // namespace stab
