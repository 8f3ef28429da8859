// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "trace_forms.h"
#include "trace_label.h"
#include "utf8.h"

namespace stab {
namespace {

constexpr int k_events = 1;  // containers open around the events
constexpr int k_event = 2;   // around the fields of one
constexpr int k_args = 3;    // around the fields of its args
constexpr std::size_t k_max_key = 600;
constexpr std::size_t k_max_slots = std::size_t{1} << 18;

std::string quoted(std::string_view text) {
  std::string quoted = "'";
  quoted += printable_utf8(text.substr(0, 200));
  return quoted += "'";
}

}  // namespace

std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text) {
  constexpr std::string_view k_begin = "shape(";
  if (!text.starts_with(k_begin) || !text.ends_with(')')) return std::nullopt;
  text = text.substr(k_begin.size(), text.size() - k_begin.size() - 1);
  std::vector<std::int64_t> shape;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    std::int64_t size = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), size);
    if (error != std::errc() || stop != word.data() + word.size()) return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  return shape;
}

void ChromeForm::begin_object() {
  if (depth_ == 0) tokens_.fail("traceEvents is no array");
  ++depth_;
  if (depth_ != k_event) return;
  event_offset_ = tokens_.token_offset();
  name_.clear();
  thread_.clear();
  time_.clear();
  shape_.clear();
  phase_.clear();
}

void ChromeForm::end_object() {
  if (depth_ == k_event) end_event();
  --depth_;
}

void ChromeForm::begin_array() {
  if (depth_ == k_events) tokens_.fail("an event is no object");
  ++depth_;
}

void ChromeForm::key(std::string_view text) {
  if (depth_ == k_event) {
    field_ = text == "name"   ? Field::name
             : text == "tid"  ? Field::thread
             : text == "ph"   ? Field::phase
             : text == "ts"   ? Field::time
             : text == "args" ? Field::args
                              : Field::other;
  } else if (depth_ == k_args && (field_ == Field::args || field_ == Field::shape)) {
    field_ = text == "input_shape_0" ? Field::shape : Field::args;
  }
}

void ChromeForm::value(std::string_view text) {
  switch (field_) {
    case Field::name:
      name_ = text;
      break;
    case Field::thread:
      thread_ = text;
      break;
    case Field::phase:
      phase_ = text;
      break;
    case Field::time:
      time_ = text;
      break;
    case Field::shape:
      if (depth_ == k_args) shape_ = text;
      break;
    case Field::args:
    case Field::other:
      break;
  }
}

void ChromeForm::string(std::string_view text) {
  if (depth_ < k_event) tokens_.fail("an event is no object");
  if (depth_ == k_event || field_ == Field::shape) value(text);
}

void ChromeForm::number(std::string_view text) {
  string(text);
}

void ChromeForm::literal(std::string_view) {
  if (depth_ < k_event) tokens_.fail("an event is no object");
}

void ChromeForm::end_event() {
  if (phase_ != "B" && phase_ != "E") return;
  const Slot& what = slot();
  if (what.meaning == Meaning::nothing) return;
  std::int64_t us = 0;
  const auto [stop, error] = std::from_chars(time_.data(), time_.data() + time_.size(), us);
  if (error != std::errc() || stop != time_.data() + time_.size() || us < 0) {
    tokens_.fail_at(event_offset_, "an event without a time in whole microseconds");
  }
  const bool begin = phase_ == "B";
  if (what.meaning == Meaning::graph) {
    begin ? fold_.begin_graph(what.subgraph, us, tokens_)
          : fold_.end_graph(what.subgraph, us, tokens_);
    return;
  }
  begin ? fold_.begin_op(what.entry, us, tokens_) : fold_.end_op(what.entry, us, tokens_);
  if (!shape_.empty() && !fold_.has_shape(what.entry)) {
    if (auto shape = parse_shape(shape_)) fold_.set_shape(what.entry, std::move(*shape));
  }
}

// What thread and name of the event in hand stand for. An end mostly follows its own begin.
const ChromeForm::Slot& ChromeForm::slot() {
  const bool same = last_ != nullptr && key_.size() == thread_.size() + 1 + name_.size() &&
                    key_.starts_with(thread_) && key_.ends_with(name_) &&
                    key_[thread_.size()] == '\n';
  if (same) return *last_;
  key_.assign(thread_).append(1, '\n').append(name_);
  auto found = slots_.find(key_);
  if (found == slots_.end()) {
    if (key_.size() > k_max_key) tokens_.fail_at(event_offset_, "a name of more than 600 bytes");
    if (slots_.size() == k_max_slots) tokens_.fail_at(event_offset_, "too many different names");
    found = slots_.emplace(key_, interpret()).first;
  }
  last_ = &found->second;
  return *last_;
}

ChromeForm::Slot ChromeForm::interpret() const {
  const auto thread = parse_thread(thread_);
  if (!thread) tokens_.fail_at(event_offset_, "unknown thread " + quoted(thread_));
  const auto graph = parse_graph_label(name_);
  if (graph && graph->model) fold_.note_model(*graph->model, tokens_);
  if (thread->session) fold_.note_session(*thread->session);
  if (thread->model) fold_.note_model(*thread->model, tokens_);
  if (graph) return {Meaning::graph, 0, graph->subgraph};
  if (thread->backend.empty()) {
    return {name_ == "Graph" ? Meaning::graph : Meaning::nothing, 0, thread->subgraph};
  }
  const auto label = parse_label(name_);
  if (!label) tokens_.fail_at(event_offset_, "unknown label " + quoted(name_));
  if (label->session) fold_.note_session(*label->session);
  if (label->model) fold_.note_model(*label->model, tokens_);
  const int subgraph = label->subgraph.value_or(thread->subgraph.value_or(0));
  return {Meaning::operation, fold_.entry(*label, subgraph, thread->backend, tokens_), {}};
}

}  // namespace stab
