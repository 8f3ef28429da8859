// SPDX-License-Identifier: Apache-2.0
// The configuration file of an nnpackage: read exactly as the runtime reads it, written clean.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stab/core/error.h"

namespace stab {

/// Runtime keys with their values, in order; each key once.
using RuntimeKeys = std::vector<std::pair<std::string, std::string>>;

/// The value of a key; null when it is not there.
const std::string* find_key(const RuntimeKeys& keys, std::string_view name);

/// A configuration as the runtime sees it, and what it will misread.
struct Config {
  RuntimeKeys keys;  ///< in order of first appearance; never an empty value
  std::vector<Warning> warnings;
};

/// Reads a configuration by the runtime's own grammar (`loadConfigure` in its nnfw API, the same in
/// all generations): a line is cut at the first '#', split at the first '='; blanks and tabs, and
/// only these, are trimmed on both sides; a line without '=' or with nothing after it is skipped;
/// of several values the last counts, and an empty one counts as unset. So a carriage return and
/// quotes stay in the value, and a byte order mark becomes part of the first key. `name` stands in
/// the warnings. Any bytes are accepted.
Config parse_config(std::string_view text, std::string_view name);

/// `keys` as a configuration file: one `KEY=value` a line, LF after each. Throws Error(internal)
/// for a key or value that the grammar above cannot hold (empty, '#', line breaks, blanks at an
/// end, '=' in a key).
std::string render_config(const RuntimeKeys& keys);

/// The keys that the author of an earlier configuration meant: byte order mark, carriage returns
/// and quotes around a value taken off, and what cannot be written left out.
RuntimeKeys cleaned(const RuntimeKeys& keys);

/// True for keys that belong to stab: BACKENDS, OP_BACKEND_*, *_THREADS, TRAC*, WORKSPACE_DIR and
/// OP_SEQ_MAX_NODE.
bool owned_key(std::string_view name);

/// The user's own keys of an earlier configuration: cleaned, without those that belong to stab and
/// without EXECUTOR, which every schedule states itself. What is staged for profiling has these and
/// no others.
RuntimeKeys user_keys(const RuntimeKeys& earlier);

/// The configuration to write: the user's own keys of the earlier one, then `ours`, which win.
RuntimeKeys merge_config(const RuntimeKeys& earlier, const RuntimeKeys& ours);

}  // namespace stab
