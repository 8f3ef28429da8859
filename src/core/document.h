// SPDX-License-Identifier: Apache-2.0
// What the JSON documents of stab share: their text, their common objects, and reading with places
// in the messages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/context.h"
#include "stab/core/error.h"
#include "stab/core/placement.h"
#include "stab/core/statistics.h"

namespace stab {

/// A document in the making: members stay in the order they were put in.
using Json = nlohmann::ordered_json;

/// The document as text, ending in a line break: two blanks for each level, arrays of plain values
/// on one line, bytes that are not UTF-8 as U+FFFD, numbers as short as they can be read back,
/// infinities and NaN as null. Independent of the locale.
std::string render_document(const Json& document);

/// null for unknown.
template <typename T>
Json json_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
/// null for an empty list or text.
template <typename T>
Json json_unless_empty(const T& value) {
  return value.empty() ? Json(nullptr) : Json(value);
}

Json json_of(const StabInfo& stab);
/// `with_host`: host name and boot id, which do not leave the house in a package.
Json json_of(const Context& context, bool with_host = true);
Json json_of(const DeviceState& state);
Json json_of(const Warning& warning);
Json json_of(const std::vector<Warning>& warnings);
/// {median, low, high}
Json json_of(const Interval& interval);
Json json_of(const Placement& placement);

/// A value in a document that is being read, with the way to it: "runs[3].round". The document must
/// outlive it.
class JsonPlace {
 public:
  /// The whole document.
  JsonPlace(const nlohmann::json& value, std::string what, std::string file);

  /// A member; absent when it is missing or null. Throws when this is no object.
  std::optional<JsonPlace> find(std::string_view member) const;
  /// A member that must be there.
  JsonPlace at(std::string_view member) const;
  /// The elements of an array, the members of an object.
  std::vector<JsonPlace> elements() const;
  std::vector<std::pair<std::string, JsonPlace>> members() const;

  std::string text() const;
  bool boolean() const;
  std::int64_t integer(std::int64_t low, std::int64_t high) const;
  double number() const;
  std::vector<double> numbers() const;
  std::map<std::string, std::string> texts_by_name() const;
  Placement placement() const;

  // The member of that name, or what stands for unknown.
  std::string text_or(std::string_view member, std::string otherwise) const;
  bool boolean_or(std::string_view member, bool otherwise) const;
  std::optional<std::string> find_text(std::string_view member) const;
  std::optional<std::int64_t> find_integer(std::string_view member) const;
  std::optional<double> find_number(std::string_view member) const;
  int count(std::string_view member) const;  ///< from 0, must be there
  int count_or(std::string_view member, int otherwise) const;

  [[noreturn]] void fail(std::string why) const;

 private:
  JsonPlace(const nlohmann::json& value, const JsonPlace& parent, std::string path);

  const nlohmann::json* value_;
  std::string what_;
  std::string file_;
  std::string path_;
};

/// Parses a document of stab and checks that it is of one of these kinds and of a schema that is
/// known.
/// `what` stands in front of messages: "cannot read profile". Throws Error(input) with file and
/// byte, also for more than 64 MiB or 64 levels.
nlohmann::json parse_document(std::string_view text, std::string_view what, std::string_view file,
                              std::span<const std::string_view> kinds, int schema_version);
inline nlohmann::json parse_document(std::string_view text, std::string_view what,
                                     std::string_view file, std::string_view kind,
                                     int schema_version) {
  return parse_document(text, what, file, std::span(&kind, 1), schema_version);
}

StabInfo read_stab(const JsonPlace& place);
Context read_context(const JsonPlace& place);
DeviceState read_state(const JsonPlace& place);
Warning read_warning(const JsonPlace& place);

}  // namespace stab
