// SPDX-License-Identifier: Apache-2.0
// parse_op_list: the text form of an op list.
#include <algorithm>
#include <array>

#include "stab/core/error.h"
#include "stab/core/op_list.h"
#include "stab/core/op_names.h"

namespace stab {
namespace {

constexpr std::string_view k_blanks = " \t\r";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(k_blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(k_blanks) - first + 1);
}

std::optional<DataType> data_type_of(std::string_view name) {
  constexpr std::array k_types = {
      DataType::float32, DataType::float16, DataType::float64,   DataType::int4,
      DataType::int8,    DataType::int16,   DataType::int32,     DataType::int64,
      DataType::uint8,   DataType::uint16,  DataType::uint32,    DataType::uint64,
      DataType::boolean, DataType::string,  DataType::complex64, DataType::complex128};
  const auto found = std::find_if(k_types.begin(), k_types.end(),
                                  [&](DataType type) { return to_string(type) == name; });
  if (found == k_types.end()) return std::nullopt;
  return *found;
}

bool is_backend_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

// The text up to the next `separator` outside of brackets; takes it and the separator off `rest`.
std::string_view take(std::string_view& rest, char separator) {
  std::size_t end = 0;
  for (bool inside = false; end < rest.size(); ++end) {
    if (rest[end] == '[') inside = true;
    if (rest[end] == ']') inside = false;
    if (rest[end] == separator && !inside) break;
  }
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

class Reader {
 public:
  explicit Reader(std::string_view name) : name_(name) {}

  void read_line(std::string_view text) {
    ++line_;
    text = trim(text.substr(0, text.find('#')));
    if (text.empty()) return;
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) fail("has no colon after the backend");
    BackendOps ops;
    ops.backend = trim(text.substr(0, colon));
    if (!is_backend_name(ops.backend)) fail("names the backend '" + ops.backend + "'");
    for (const BackendOps& other : list_) {
      if (other.backend == ops.backend) fail("lists " + ops.backend + " again");
    }
    for (std::string_view rest = trim(text.substr(colon + 1)); !rest.empty();) {
      ops.rules.push_back(read_rule(trim(take(rest, ','))));
    }
    list_.push_back(std::move(ops));
  }

  OpList take_list() { return std::move(list_); }

 private:
  OpRule read_rule(std::string_view text) {
    OpRule rule;
    const std::size_t bracket = text.find('[');
    rule.type = trim(text.substr(0, bracket));
    if (rule.type.empty()) fail("names an empty type");
    if (!is_trace_type(rule.type)) fail("names '" + rule.type + "', which no runtime has");
    if (bracket == std::string_view::npos) return rule;
    if (text.back() != ']') fail("has no ']' after the element types of " + rule.type);
    std::string_view rest = text.substr(bracket + 1, text.size() - bracket - 2);
    do {
      const std::string_view word = trim(take(rest, ','));
      const auto type = data_type_of(word);
      if (!type) fail("names the element type '" + std::string(word) + "'");
      rule.types.push_back(*type);
    } while (!rest.empty());
    return rule;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw Error(ErrorKind::input, "cannot read op list", std::string(name_),
                "line " + std::to_string(line_) + " " + why,
                "lines such as ruy:Conv2D[f32],FullyConnected");
  }

  std::string_view name_;
  OpList list_;
  int line_ = 0;
};

}  // namespace

OpList parse_op_list(std::string_view text, std::string_view name) {
  Reader reader(name);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    reader.read_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.take_list();
}

}  // namespace stab
