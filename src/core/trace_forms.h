// SPDX-License-Identifier: Apache-2.0
// The two forms of a trace document: each takes the tokens of its own member and tells the fold
// what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "json_tokens.h"
#include "trace_fold.h"

namespace stab {

/// The member `Execution_Data` of a document: {backend: {label: {Avg_Time, Max_Time, Min_Time,
/// Runtime}}}.
class AveragedForm : public JsonHandler {
 public:
  AveragedForm(TraceFold& fold, const JsonTokens& tokens) : fold_(fold), tokens_(tokens) {}

  void begin_object() override;
  void end_object() override;
  void begin_array() override;
  void end_array() override { --depth_; }
  void key(std::string_view text) override;
  void string(std::string_view) override;
  void number(std::string_view text) override;
  void literal(std::string_view) override;

 private:
  enum class Field { mean, min, max, other };
  void check_scalar() const;

  TraceFold& fold_;
  const JsonTokens& tokens_;
  int depth_ = 0;
  std::string group_;                 // "cpu", "memory", "runtime"
  bool skipped_ = false;              // what the group or label in hand holds is no time
  std::optional<std::size_t> entry_;  // absent: the whole graph
  Field field_ = Field::other;
  std::optional<double> mean_, min_, max_;
};

/// The member `traceEvents` of a document: an array of begin and end events.
class ChromeForm : public JsonHandler {
 public:
  ChromeForm(TraceFold& fold, const JsonTokens& tokens) : fold_(fold), tokens_(tokens) {}

  void begin_object() override;
  void end_object() override;
  void begin_array() override;
  void end_array() override { --depth_; }
  void key(std::string_view text) override;
  void string(std::string_view text) override;
  void number(std::string_view text) override;
  void literal(std::string_view) override;

  /// Whether the array is open and no event in it is half there.
  bool between_events() const { return depth_ == 1 && tokens_.between_values(); }

 private:
  enum class Field { name, thread, phase, time, args, shape, other };
  enum class Meaning { operation, graph, nothing };
  struct Slot {
    Meaning meaning = Meaning::nothing;
    std::size_t entry = 0;
    std::optional<int> subgraph;
  };

  void value(std::string_view text);
  void end_event();
  const Slot& slot();
  Slot interpret() const;
  Slot interpret_operation(std::string_view name, std::string_view thread) const;

  TraceFold& fold_;
  const JsonTokens& tokens_;
  int depth_ = 0;
  std::uint64_t event_offset_ = 0;
  Field field_ = Field::other;
  // Of the event in hand; a field that is not there is empty.
  std::string name_, thread_, time_, shape_;
  std::string phase_;
  std::string key_;  // of the event before, as in slots_
  const Slot* last_ = nullptr;
  std::unordered_map<std::string, Slot> slots_;  // thread, line break, name
};

/// `shape(1 48 48 3)`; absent for text of any other form.
std::optional<std::vector<std::int64_t>> parse_shape(std::string_view text);

}  // namespace stab
