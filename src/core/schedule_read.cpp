// SPDX-License-Identifier: Apache-2.0
// Reads what a later run needs of a stab.json: which model, which plan, how it reaches the runtime.
#include "core/document.h"
#include "stab/core/result.h"

namespace stab {
namespace {

constexpr int k_schema_version = 1;

Plan read_plan(const JsonPlace& place, const std::string& id) {
  Plan plan;
  plan.id = id;
  plan.kind = PlanKind::previous;
  plan.placement = place.at("placement").placement();
  for (const auto& [key, value] : place.at("keys").members())
    plan.keys.emplace_back(key, value.text());
  return plan;
}

Plan read_chosen(const JsonPlace& document) {
  const JsonPlace chosen = document.at("chosen");
  const std::string id = chosen.text();
  for (const JsonPlace& place : document.at("plans").elements()) {
    if (place.at("id").text() == id) return read_plan(place, id);
  }
  chosen.fail("no plan has this id");
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
  schedule.chosen = read_chosen(document);
  if (const auto delivery = document.find("delivery"))
    schedule.works = delivery->find_text("works");
  return schedule;
}

}  // namespace stab
