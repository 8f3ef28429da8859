// SPDX-License-Identifier: Apache-2.0
// Reads what the runtime writes about a run: which operation ran on which backend, and how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stab/core/error.h"
#include "stab/core/ids.h"

namespace stab {

/// What a trace calls an operation, in any of the runtime's forms:
/// `$3 Conv2D`, `$0 Conv2D (+5)`, `@3 Conv2D`, `$0 subgraph $3 Conv2D`, `$1 session $0 subgraph $3
/// Conv2D`,
/// `#0 model $0 subgraph $3 Conv2D`.
struct TraceLabel {
  std::optional<int> session;
  std::optional<int> model;
  std::optional<int> subgraph;  ///< absent in forms that do not say
  int op = 0;                   ///< position of the operation in its subgraph
  std::string type;             ///< the runtime's trace name: "Conv2D", "Add"
  int fused_extra = 0;          ///< operations merged into this one: 5 for "(+5)"

  bool operator==(const TraceLabel&) const = default;
};

/// Absent for text of any other form: an operation is never guessed.
std::optional<TraceLabel> parse_label(std::string_view text);

/// Microseconds over all runs of a process, warm-up runs included, as the averaged form has them.
/// The runtime truncates the mean to whole microseconds.
struct AveragedTime {
  double mean_us = 0;
  std::optional<double> min_us;
  std::optional<double> max_us;

  bool operator==(const AveragedTime&) const = default;
};

/// One operation on one backend.
struct OpTrace {
  OpId op;
  std::string backend;  ///< "cpu", "ruy", …; "builtin" or "controlflow" for Permute, If and While
  std::string type;     ///< trace name, valid UTF-8
  /// Above 0: the time is that of a whole sequence of operations, of no use for a single one.
  int fused_extra = 0;
  /// Time in each kept execution of the graph in which it ran, in order; several invocations in one
  /// execution are summed. 0 is a time. Empty where only the averaged form exists.
  std::vector<double> samples_us;
  std::optional<AveragedTime> averaged;  ///< absent without the averaged form
  /// Of operations of other subgraphs that the runtime recorded apart from the runs of the graph:
  /// all their time divided by all executions, warm-up included. Then there are no samples.
  std::optional<double> apart_us;
  std::optional<int> position;  ///< place among the operations of the last kept execution, by start
  std::optional<std::vector<std::int64_t>>
      input_shape;  ///< of its first input, where the Chrome form says

  /// Elements of the first input; absent without a shape, or where the product overflows.
  std::optional<std::int64_t> input_elements() const;
};

/// A run of the runtime, folded. Where both forms were read, samples come from the Chrome form and
/// `averaged` from the other; times per run are to be preferred, since the averaged form holds the
/// warm-up.
struct Trace {
  std::vector<OpTrace> ops;  ///< by operation, then backend
  std::vector<double>
      graph_us;  ///< each kept execution of subgraph 0, in order; empty without the Chrome form
  std::vector<double> ops_us;  ///< for each of them the sum over operations of subgraph 0, Permute
                               ///< and control flow included
  std::optional<AveragedTime> graph_averaged;  ///< mixes all subgraphs of a model with control flow
  std::int64_t executions =
      0;  ///< complete ones in the file, warm-up included; 0 without the Chrome form
  std::int64_t dropped = 0;  ///< of these, left out as warm-up (TraceOptions::last_runs)
  std::int64_t stride = 1;   ///< every stride-th of the remaining ones was kept; above 1: thinned
  std::int64_t damaged = 0;  ///< executions left out because begins and ends do not match
  bool cut = false;          ///< the Chrome form ends between two events, without its footer
  std::vector<Warning> warnings;  ///< what the reader noticed; subject is the file

  bool has_samples() const { return !graph_us.empty(); }
  bool has_averages() const { return graph_averaged.has_value(); }
  /// The entry of an operation on a backend; null when it did not run there.
  const OpTrace* find(OpId op, std::string_view backend) const;
};

struct TraceOptions {
  /// Keep only the last so many executions: warm-up runs come first in the file, and their number
  /// is not known where warm-up lasts by time. Absent: keep all.
  std::optional<std::int64_t> last_runs = std::nullopt;
  /// Above so many kept executions every second one is dropped, again and again: same file, same
  /// samples. At least 2.
  std::size_t max_executions = 4096;
  /// The same when so many times are held in all, whatever the model's size: bounds the memory of
  /// long traces of large models.
  std::size_t max_samples = std::size_t{1} << 22;
};

/// Folds a trace of any form, piece by piece, in memory that does not grow with the file: the
/// averaged JSON ("SNPE", schemas 1 to 3) and the Chrome JSON, told apart by content. Several
/// documents may follow one another in a file, and the two forms of one run may be read one after
/// the other. Sources: the runtime's SNPEEventWriter and ChromeTracingEventWriter.
///
/// Tolerated: bytes that are not UTF-8 in a name, `{ }` among the events, a Chrome file that ends
/// between two events, an execution whose begins and ends do not match (left out). Anything else
/// throws Error(input) that names the file and the byte.
class TraceReader {
 public:
  explicit TraceReader(TraceOptions options = {});
  ~TraceReader();
  TraceReader(TraceReader&&) noexcept;
  TraceReader& operator=(TraceReader&&) noexcept;

  /// The next bytes belong to the file `name`, from its start. Ends the file before; throws if that
  /// is not whole.
  void begin_file(std::string name);
  /// The next bytes of the file, in pieces of any size.
  void feed(std::string_view bytes);
  /// Ends the last file. Throws when a file was empty, or when no run of the graph is in any of
  /// them. Call once.
  Trace finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// One whole file.
Trace parse_trace(std::string_view bytes, std::string name, TraceOptions options = {});

}  // namespace stab
