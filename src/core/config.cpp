// SPDX-License-Identifier: Apache-2.0
#include "stab/core/config.h"

#include <algorithm>
#include <map>

namespace stab {
namespace {

constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool quoted(std::string_view value) {
  return value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
         value.back() == value.front();
}

/// What was met while reading, by kind of misreading: the keys or lines it hit.
using Findings = std::map<std::string, std::vector<std::string>>;

void note_value(Findings& findings, std::string_view key, std::string_view value) {
  std::string_view visible = value;
  if (!visible.empty() && visible.back() == '\r') {
    findings["config_crlf"].emplace_back(key);
    visible.remove_suffix(1);
  }
  if (quoted(visible)) findings["config_quotes"].emplace_back(key);
}

Warning to_warning(const std::string& id, const std::vector<std::string>& hits,
                   std::string_view name) {
  static const std::map<std::string, std::pair<std::string, std::string>> k_words = {
      {"config_bom",
       {"a byte order mark spoils the first key for the runtime", "saving the file without it"}},
      {"config_crlf",
       {"the runtime keeps the carriage return in the value", "saving the file with LF line ends"}},
      {"config_quotes", {"the runtime keeps the quotes in the value", "removing the quotes"}},
      {"config_hash",
       {"the runtime cuts the value at '#'", "a value without '#'; it cannot be escaped"}},
      {"config_duplicate",
       {"given more than once; the runtime takes the last value", "keeping one of them"}},
      {"config_skipped_line", {"the runtime skips lines that are not KEY=value", "removing them"}},
  };
  const auto& [text, remedy] = k_words.at(id);
  constexpr std::size_t k_shown = 3;
  std::string which;
  for (std::size_t i = 0; i < hits.size() && i < k_shown; ++i) {
    which += (i == 0 ? "" : ", ") + hits[i].substr(0, 60);
  }
  if (hits.size() > k_shown) which += " and " + std::to_string(hits.size() - k_shown) + " more";
  return {id, Severity::warning, std::string(name), which + ": " + text, remedy};
}

void set_value(RuntimeKeys& keys, std::map<std::string, std::size_t, std::less<>>& index,
               std::string_view key, std::string_view value) {
  const auto found = index.find(key);
  if (found != index.end()) {
    keys[found->second].second = value;
  } else {
    index.emplace(key, keys.size());
    keys.emplace_back(key, value);
  }
}

}  // namespace

const std::string* find_key(const RuntimeKeys& keys, std::string_view name) {
  const auto found = std::find_if(keys.begin(), keys.end(),
                                  [name](const auto& entry) { return entry.first == name; });
  return found == keys.end() ? nullptr : &found->second;
}

Config parse_config(std::string_view text, std::string_view name) {
  Config config;
  Findings findings;
  std::map<std::string, std::size_t, std::less<>> index;
  if (text.starts_with(k_byte_order_mark)) findings["config_bom"] = {"line 1"};
  int line_number = 0;
  while (!text.empty()) {
    const std::string_view whole = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), whole.size() + 1));
    ++line_number;
    const std::string_view line = whole.substr(0, whole.find('#'));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || equals + 1 == line.size()) {
      const bool blank = line.find_first_not_of(" \t\r") == std::string_view::npos;
      if (!blank) findings["config_skipped_line"].push_back("line " + std::to_string(line_number));
      continue;
    }
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view value = trimmed(line.substr(equals + 1));
    note_value(findings, key, value);
    const bool cut_inside = line.size() < whole.size() && line.back() != ' ' && line.back() != '\t';
    if (cut_inside) findings["config_hash"].emplace_back(key);
    if (index.contains(key)) findings["config_duplicate"].emplace_back(key);
    set_value(config.keys, index, key, value);
  }
  std::erase_if(config.keys, [](const auto& entry) { return entry.second.empty(); });
  for (const auto& [id, hits] : findings) config.warnings.push_back(to_warning(id, hits, name));
  return config;
}

namespace {

/// Why the grammar cannot hold this key and value so that they read back the same; empty when it
/// can.
std::string why_not_writable(std::string_view key, std::string_view value) {
  const std::string_view forbidden("#\n\r\0", 4);
  if (trimmed(key).empty() || key != trimmed(key) || key.find('=') != std::string_view::npos ||
      key.find_first_of(forbidden) != std::string_view::npos ||
      key.starts_with(k_byte_order_mark)) {
    return "the key cannot be written";
  }
  if (trimmed(value).empty()) return "the value is empty";
  if (value != trimmed(value)) return "the value starts or ends with a blank";
  if (value.find_first_of(forbidden) != std::string_view::npos) {
    return "the value holds '#' or a line break";
  }
  return {};
}

}  // namespace

std::string render_config(const RuntimeKeys& keys) {
  std::string text;
  for (const auto& [key, value] : keys) {
    const std::string why = why_not_writable(key, value);
    if (!why.empty()) throw Error(ErrorKind::internal, "cannot write the key", key, why);
    text += key + "=" + value + "\n";
  }
  return text;
}

RuntimeKeys cleaned(const RuntimeKeys& keys) {
  RuntimeKeys clean;
  std::map<std::string, std::size_t, std::less<>> index;
  for (const auto& [raw_key, raw_value] : keys) {
    std::string_view key = raw_key;
    std::string_view value = raw_value;
    if (key.starts_with(k_byte_order_mark)) key = trimmed(key.substr(k_byte_order_mark.size()));
    while (!value.empty() && value.back() == '\r')
      value = trimmed(value.substr(0, value.size() - 1));
    if (quoted(value)) value = trimmed(value.substr(1, value.size() - 2));
    if (why_not_writable(key, value).empty()) set_value(clean, index, key, value);
  }
  return clean;
}

bool owned_key(std::string_view name) {
  return name == "BACKENDS" || name.starts_with("OP_BACKEND_") || name.ends_with("_THREADS") ||
         name.starts_with("TRAC") || name == "WORKSPACE_DIR" || name == "OP_SEQ_MAX_NODE";
}

RuntimeKeys user_keys(const RuntimeKeys& earlier) {
  RuntimeKeys keys = cleaned(earlier);
  std::erase_if(
      keys, [](const auto& entry) { return owned_key(entry.first) || entry.first == "EXECUTOR"; });
  return keys;
}

RuntimeKeys merge_config(const RuntimeKeys& earlier, const RuntimeKeys& ours) {
  RuntimeKeys merged = user_keys(earlier);
  std::erase_if(merged,
                [&ours](const auto& entry) { return find_key(ours, entry.first) != nullptr; });
  merged.insert(merged.end(), ours.begin(), ours.end());
  return merged;
}

}  // namespace stab
