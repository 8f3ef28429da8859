// SPDX-License-Identifier: Apache-2.0
#include "stab/device/runtime.h"

#include <algorithm>
#include <array>
#include <utility>

#include "runtime_files.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& folder, std::string why, std::string hint = {}) {
  throw Error(ErrorKind::input, "cannot use runtime", folder.string(), std::move(why),
              std::move(hint));
}

/// Keys of all generations whose presence tells something; OP_BACKEND_<Op> are too many and say
/// nothing.
const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> k_keys = {
      "BACKENDS",       "CPU_MEMORY_PLANNER", "DISABLE_COMPILE", "EIGEN_THREADS",
      "EXECUTOR",       "FP16_ENABLE",        "NUM_THREADS",     "OP_BACKEND_ALLOPS",
      "OP_BACKEND_MAP", "OP_SEQ_MAX_NODE",    "PROFILING_MODE",  "RUY_THREADS",
      "TRACE_FILEPATH", "TRACING_MODE",       "USE_MMAPED_DATA", "USE_SCHEDULER",
      "WORKSPACE_DIR",  "XNNPACK_THREADS"};
  return k_keys;
}

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? "." : std::string(path.substr(0, slash));
}

/// The path with that base name that lies least deep, then first by name; absent when there is
/// none.
std::optional<std::string> find_library(const FileList& files, std::string_view name) {
  const auto depth = [](std::string_view path) {
    return std::count(path.begin(), path.end(), '/');
  };
  std::optional<std::string> best;
  for (const FileEntry& entry : files) {
    if (entry.kind == FileKind::folder || base_name(entry.path) != name) continue;
    if (!best || depth(entry.path) < depth(*best)) best = entry.path;
  }
  return best;
}

bool is_library(std::string_view path) {
  const std::string_view name = base_name(path);
  return name.ends_with(".so") || name.find(".so.") != std::string_view::npos;
}

void read_libraries(Runtime& runtime) {
  for (const FileEntry& entry : runtime.files) {
    if (entry.kind == FileKind::folder) continue;
    if (!is_library(entry.path) && entry.path != runtime.runner) continue;
    const fs::path file = fs::path(runtime.folder) / entry.path;
    try {
      runtime.libraries[entry.path] = parse_elf(read_runtime_file(file), entry.path);
    } catch (const Error& error) {
      runtime.unreadable[entry.path] = error.why();
    }
  }
}

void find_backends(Runtime& runtime) {
  constexpr std::string_view k_prefix = "libbackend_";
  for (const FileEntry& entry : runtime.files) {
    const std::string_view name = base_name(entry.path);
    if (entry.kind == FileKind::folder || !name.starts_with(k_prefix) || !name.ends_with(".so"))
      continue;
    const std::string backend(name.substr(k_prefix.size(), name.size() - k_prefix.size() - 3));
    runtime.backends.emplace(backend, *find_library(runtime.files, name));
  }
}

/// The C library's folder, the core's, the backends', then every other one that holds a library.
void find_folders(Runtime& runtime) {
  std::vector<std::string>& folders = runtime.library_folders;
  const auto add = [&folders](const std::string& folder) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  };
  add(folder_of(runtime.api_library));
  add(folder_of(runtime.core_library));
  for (const auto& [name, path] : runtime.backends) add(folder_of(path));
  for (const FileEntry& entry : runtime.files) {
    if (entry.kind != FileKind::folder && is_library(entry.path)) add(folder_of(entry.path));
  }
}

void find_generation(Runtime& runtime) {
  const std::string core = read_runtime_file(fs::path(runtime.folder) / runtime.core_library);
  runtime.keys = literals_in(core, known_keys());
  if (!knows_key(runtime, "BACKENDS")) {
    runtime.warnings.push_back({"runtime_keys_unknown", Severity::warning, runtime.core_library,
                                "none of the known configuration keys stands in this library", ""});
  }
}

/// A debug build says so in the name of its folder, or carries debug information.
void find_build_type(Runtime& runtime) {
  const fs::path folder = runtime.folder;
  const bool by_name = std::any_of(folder.begin(), folder.end(), [](const fs::path& part) {
    return part.extension() == ".debug";
  });
  const auto core = runtime.libraries.find(runtime.core_library);
  const bool by_content = core != runtime.libraries.end() && core->second.debug_info;
  runtime.debug_build = by_name || by_content;
  if (!runtime.debug_build) return;
  runtime.warnings.push_back(
      {"runtime_debug_build", Severity::warning, runtime.folder,
       by_name ? "a debug build: its times say nothing about a release build"
               : "it carries debug information: if it is a debug build, its times say "
                 "nothing about a release build",
       "a build with BUILD_TYPE=release"});
}

std::optional<std::string> find_runner(const fs::path& folder) {
  for (const char* name : {"onert_run", "nnpackage_run"}) {
    std::error_code ignored;
    if (fs::is_regular_file(folder / "bin" / name, ignored)) return std::string("bin/") + name;
  }
  return std::nullopt;
}

}  // namespace

bool knows_key(const Runtime& runtime, std::string_view key) {
  return std::find(runtime.keys.begin(), runtime.keys.end(), key) != runtime.keys.end();
}

Runtime read_runtime(const fs::path& folder) {
  std::error_code error;
  fs::path resolved = fs::canonical(folder, error);
  if (error) refuse(folder, error.message());
  if (!fs::exists(resolved / "lib", error) && fs::is_directory(resolved / "out" / "lib", error)) {
    resolved /= "out";
  }
  if (!fs::is_directory(resolved, error)) refuse(folder, "it is not a folder");
  Runtime runtime;
  runtime.folder = resolved.string();
  runtime.runner = find_runner(resolved);
  runtime.files = list_runtime(resolved, runtime.runner);
  const auto core = find_library(runtime.files, "libonert_core.so");
  auto api = find_library(runtime.files, "libonert.so");
  if (!api) api = find_library(runtime.files, "libnnfw-dev.so");
  if (!core || !api) {
    refuse(
        folder,
        std::string("it holds no ") + (core ? "libonert.so or libnnfw-dev.so" : "libonert_core.so"),
        "the 'out' folder of a ONE build, or the folder with its libraries");
  }
  runtime.core_library = *core;
  runtime.api_library = *api;
  runtime.sha256 = hash_of(runtime.files);
  read_libraries(runtime);
  const auto read = runtime.libraries.find(runtime.api_library);
  if (read == runtime.libraries.end()) {
    refuse(folder, "'" + runtime.api_library + "': " + runtime.unreadable[runtime.api_library]);
  }
  runtime.machine = read->second.machine;
  find_backends(runtime);
  find_folders(runtime);
  find_generation(runtime);
  find_build_type(runtime);
  return runtime;
}

std::optional<fs::path> named_runtime(const RuntimeSearch& search) {
  if (search.given) return search.given;
  if (search.environment && !search.environment->empty()) return *search.environment;
  return std::nullopt;
}

fs::path locate_runtime(const RuntimeSearch& search) {
  if (auto named = named_runtime(search)) return *named;
  const std::array<fs::path, 2> usual = {
      fs::path("Product") / (search.device_arch + "-linux.release") / "out",
      fs::path("Product") / "out"};
  for (fs::path above = fs::absolute(search.start);; above = above.parent_path()) {
    for (const fs::path& place : usual) {
      std::error_code ignored;
      if (fs::is_directory(above / place, ignored)) return above / place;
    }
    if (above == above.parent_path()) break;
  }
  throw Error(ErrorKind::input, "cannot find a ONE runtime", "",
              "neither '" + usual[0].string() + "' nor '" + usual[1].string() + "' is in '" +
                  search.start.string() + "' or a folder above it",
              "--runtime DIR");
}

}  // namespace stab
