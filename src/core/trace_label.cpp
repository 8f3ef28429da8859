// SPDX-License-Identifier: Apache-2.0
#include "trace_label.h"

#include <algorithm>
#include <charconv>

#include "stab/core/trace.h"
#include "utf8.h"

namespace stab {
namespace {

// Takes the text up to the next blank off the front, and the blanks after it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return word;
}

std::optional<int> parse_number(std::string_view text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || text.front() == '-') return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// `$3`, `@3`, `#3`
std::optional<int> parse_index(std::string_view word) {
  if (word.empty() || std::string_view("$@#").find(word.front()) == std::string_view::npos)
    return std::nullopt;
  return parse_number(word.substr(1));
}

struct Qualifiers {
  std::optional<int> session;
  std::optional<int> model;
  std::optional<int> subgraph;

  // Whether `word` names one of them and that was free.
  bool set(std::string_view word, int index) {
    std::optional<int>* const place = word == "session" || word == "sess"    ? &session
                                      : word == "model"                      ? &model
                                      : word == "subgraph" || word == "subg" ? &subgraph
                                                                             : nullptr;
    if (place == nullptr || place->has_value()) return false;
    *place = index;
    return true;
  }
};

// `(+5)` at the end, and the blanks before it; 0 when there is none.
int take_fused(std::string_view& text) {
  const std::size_t begin = text.rfind(" (+");
  if (begin == std::string_view::npos || text.back() != ')') return 0;
  const auto extra = parse_number(text.substr(begin + 3, text.size() - begin - 4));
  if (!extra) return 0;
  text = text.substr(0, begin);
  return *extra;
}

// Pairs of an index and a word, all of them qualifiers.
std::optional<Qualifiers> parse_qualifiers(std::string_view text) {
  Qualifiers found;
  while (!text.empty()) {
    const auto index = parse_index(take_word(text));
    if (!index || !found.set(take_word(text), *index)) return std::nullopt;
  }
  return found;
}

}  // namespace

std::optional<TraceLabel> parse_label(std::string_view text) {
  TraceLabel label;
  if (!text.empty()) label.fused_extra = take_fused(text);
  Qualifiers qualifiers;
  while (true) {
    const auto index = parse_index(take_word(text));
    const std::string_view word = take_word(text);
    if (!index || word.empty()) return std::nullopt;
    if (qualifiers.set(word, *index)) continue;
    if (!text.empty()) return std::nullopt;
    label.op = *index;
    label.type = printable_utf8(word);
    break;
  }
  label.session = qualifiers.session;
  label.model = qualifiers.model;
  label.subgraph = qualifiers.subgraph;
  return label;
}

std::optional<TraceThread> parse_graph_label(std::string_view text) {
  const auto found = parse_qualifiers(text);
  if (!found || !found->subgraph) return std::nullopt;
  return TraceThread{found->session, found->model, found->subgraph, {}};
}

std::optional<TraceThread> parse_thread(std::string_view text) {
  TraceThread thread;
  Qualifiers all;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view part = text.substr(0, comma);
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (is_backend_name(part) && text.empty()) {
      if (part != "runtime") thread.backend = part;
      break;
    }
    while (!part.empty()) {
      const auto index = parse_index(take_word(part));
      if (!index || !all.set(take_word(part), *index)) return std::nullopt;
    }
  }
  thread.session = all.session;
  thread.model = all.model;
  thread.subgraph = all.subgraph;
  return thread;
}

bool is_backend_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace stab
