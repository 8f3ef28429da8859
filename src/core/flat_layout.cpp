// SPDX-License-Identifier: Apache-2.0
#include "stab/core/flat_layout.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "stab/core/error.h"

namespace stab {
namespace {

constexpr int k_max_threads = 9999;

bool take_suffix(std::string_view& text, std::string_view suffix) {
  if (!text.ends_with(suffix)) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// `_4` at the end; no sign, no leading zero.
std::optional<int> take_threads(std::string_view& text) {
  const std::size_t line = text.rfind('_');
  if (line == std::string_view::npos || line + 1 == text.size()) return std::nullopt;
  const std::string_view digits = text.substr(line + 1);
  int threads = 0;
  const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), threads);
  const bool whole = error == std::errc() && stop == digits.data() + digits.size();
  if (!whole || digits.front() == '0' || threads < 1 || threads > k_max_threads)
    return std::nullopt;
  text = text.substr(0, line);
  return threads;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

[[noreturn]] void refuse(std::string_view package, std::string why, std::string hint) {
  throw Error(ErrorKind::input, "no traces of package", std::string(package), std::move(why),
              std::move(hint));
}

using Named = std::pair<FlatTraceName, std::string>;

// The names that count: the package's own, else those that do not say, else (forced) another
// package's.
std::vector<Named> of_package(const std::vector<Named>& all, std::string_view package, bool force) {
  std::set<std::string> others;
  std::vector<Named> own, silent, foreign;
  for (const Named& named : all) {
    const auto& owner = named.first.package;
    if (!owner) {
      silent.push_back(named);
    } else if (*owner == package) {
      own.push_back(named);
    } else {
      foreign.push_back(named);
      others.insert("'" + *owner + "'");
    }
  }
  if (!own.empty()) return own;
  if (!silent.empty()) return silent;
  if (foreign.empty())
    refuse(package, "the trace folder holds no traces", "a run without --no-profile first");
  if (!force) {
    refuse(package, "the traces there are of " + joined(others),
           "profiling this package, or --force");
  }
  if (others.size() > 1)
    refuse(package, "the traces there are of several packages: " + joined(others),
           "--trace-dir with one of them");
  return foreign;
}

}  // namespace

std::optional<FlatTraceName> parse_flat_trace_name(std::string_view file_name,
                                                   std::span<const std::string> backends) {
  FlatTraceName name;
  name.chrome = take_suffix(file_name, ".chrome.json");
  if (!name.chrome) take_suffix(file_name, ".json");
  const auto threads = take_threads(file_name);
  if (!threads) return std::nullopt;
  name.threads = *threads;
  for (const std::string& backend : backends) {
    const bool fits = file_name == backend ||
                      (file_name.ends_with("_" + backend) && file_name.size() > backend.size() + 1);
    if (fits && backend.size() > name.backend.size()) name.backend = backend;
  }
  if (name.backend.empty()) return std::nullopt;
  if (file_name != name.backend)
    name.package = file_name.substr(0, file_name.size() - name.backend.size() - 1);
  return name;
}

std::vector<FlatTraces> find_flat_traces(std::span<const std::string> file_names,
                                         std::string_view package,
                                         std::span<const std::string> backends,
                                         std::optional<int> threads, bool force) {
  std::vector<Named> all;
  for (const std::string& file : file_names) {
    if (const auto name = parse_flat_trace_name(file, backends)) all.emplace_back(*name, file);
  }
  std::sort(all.begin(), all.end(),
            [](const Named& a, const Named& b) { return a.second < b.second; });
  std::map<int, std::map<std::string, FlatTrace>> found;
  bool names_package = false;
  for (const auto& [name, file] : of_package(all, package, force)) {
    names_package = name.package.has_value();
    FlatTrace& trace = found[name.threads][name.backend];
    std::string& form = name.chrome ? trace.chrome : trace.averaged;
    if (form.empty()) form = file;
  }
  if (threads && !found.contains(*threads)) {
    std::set<std::string> counts;
    for (const auto& [count, traces] : found) counts.insert(std::to_string(count));
    refuse(
        package,
        "those there are for " + joined(counts) + " threads, not for " + std::to_string(*threads),
        "-n with one of these");
  }
  std::vector<FlatTraces> result;
  for (auto& [count, traces] : found) {
    if (threads && count != *threads) continue;
    FlatTraces& list = result.emplace_back(FlatTraces{count, names_package, {}});
    for (const std::string& backend : backends) {
      const auto trace = traces.find(backend);
      if (trace == traces.end()) continue;
      trace->second.backend = backend;
      list.traces.push_back(trace->second);
    }
  }
  return result;
}

}  // namespace stab
