// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "document.h"

namespace stab {
namespace {

constexpr std::size_t k_max_bytes = std::size_t{64} << 20;
constexpr int k_max_depth = 64;

[[noreturn]] void fail_document(std::string_view what, std::string_view file, std::string why) {
  throw Error(ErrorKind::input, std::string(what), std::string(file), std::move(why));
}

}  // namespace

JsonPlace::JsonPlace(const nlohmann::json& value, std::string what, std::string file)
    : value_(&value), what_(std::move(what)), file_(std::move(file)) {}

JsonPlace::JsonPlace(const nlohmann::json& value, const JsonPlace& parent, std::string path)
    : value_(&value), what_(parent.what_), file_(parent.file_), path_(std::move(path)) {}

void JsonPlace::fail(std::string why) const {
  fail_document(what_, file_, path_.empty() ? std::move(why) : path_ + ": " + why);
}

std::optional<JsonPlace> JsonPlace::find(std::string_view member) const {
  if (!value_->is_object()) fail("an object expected");
  const auto found = value_->find(member);
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonPlace(*found, *this,
                   path_.empty() ? std::string(member) : path_ + "." + std::string(member));
}

JsonPlace JsonPlace::at(std::string_view member) const {
  auto found = find(member);
  if (!found) fail("'" + std::string(member) + "' is missing");
  return *std::move(found);
}

std::vector<JsonPlace> JsonPlace::elements() const {
  if (!value_->is_array()) fail("an array expected");
  std::vector<JsonPlace> places;
  for (std::size_t i = 0; i < value_->size(); ++i) {
    places.push_back(JsonPlace((*value_)[i], *this, path_ + "[" + std::to_string(i) + "]"));
  }
  return places;
}

std::vector<std::pair<std::string, JsonPlace>> JsonPlace::members() const {
  if (!value_->is_object()) fail("an object expected");
  std::vector<std::pair<std::string, JsonPlace>> places;
  for (auto member = value_->begin(); member != value_->end(); ++member) {
    places.emplace_back(member.key(), JsonPlace(*member, *this, path_ + "." + member.key()));
  }
  return places;
}

std::string JsonPlace::text() const {
  if (!value_->is_string()) fail("text expected");
  return value_->get<std::string>();
}

bool JsonPlace::boolean() const {
  if (!value_->is_boolean()) fail("true or false expected");
  return value_->get<bool>();
}

std::int64_t JsonPlace::integer(std::int64_t low, std::int64_t high) const {
  if (!value_->is_number_integer()) fail("a whole number expected");
  const bool huge = value_->is_number_unsigned() &&
                    value_->get<std::uint64_t>() >
                        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (huge || value_->get<std::int64_t>() < low || value_->get<std::int64_t>() > high) {
    fail("a number from " + std::to_string(low) + " to " + std::to_string(high) + " expected");
  }
  return value_->get<std::int64_t>();
}

double JsonPlace::number() const {
  if (!value_->is_number()) fail("a number expected");
  const double number = value_->get<double>();
  if (!std::isfinite(number)) fail("the number is too large");
  return number;
}

std::vector<double> JsonPlace::numbers() const {
  std::vector<double> list;
  for (const JsonPlace& element : elements()) list.push_back(element.number());
  return list;
}

std::map<std::string, std::string> JsonPlace::texts_by_name() const {
  std::map<std::string, std::string> texts;
  for (const auto& [name, place] : members()) texts.emplace(name, place.text());
  return texts;
}

Placement JsonPlace::placement() const {
  Placement placement;
  for (const auto& [name, place] : members()) {
    const auto op = parse_op_id(name);
    if (!op) place.fail("no operation is named so");
    placement.emplace(*op, place.text());
  }
  return placement;
}

std::string JsonPlace::text_or(std::string_view member, std::string otherwise) const {
  const auto place = find(member);
  return place ? place->text() : std::move(otherwise);
}

bool JsonPlace::boolean_or(std::string_view member, bool otherwise) const {
  const auto place = find(member);
  return place ? place->boolean() : otherwise;
}

std::optional<std::string> JsonPlace::find_text(std::string_view member) const {
  const auto place = find(member);
  return place ? std::optional(place->text()) : std::nullopt;
}

std::optional<std::int64_t> JsonPlace::find_integer(std::string_view member) const {
  const auto place = find(member);
  if (!place) return std::nullopt;
  return place->integer(std::numeric_limits<std::int64_t>::min(),
                        std::numeric_limits<std::int64_t>::max());
}

std::optional<double> JsonPlace::find_number(std::string_view member) const {
  const auto place = find(member);
  return place ? std::optional(place->number()) : std::nullopt;
}

int JsonPlace::count(std::string_view member) const {
  return static_cast<int>(at(member).integer(0, std::numeric_limits<int>::max()));
}

int JsonPlace::count_or(std::string_view member, int otherwise) const {
  return find(member) ? count(member) : otherwise;
}

nlohmann::json parse_document(std::string_view text, std::string_view what, std::string_view file,
                              std::span<const std::string_view> kinds, int schema_version) {
  if (text.size() > k_max_bytes) fail_document(what, file, "it holds more than 64 MiB");
  nlohmann::json document;
  try {
    document =
        nlohmann::json::parse(text, [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
          if (depth > k_max_depth) fail_document(what, file, "it is nested deeper than 64 levels");
          return true;
        });
  } catch (const nlohmann::json::parse_error& error) {
    fail_document(what, file,
                  text.empty()
                      ? "it is empty"
                      : "byte " + std::to_string(error.byte) + ": it is no JSON, or cut off");
  } catch (const nlohmann::json::exception& error) {
    fail_document(what, file, "it is no JSON: a number is out of range");
  }
  const JsonPlace root(document, std::string(what), std::string(file));
  if (std::find(kinds.begin(), kinds.end(), root.text_or("kind", "")) == kinds.end()) {
    std::string names;
    for (const std::string_view kind : kinds)
      names += (names.empty() ? "'" : " or '") + std::string(kind) + "'";
    root.fail("it is no document of the kind " + names);
  }
  const std::int64_t version =
      root.at("schema_version").integer(1, std::numeric_limits<int>::max());
  if (version > schema_version) {
    root.fail("its schema " + std::to_string(version) + " is newer than this stab's " +
              std::to_string(schema_version));
  }
  return document;
}

}  // namespace stab
