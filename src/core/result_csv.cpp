// SPDX-License-Identifier: Apache-2.0
// The operations as a table for spreadsheets, in the form of RFC 4180.
#include "core/text_layout.h"
#include "core/utf8.h"
#include "stab/core/report.h"

namespace stab {
namespace {

constexpr int k_decimals = 3;

/// A field of text. Names come from models: one that a spreadsheet would take for a formula gets an
/// apostrophe in front, which spreadsheets do not show.
std::string text_field(const std::string& text) {
  std::string value = valid_utf8(text);
  if (!value.empty() && std::string_view("=+-@\t\r").find(value.front()) != std::string_view::npos)
    value.insert(0, "'");
  if (value.find_first_of(",\"\r\n") == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char c : value) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string number_field(const std::optional<double>& value) {
  return value ? fixed_digits(*value, k_decimals) : "";
}

class Row {
 public:
  void add(const std::string& field) {
    line_ += (empty_ ? "" : ",") + field;
    empty_ = false;
  }
  std::string end() const { return line_ + "\r\n"; }

 private:
  std::string line_;
  bool empty_ = true;
};

std::vector<std::string> measured_backends(const Result& result) {
  std::vector<std::string> names;
  for (const BackendRow& row : result.backends) {
    if (row.status == BackendStatus::used || row.status == BackendStatus::measured)
      names.push_back(row.name);
  }
  return names;
}

void add_candidate(const OpRow& op, const std::string& backend, Row& row) {
  const auto found = op.candidates.find(backend);
  const bool measured = found != op.candidates.end();
  row.add(measured ? number_field(found->second.us.median) : "");
  row.add(measured ? number_field(found->second.us.low) : "");
  row.add(measured ? number_field(found->second.us.high) : "");
  const auto company = op.in_company_us.find(backend);
  row.add(company == op.in_company_us.end() ? "" : number_field(company->second));
}

}  // namespace

std::string render_csv(const Result& result) {
  const std::vector<std::string> backends = measured_backends(result);
  Row head;
  for (const char* name : {"op", "type", "name", "fixed", "chosen", "chosen_us"}) head.add(name);
  for (const std::string& backend : backends) {
    for (const char* what : {"_us", "_low_us", "_high_us", "_plan_us"})
      head.add(text_field(backend + what));
  }
  std::string text = head.end();
  for (const OpRow& op : result.ops) {
    Row row;
    row.add(to_string(op.op));
    row.add(text_field(op.type));
    row.add(text_field(op.name));
    row.add(text_field(op.fixed.value_or("")));
    row.add(text_field(op.chosen));
    const auto chosen = op.candidates.find(op.chosen);
    row.add(chosen == op.candidates.end() ? "" : number_field(chosen->second.us.median));
    for (const std::string& backend : backends) add_candidate(op, backend, row);
    text += row.end();
  }
  return text;
}

}  // namespace stab
