// SPDX-License-Identifier: Apache-2.0
// The names that Chrome traces give to threads and to runs of a graph.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace stab {

/// `$0 sess, $0 subg, cpu`, `$0 sess, #0 model $0 subg, cpu`, `$0 sess, $0 subg`, `cpu`, `runtime`.
struct TraceThread {
  std::optional<int> session;
  std::optional<int> model;
  std::optional<int> subgraph;
  std::string backend;  ///< empty: the runtime itself
};

/// Absent for text of any other form.
std::optional<TraceThread> parse_thread(std::string_view text);

/// `$0 subg` or `#0 model $0 subg`, as one run of a graph is named; absent for text of any other
/// form. The backend is empty.
std::optional<TraceThread> parse_graph_label(std::string_view text);

/// A backend's id as a file name can hold it: letters, digits, `_`, `-`, `.`; at most 64.
bool is_backend_name(std::string_view text);

}  // namespace stab
