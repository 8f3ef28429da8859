// SPDX-License-Identifier: Apache-2.0
#include "stab/app/profile_store.h"

#include <algorithm>
#include <utility>

#include "app/trace_file.h"
#include "stab/core/error.h"
#include "stab/core/flat_layout.h"
#include "stab/core/sha256.h"
#include "stab/host/files.h"
#include "stab/host/folders.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_profile_name = "profile.json";
constexpr std::uint64_t k_most_profile_bytes = std::uint64_t{64} << 20;

/// A listed file, if it is there and still what was measured.
std::optional<fs::path> intact(const fs::path& folder, const std::optional<RunFile>& file,
                               const std::string& run, std::vector<Warning>& warnings) {
  if (!file) return std::nullopt;
  const fs::path path = folder / file->name;
  std::string trouble;
  if (file->name.find('/') != std::string::npos) {
    trouble = "its name leads elsewhere";
  } else if (!fs::is_regular_file(path)) {
    trouble = "it is missing";
  } else if (sha256_of_file(path) != file->sha256) {
    trouble = "it is not what was measured";
  }
  if (trouble.empty()) return path;
  warnings.push_back({"trace_left_out", Severity::warning, path.string(),
                      "left out of run " + run + ": " + trouble, "profiling again"});
  return std::nullopt;
}

RunTrace load_run(const fs::path& folder, const ProfileRun& run, std::vector<Warning>& warnings) {
  RunTrace loaded{run, {}};
  if (run.status != RunStatus::ok) return loaded;
  const auto chrome = intact(folder, run.chrome, run.id, warnings);
  const auto averaged = intact(folder, run.averaged, run.id, warnings);
  if (!chrome && !averaged) return loaded;
  try {
    loaded.trace = read_trace_files(chrome, averaged, run.runs);
  } catch (const Error& error) {
    warnings.push_back({"trace_left_out", Severity::warning, run.label,
                        std::string("run ") + run.id + " is left out: " + error.what(), ""});
  }
  return loaded;
}

}  // namespace

ProfileWriter::ProfileWriter(const fs::path& traces, const std::string& package, Profile profile)
    : partial_(fs::absolute(traces) / (package + ".partial")),
      final_(fs::absolute(traces) / package),
      profile_(std::move(profile)) {
  if (!remove_tree(partial_))
    throw Error(ErrorKind::output, "cannot start a measurement in", partial_.string(),
                "what is there cannot be removed");
  std::error_code error;
  fs::create_directories(partial_, error);
  if (error)
    throw Error(ErrorKind::output, "cannot start a measurement in", partial_.string(),
                error.message(), "--trace-dir DIR");
  save();
}

void ProfileWriter::save() const {
  write_file_atomically(partial_ / k_profile_name, render_profile(profile_));
}

void ProfileWriter::add(ProfileRun run) {
  profile_.runs.push_back(std::move(run));
  save();
}

fs::path ProfileWriter::complete() {
  profile_.complete = true;
  save();
  replace_folder_by(final_, partial_);
  return final_;
}

namespace {

LoadedProfile load_recorded(const fs::path& folder, const fs::path& file) {
  LoadedProfile loaded;
  const std::string text = read_file(file, k_most_profile_bytes);
  loaded.profile = parse_profile(text, file.string());
  loaded.sha256 = sha256_hex(text);
  for (const ProfileRun& run : loaded.profile.runs)
    loaded.runs.push_back(load_run(folder, run, loaded.warnings));
  return loaded;
}

std::vector<std::string> file_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->is_regular_file()) names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Where the trace says that operations ran: what was asked of the backend.
Placement placement_in(const Trace& trace, const std::string& backend) {
  Placement placement;
  for (const OpTrace& op : trace.ops) {
    if (op.op.subgraph == 0 && op.backend == backend && backend != k_cpu)
      placement[op.op] = backend;
  }
  return placement;
}

void load_flat(const ProfileQuery& query, const FlatTrace& files, int threads,
               LoadedProfile& loaded) {
  const auto path = [&](const std::string& name) {
    return name.empty() ? std::nullopt : std::optional(query.traces / name);
  };
  RunTrace run;
  run.run.id = "r000" + std::to_string(loaded.runs.size());
  run.run.label = files.backend;
  run.run.threads = threads;
  try {
    run.trace = read_trace_files(path(files.chrome), path(files.averaged), std::nullopt);
    run.run.placement = placement_in(run.trace, files.backend);
  } catch (const Error& error) {
    run.run.status = RunStatus::no_trace;
    loaded.warnings.push_back(
        {"trace_left_out", Severity::warning, files.backend, error.what(), ""});
  }
  loaded.runs.push_back(std::move(run));
}

}  // namespace

LoadedProfile load_profile(const ProfileQuery& query) {
  const fs::path folder = query.traces / query.package;
  const fs::path file = folder / k_profile_name;
  if (fs::exists(file)) return load_recorded(folder, file);
  const std::vector<std::string> names = file_names(query.traces);
  if (names.empty() || (names.size() == 1 && names.front() == "README.md")) {
    const bool partial = fs::exists(query.traces / (query.package + ".partial"));
    throw Error(ErrorKind::input, "cannot find a measurement of", query.package,
                "there is no " + file.string() +
                    (partial ? " (only an unfinished one, " + query.package + ".partial)" : ""),
                "profiling first: leave out --no-profile");
  }
  LoadedProfile loaded;
  for (const FlatTraces& traces :
       find_flat_traces(names, query.package, query.backends, query.threads, query.force)) {
    for (const FlatTrace& trace : traces.traces) load_flat(query, trace, traces.threads, loaded);
  }
  return loaded;
}

}  // namespace stab
