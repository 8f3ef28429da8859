// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "trace_forms.h"
#include "trace_label.h"
#include "utf8.h"

namespace stab {
namespace {

constexpr int k_groups = 1;  // containers open around the names of groups
constexpr int k_labels = 2;  // around the labels of one group
constexpr int k_times = 3;   // around the times of one label

}  // namespace

void AveragedForm::begin_object() {
  ++depth_;
  if (depth_ == k_times && !skipped_) mean_ = min_ = max_ = std::nullopt;
}

void AveragedForm::end_object() {
  if (depth_ == k_times && !skipped_) {
    if (!mean_) tokens_.fail("a time without Avg_Time");
    const AveragedTime time{*mean_, min_, max_};
    entry_ ? fold_.set_averaged(*entry_, time) : fold_.set_graph_averaged(time);
  }
  --depth_;
}

void AveragedForm::begin_array() {
  check_scalar();
  ++depth_;
}

void AveragedForm::key(std::string_view text) {
  if (depth_ == k_groups) {
    group_ = text;
    skipped_ = group_ == "memory";
    if (!skipped_ && !is_backend_name(group_)) tokens_.fail("a backend of an unknown form");
  } else if (depth_ == k_labels && group_ == "runtime") {
    skipped_ = text != "Graph";
    entry_.reset();
  } else if (depth_ == k_labels && group_ != "memory") {
    const auto label = parse_label(text);
    if (!label) tokens_.fail("unknown label '" + printable_utf8(text.substr(0, 200)) + "'");
    if (label->session) fold_.note_session(*label->session);
    if (label->model) fold_.note_model(*label->model, tokens_);
    entry_ = fold_.entry(*label, label->subgraph.value_or(0), group_, tokens_);
  } else if (depth_ == k_times) {
    field_ = text == "Avg_Time"   ? Field::mean
             : text == "Min_Time" ? Field::min
             : text == "Max_Time" ? Field::max
                                  : Field::other;
  }
}

// Only the members of a time may be anything but an object.
void AveragedForm::check_scalar() const {
  const bool expected =
      depth_ > k_times || skipped_ || (depth_ == k_times && field_ == Field::other);
  if (!expected) tokens_.fail(depth_ == k_times ? "a number expected" : "an object expected");
}

void AveragedForm::string(std::string_view) {
  check_scalar();
}
void AveragedForm::literal(std::string_view) {
  check_scalar();
}

void AveragedForm::number(std::string_view text) {
  if (depth_ != k_times || skipped_ || field_ == Field::other) return check_scalar();
  double us = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), us);
  if (error != std::errc() || us < 0) tokens_.fail("a time that is no number of microseconds");
  (field_ == Field::mean ? mean_ : field_ == Field::min ? min_ : max_) = us;
}

}  // namespace stab
