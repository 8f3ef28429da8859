// SPDX-License-Identifier: Apache-2.0
// Reads what a later run needs of a stab.json: which model, which plan, how it reaches the runtime.
#include "core/document.h"
#include "stab/core/result.h"

namespace stab {
namespace {

constexpr int k_schema_version = 1;

Plan read_plan(const JsonPlace& place, PlanKind kind) {
  Plan plan;
  plan.id = place.at("id").text();
  plan.kind = kind;
  plan.backend = place.find_text("backend");
  plan.placement = place.at("placement").placement();
  for (const auto& [key, value] : place.at("keys").members())
    plan.keys.emplace_back(key, value.text());
  return plan;
}

void read_plans(const JsonPlace& document, Schedule& schedule) {
  const JsonPlace chosen = document.at("chosen");
  const std::string id = chosen.text();
  bool found = false;
  for (const JsonPlace& place : document.at("plans").elements()) {
    if (place.at("id").text() == id) {
      schedule.chosen = read_plan(place, PlanKind::previous);
      found = true;
    }
    if (place.at("kind").text() == to_string(PlanKind::single))
      schedule.singles.push_back(read_plan(place, PlanKind::single));
  }
  if (!found) chosen.fail("no plan has this id");
}

}  // namespace

Schedule parse_schedule(const std::string& content, const std::string& name) {
  constexpr std::string_view k_what = "cannot read schedule";
  const auto json = parse_document(content, k_what, name, "schedule", k_schema_version);
  const JsonPlace document(json, std::string(k_what), name);
  Schedule schedule;
  schedule.model_sha256 = document.at("context").at("model").at("sha256").text();
  schedule.threads = static_cast<int>(document.at("threads").integer(1, 1024));
  schedule.algorithm = document.at("algorithm").text();
  read_plans(document, schedule);
  if (const auto delivery = document.find("delivery"))
    schedule.works = delivery->find_text("works");
  return schedule;
}

}  // namespace stab
