// SPDX-License-Identifier: Apache-2.0
// The first stab's flat trace folder, where a file's name alone says what is in it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stab {

/// `<backend>_<threads>` or `<package>_<backend>_<threads>`, with nothing or `.json` behind it for
/// the averaged form and
/// `.chrome.json` for the Chrome form.
struct FlatTraceName {
  std::optional<std::string> package;  ///< absent: the name does not say
  std::string backend;
  int threads = 1;
  bool chrome = false;

  bool operator==(const FlatTraceName&) const = default;
};

/// Absent for a name of another form, and for a backend that is not among `backends`: `acl_neon_1`
/// is then told from a package `acl` only by that list. The longest backend that fits counts.
std::optional<FlatTraceName> parse_flat_trace_name(std::string_view file_name,
                                                   std::span<const std::string> backends);

/// One backend's files; a form that is not there is empty.
struct FlatTrace {
  std::string backend;
  std::string averaged;
  std::string chrome;

  bool operator==(const FlatTrace&) const = default;
};

/// The traces of one thread count.
struct FlatTraces {
  int threads = 1;
  bool names_package = false;     ///< whether the file names say whose they are
  std::vector<FlatTrace> traces;  ///< in the order of the backends asked for

  bool operator==(const FlatTraces&) const = default;
};

/// What is there for `package` among the names in a trace folder, by thread count. Names with the
/// package win over names without. `threads`: only that count. `force` also takes the files of
/// another package when there is no other. Throws Error(input) that names what was asked for and
/// what is there: no such names at all, another package's only, other thread counts only.
std::vector<FlatTraces> find_flat_traces(std::span<const std::string> file_names,
                                         std::string_view package,
                                         std::span<const std::string> backends,
                                         std::optional<int> threads, bool force);

}  // namespace stab
