// SPDX-License-Identifier: Apache-2.0
#include "stab/core/op_names.h"

#include <algorithm>
#include <iterator>

#include "op_table.h"
#include "stab/core/error.h"

namespace stab {
namespace {

using namespace op_table;

// ASCII only: no locale.
char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_alias(std::string_view type, std::string_view other) {
  return std::any_of(std::begin(k_aliases), std::end(k_aliases), [&](const Alias& alias) {
    return alias.type == type && same_letters(alias.other, other);
  });
}

}  // namespace

OpNames builtin_names(int code, ModelFormat format) {
  if (code < 0 && format != ModelFormat::circle) return {};
  const auto found =
      std::lower_bound(std::begin(k_builtins), std::end(k_builtins), code,
                       [](const Builtin& builtin, int wanted) { return builtin.code < wanted; });
  if (found == std::end(k_builtins) || found->code != code) return {};
  return found->names;
}

OpNames custom_names(std::string_view custom_code) {
  for (const Custom& custom : k_customs) {
    if (custom.code == custom_code) return {"CUSTOM", custom.type, custom.key, false};
  }
  return {"CUSTOM", custom_code, custom_code.empty() ? "" : "Custom", false};
}

std::span<const std::string_view> op_keys() {
  return k_keys;
}

bool is_trace_type(std::string_view name) {
  const auto matches = [&](std::string_view known) {
    return !known.empty() && same_letters(known, name);
  };
  return std::any_of(std::begin(k_builtins), std::end(k_builtins),
                     [&](const Builtin& builtin) { return matches(builtin.names.type); }) ||
         std::any_of(std::begin(k_customs), std::end(k_customs),
                     [&](const Custom& custom) { return matches(custom.type); }) ||
         std::any_of(std::begin(k_aliases), std::end(k_aliases),
                     [&](const Alias& alias) { return matches(alias.other); }) ||
         std::any_of(std::begin(k_keys), std::end(k_keys), matches);
}

bool same_type(const Operation& operation, std::string_view trace_type) {
  if (operation.type.empty()) return false;
  return same_letters(operation.type, trace_type) || is_alias(operation.type, trace_type) ||
         (!operation.key.empty() && same_letters(operation.key, trace_type));
}

void check_type(const Operation& operation, std::string_view trace_type,
                std::string_view trace_file) {
  if (operation.type.empty() || !is_trace_type(trace_type)) return;
  if (same_type(operation, trace_type)) return;
  throw Error(ErrorKind::input, "cannot use trace", std::string(trace_file),
              "operation " + to_string(operation.id) + " is " + operation.type +
                  " in the model and " + std::string(trace_type) + " in the trace",
              "the traces of this model");
}

}  // namespace stab
