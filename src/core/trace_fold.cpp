// SPDX-License-Identifier: Apache-2.0
#include "trace_fold.h"

#include <algorithm>
#include <limits>

namespace stab {
namespace {

constexpr std::size_t k_max_entries = std::size_t{1} << 18;
constexpr std::size_t k_max_open_graphs = 1000;
constexpr std::size_t k_max_type = 256;

}  // namespace

TraceFold::TraceFold(TraceOptions options) : options_(options) {
  options_.max_executions = std::max<std::size_t>(options_.max_executions, 2);
}

std::size_t TraceFold::entry(const TraceLabel& label, int subgraph, std::string_view backend,
                             const JsonTokens& at) {
  if (label.type.size() > k_max_type) at.fail("an operation's type of more than 256 bytes");
  const OpId op{subgraph, label.op};
  const auto first = index_.lower_bound(std::pair<OpId, std::string>(op, ""));
  if (first != index_.end() && first->first.first == op) {
    const std::string& type = entries_[first->second].op.type;
    if (type != label.type) {
      at.fail("operation " + to_string(op) + " is " + type + " before and " + label.type +
              " here, so the trace mixes several graphs");
    }
  }
  const auto [place, is_new] = index_.try_emplace({op, std::string(backend)}, entries_.size());
  if (is_new) {
    if (entries_.size() == k_max_entries) {
      at.fail("more than " + std::to_string(k_max_entries) + " operations");
    }
    Entry made;
    made.op.op = op;
    made.op.backend = backend;
    made.op.type = label.type;
    entries_.push_back(std::move(made));
  }
  OpTrace& found = entries_[place->second].op;
  found.fused_extra = std::max(found.fused_extra, label.fused_extra);
  return place->second;
}

void TraceFold::note_model(int model, const JsonTokens& at) {
  if (model_ && *model_ != model) {
    at.fail("operations of model " + std::to_string(model) + " after those of model " +
            std::to_string(*model_) + ", and packages of several models cannot be scheduled");
  }
  model_ = model;
}

void TraceFold::begin_graph(std::optional<int> subgraph, std::int64_t us, const JsonTokens& at) {
  events_ = true;
  // A graph does not run inside itself, so the run before has lost its end.
  if (!open_graphs_.empty() && subgraph && open_graphs_.front() == subgraph) abandon();
  if (open_graphs_.empty()) {
    graph_begin_us_ = us;
    mismatch_ = false;
    touched_.clear();
    ++execution_;
  }
  if (open_graphs_.size() == k_max_open_graphs)
    at.fail("too many runs of graphs inside one another");
  open_graphs_.push_back(subgraph);
}

void TraceFold::end_graph(std::optional<int> subgraph, std::int64_t us, const JsonTokens& at) {
  const auto found = std::find(open_graphs_.rbegin(), open_graphs_.rend(), subgraph);
  if (found == open_graphs_.rend()) at.fail("a run of the graph ends that did not begin");
  mismatch_ = mismatch_ || found != open_graphs_.rbegin();
  const auto place = found.base() - 1;
  if (place == open_graphs_.begin()) {
    complete(us, at);
    open_graphs_.clear();
  } else {
    open_graphs_.erase(place, open_graphs_.end());
  }
}

void TraceFold::begin_op(std::size_t entry, std::int64_t us, const JsonTokens& at) {
  if (open_graphs_.empty()) at.fail("an operation outside the runs of the graph");
  Entry& op = entries_[entry];
  if (op.execution != execution_) {
    op.execution = execution_;
    op.current_us = 0;
    op.open_us = -1;
    touched_.push_back(entry);
  }
  mismatch_ = mismatch_ || op.open_us >= 0;
  op.open_us = us;
}

void TraceFold::end_op(std::size_t entry, std::int64_t us, const JsonTokens& at) {
  if (open_graphs_.empty()) at.fail("an operation outside the runs of the graph");
  Entry& op = entries_[entry];
  if (op.execution != execution_ || op.open_us < 0) {
    mismatch_ = true;
    return;
  }
  op.current_us += duration(op.open_us, us, at);
  op.open_us = -1;
}

std::uint32_t TraceFold::duration(std::int64_t begin, std::int64_t end,
                                  const JsonTokens& at) const {
  if (end < begin) at.fail("an end before its begin");
  if (end - begin > std::numeric_limits<std::uint32_t>::max())
    at.fail("a time of more than an hour");
  return static_cast<std::uint32_t>(end - begin);
}

// The outermost graph ended.
void TraceFold::complete(std::int64_t us, const JsonTokens& at) {
  Execution execution;
  execution.graph_us = duration(graph_begin_us_, us, at);
  const bool apart = open_graphs_.front().value_or(0) != 0;
  for (const std::size_t touched : touched_) {
    const Entry& op = entries_[touched];
    mismatch_ = mismatch_ || op.open_us >= 0;
    execution.samples.push_back({static_cast<std::uint32_t>(touched),
                                 static_cast<std::uint32_t>(std::min<std::int64_t>(
                                     op.current_us, std::numeric_limits<std::uint32_t>::max()))});
  }
  if (mismatch_) return abandon();
  if (apart) {
    for (const Sample& sample : execution.samples) {
      entries_[sample.entry].apart = true;
      entries_[sample.entry].apart_us += sample.us;
    }
  } else {
    ++complete_;
    keep(std::move(execution));
  }
}

// Leaves the open run of a graph out.
void TraceFold::abandon() {
  ++damaged_;
  if (open_graphs_.front().value_or(0) == 0) next_index();
  open_graphs_.clear();
}

void TraceFold::keep(Execution execution) {
  execution.index = seen_;
  if (seen_ % stride_ == 0) {
    held_ += execution.samples.size();
    kept_.push_back(std::move(execution));
  }
  next_index();
  while (kept_.size() > 2 &&
         (kept_.size() > options_.max_executions || held_ > options_.max_samples)) {
    thin();
  }
}

// Counts an execution and lets go of those before the last runs that are wanted.
void TraceFold::next_index() {
  ++seen_;
  while (options_.last_runs && !kept_.empty() &&
         kept_.front().index < seen_ - *options_.last_runs) {
    held_ -= kept_.front().samples.size();
    kept_.pop_front();
  }
}

void TraceFold::thin() {
  stride_ *= 2;
  std::erase_if(kept_, [&](const Execution& execution) { return execution.index % stride_ != 0; });
  held_ = 0;
  for (const Execution& execution : kept_) held_ += execution.samples.size();
}

void TraceFold::end_events(bool cut) {
  if (!open_graphs_.empty()) abandon();
  cut_ = cut_ || cut;
}

Trace TraceFold::finish(const std::string& subject) {
  Trace trace;
  trace.executions = complete_;
  trace.damaged = damaged_;
  trace.stride = stride_;
  trace.cut = cut_;
  trace.graph_averaged = graph_averaged_;
  if (options_.last_runs) trace.dropped = std::max<std::int64_t>(seen_ - *options_.last_runs, 0);
  collect(trace);
  if (trace.ops.empty() || (events_ && trace.graph_us.empty())) {
    throw Error(ErrorKind::input, "cannot read trace", subject,
                events_ && damaged_ > 0 ? "no run of the graph in it is complete"
                                        : "it holds no run of the graph");
  }
  warn(trace, subject);
  return trace;
}

void TraceFold::collect(Trace& trace) const {
  std::vector<OpTrace> ops;
  ops.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    OpTrace& op = ops.emplace_back(entry.op);
    if (entry.apart && complete_ > 0) {
      op.apart_us = static_cast<double>(entry.apart_us) / static_cast<double>(complete_);
    }
  }
  for (const Execution& execution : kept_) {
    double sum = 0;
    int position = 0;
    for (const Sample& sample : execution.samples) {
      OpTrace& op = ops[sample.entry];
      op.samples_us.push_back(sample.us);
      if (op.op.subgraph == 0) sum += sample.us;
      if (&execution == &kept_.back()) op.position = position++;
    }
    trace.graph_us.push_back(execution.graph_us);
    trace.ops_us.push_back(sum);
  }
  for (const auto& [key, entry] : index_) {
    OpTrace& op = ops[entry];
    if (!op.samples_us.empty() || op.averaged || op.apart_us) trace.ops.push_back(std::move(op));
  }
}

void TraceFold::warn(Trace& trace, const std::string& subject) const {
  const auto add = [&](std::string id, Severity severity, std::string text) {
    trace.warnings.push_back({std::move(id), severity, subject, std::move(text), {}});
  };
  if (cut_)
    add("trace_cut", Severity::warning,
        "the trace ends without its footer; the runs before are used");
  if (damaged_ > 0) {
    add("trace_damaged", Severity::warning,
        std::to_string(damaged_) +
            " runs of the graph are left out: their begins and ends do not match");
  }
  if (sessions_.size() > 1) {
    add("several_sessions", Severity::warning,
        "the trace holds " + std::to_string(sessions_.size()) +
            " sessions of one process, taken as one");
  }
  if (options_.last_runs && events_ && seen_ < *options_.last_runs) {
    add("fewer_runs", Severity::warning,
        "the trace holds " + std::to_string(seen_) + " runs of the graph, fewer than the " +
            std::to_string(*options_.last_runs) + " asked for");
  }
  if (stride_ > 1) {
    add("samples_thinned", Severity::info,
        "only every " + std::to_string(stride_) + "th run of the graph is kept: the trace holds " +
            std::to_string(seen_));
  }
  const bool disagree = !trace.graph_us.empty() && graph_averaged_ &&
                        std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) {
                          return entry.op.averaged.has_value() != (entry.execution >= 0);
                        });
  if (disagree) {
    add("forms_disagree", Severity::warning,
        "the averaged and the Chrome form name different operations, so they may be of different "
        "runs");
  }
}

}  // namespace stab
