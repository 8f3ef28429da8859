// SPDX-License-Identifier: Apache-2.0
// Reads what a later run needs of a stab.json: which model, which plan, how it reaches the runtime.
#include <nlohmann/json.hpp>

#include "stab/core/result.h"

namespace stab {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t k_most_bytes = std::size_t{64} << 20;

[[noreturn]] void refuse(const std::string& name, const std::string& why) {
  throw Error(ErrorKind::input, "cannot read schedule", name, why, "scheduling the package again");
}

const Json& member(const Json& json, const char* key, const std::string& name) {
  if (!json.is_object() || !json.contains(key))
    refuse(name, std::string("it has no member '") + key + "'");
  return json.at(key);
}

std::string text(const Json& json, const char* key, const std::string& name) {
  const Json& value = member(json, key, name);
  if (!value.is_string()) refuse(name, std::string("member '") + key + "' is no text");
  return value.get<std::string>();
}

Placement read_placement(const Json& json, const std::string& name) {
  Placement placement;
  if (!json.is_object()) refuse(name, "a placement is no object");
  for (const auto& [key, value] : json.items()) {
    const auto op = parse_op_id(key);
    if (!op || !value.is_string())
      refuse(name, "placement '" + key + "' is no operation with a backend");
    placement[*op] = value.get<std::string>();
  }
  return placement;
}

std::vector<std::pair<std::string, std::string>> read_keys(const Json& json,
                                                           const std::string& name) {
  std::vector<std::pair<std::string, std::string>> keys;
  if (!json.is_object()) refuse(name, "the keys of a plan are no object");
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) refuse(name, "key '" + key + "' is no text");
    keys.emplace_back(key, value.get<std::string>());
  }
  return keys;
}

Plan read_chosen(const Json& json, const std::string& name) {
  const std::string id = text(json, "chosen", name);
  const Json& plans = member(json, "plans", name);
  if (!plans.is_array()) refuse(name, "'plans' is no list");
  for (const Json& entry : plans) {
    if (text(entry, "id", name) != id) continue;
    Plan plan;
    plan.id = id;
    plan.kind = PlanKind::previous;
    plan.placement = read_placement(member(entry, "placement", name), name);
    plan.keys = read_keys(member(entry, "keys", name), name);
    return plan;
  }
  refuse(name, "its chosen plan '" + id + "' is not among its plans");
}

}  // namespace

Schedule parse_schedule(const std::string& content, const std::string& name) {
  if (content.size() > k_most_bytes) refuse(name, "it is larger than 64 MiB");
  const Json json = Json::parse(content, nullptr, false);
  if (json.is_discarded()) refuse(name, "it is no JSON");
  if (text(json, "kind", name) != "schedule") refuse(name, "it is no schedule of stab");
  Schedule schedule;
  const Json& context = member(json, "context", name);
  const Json& model = member(context, "model", name);
  schedule.model_sha256 = text(model, "sha256", name);
  const Json& threads = member(json, "threads", name);
  if (!threads.is_number_integer() || threads.get<long>() < 1 || threads.get<long>() > 1024)
    refuse(name, "'threads' is no number of threads");
  schedule.threads = threads.get<int>();
  schedule.algorithm = text(json, "algorithm", name);
  schedule.chosen = read_chosen(json, name);
  const Json& delivery = member(json, "delivery", name);
  if (delivery.is_object() && delivery.contains("works") && delivery.at("works").is_string()) {
    schedule.works = delivery.at("works").get<std::string>();
  }
  return schedule;
}

}  // namespace stab
