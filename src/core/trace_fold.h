// SPDX-License-Identifier: Apache-2.0
// Folds the begins and ends of a trace into times per operation and backend, in bounded memory.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json_tokens.h"
#include "stab/core/trace.h"

namespace stab {

/// One run's trace while it is read. What contradicts itself is reported through the tokens in
/// hand, which know file and byte.
class TraceFold {
 public:
  explicit TraceFold(TraceOptions options);

  /// The entry of an operation on a backend, made when it is new. Throws where the same operation
  /// has another type already.
  std::size_t entry(const TraceLabel& label, int subgraph, std::string_view backend,
                    const JsonTokens& at);
  void set_averaged(std::size_t entry, const AveragedTime& time) {
    entries_[entry].op.averaged = time;
  }
  void set_graph_averaged(const AveragedTime& time) { graph_averaged_ = time; }
  bool has_shape(std::size_t entry) const { return entries_[entry].op.input_shape.has_value(); }
  void set_shape(std::size_t entry, std::vector<std::int64_t> shape) {
    entries_[entry].op.input_shape = std::move(shape);
  }
  void note_session(int session) { sessions_.insert(session); }
  /// Throws at a second model: its operations cannot be told from the first one's.
  void note_model(int model, const JsonTokens& at);

  /// A run of subgraph `subgraph` (absent: the form does not say) begins or ends.
  void begin_graph(std::optional<int> subgraph, std::int64_t us, const JsonTokens& at);
  void end_graph(std::optional<int> subgraph, std::int64_t us, const JsonTokens& at);
  void begin_op(std::size_t entry, std::int64_t us, const JsonTokens& at);
  void end_op(std::size_t entry, std::int64_t us, const JsonTokens& at);
  /// No more events of this stream; what is open stays unfinished.
  void end_events(bool cut);

  /// `subject` stands in warnings and in the error that no run is there.
  Trace finish(const std::string& subject);

 private:
  struct Entry {
    OpTrace op;
    std::int64_t open_us = -1;    // begin of the invocation that is open now
    std::int64_t current_us = 0;  // sum over this execution
    std::int64_t execution = -1;  // the last one in which it began
    std::int64_t apart_us = 0;
    bool apart = false;  // ran outside the runs of subgraph 0
  };
  struct Sample {
    std::uint32_t entry;
    std::uint32_t us;
  };
  struct Execution {
    std::int64_t index = 0;
    std::uint32_t graph_us = 0;
    std::vector<Sample> samples;  // in the order of their first begin
  };

  void complete(std::int64_t us, const JsonTokens& at);
  void abandon();
  void keep(Execution execution);
  void next_index();
  void thin();
  void collect(Trace& trace) const;
  void warn(Trace& trace, const std::string& subject) const;
  std::uint32_t duration(std::int64_t begin, std::int64_t end, const JsonTokens& at) const;

  TraceOptions options_;
  std::vector<Entry> entries_;
  std::map<std::pair<OpId, std::string>, std::size_t, std::less<>> index_;
  std::set<int> sessions_;
  std::optional<int> model_;
  std::optional<AveragedTime> graph_averaged_;

  std::vector<std::optional<int>> open_graphs_;  // outermost first
  std::int64_t graph_begin_us_ = 0;
  std::int64_t execution_ = 0;        // counts begun ones: stamps entries
  std::vector<std::size_t> touched_;  // entries of the execution that is open
  bool mismatch_ = false;             // in the execution that is open

  std::deque<Execution> kept_;
  std::size_t held_ = 0;   // samples in kept_
  std::int64_t seen_ = 0;  // executions of subgraph 0, damaged ones included
  std::int64_t complete_ = 0;
  std::int64_t damaged_ = 0;
  std::int64_t stride_ = 1;
  bool events_ = false;
  bool cut_ = false;
};

}  // namespace stab
