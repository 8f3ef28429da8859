// SPDX-License-Identifier: Apache-2.0
#include "stab/device/runtime_check.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace stab {
namespace {

std::string_view base_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Libraries that come with every C library; since glibc 2.34 most of them are part of it.
bool comes_with_libc(std::string_view name) {
  constexpr std::array<std::string_view, 8> k_names = {
      "libc.so.6",  "libm.so.6",    "libdl.so.2",     "libpthread.so.0",
      "librt.so.1", "libutil.so.1", "libresolv.so.2", "libanl.so.1"};
  return name.starts_with("ld-") || name.starts_with("linux-vdso") ||
         std::find(k_names.begin(), k_names.end(), name) != k_names.end();
}

/// The library of that name in the runtime's folder: one that `machine` can load where there are
/// several.
std::optional<std::string> find_in_folder(const Runtime& runtime, std::string_view name,
                                          const Machine& machine) {
  std::optional<std::string> found;
  for (const auto& [path, info] : runtime.libraries) {
    if (base_name(path) != name) continue;
    if (compatible(info.machine, machine)) return path;
    if (!found) found = path;
  }
  return found;
}

/// What the runtime loads by itself: its two own libraries and the backends.
std::vector<std::string> roots_of(const Runtime& runtime) {
  std::vector<std::string> roots = {runtime.api_library, runtime.core_library};
  for (const auto& [name, path] : runtime.backends) roots.push_back(path);
  return roots;
}

void collect_outside(const Runtime& runtime, const std::string& path, std::set<std::string>& seen,
                     std::set<std::string>& outside) {
  const auto library = runtime.libraries.find(path);
  if (library == runtime.libraries.end() || !seen.insert(path).second) return;
  for (const std::string& name : library->second.needed) {
    if (comes_with_libc(name)) continue;
    const auto inside = find_in_folder(runtime, name, library->second.machine);
    if (inside && compatible(runtime.libraries.at(*inside).machine, library->second.machine)) {
      collect_outside(runtime, *inside, seen, outside);
    } else {
      outside.insert(name);
    }
  }
}

struct Problem {
  ErrorKind kind =
      ErrorKind::device;  ///< input: the file is wrong; device: the device lacks something
  std::string text;
};

/// Finds what keeps a library from being loaded, each library once.
class Checker {
 public:
  Checker(const Runtime& runtime, const RuntimeTarget& target)
      : runtime_(runtime), target_(target) {}

  std::optional<Problem> problem_of(const std::string& path) {
    const auto known = problems_.find(path);
    if (known != problems_.end()) return known->second;
    problems_[path] = std::nullopt;  // ends circles
    return problems_[path] = find_problem(path);
  }

 private:
  std::optional<Problem> find_problem(const std::string& path) {
    const auto unreadable = runtime_.unreadable.find(path);
    if (unreadable != runtime_.unreadable.end()) {
      return Problem{ErrorKind::input, "'" + path + "' is no library: " + unreadable->second};
    }
    const ElfInfo& info = runtime_.libraries.at(path);
    if (!compatible(info.machine, target_.machine)) {
      return Problem{ErrorKind::input, "'" + path + "' is built for " + to_string(info.machine) +
                                           ", and the device runs " + to_string(target_.machine)};
    }
    if (auto problem = version_problem(path, info)) return problem;
    for (const std::string& name : info.needed) {
      if (comes_with_libc(name)) continue;
      if (auto problem = need_problem(path, info, name)) return problem;
    }
    return std::nullopt;
  }

  std::optional<Problem> version_problem(const std::string& path, const ElfInfo& info) const {
    const auto glibc = highest_version(info, "GLIBC_");
    constexpr std::string_view k_glibc = "glibc ";
    if (glibc && target_.libc.starts_with("musl")) {
      return Problem{ErrorKind::device,
                     "'" + path + "' needs glibc, and the device has " + target_.libc};
    }
    if (glibc && target_.libc.starts_with(k_glibc) &&
        compare_versions(*glibc, target_.libc.substr(k_glibc.size())) > 0) {
      return Problem{ErrorKind::device, "'" + path + "' needs glibc " + *glibc +
                                            ", and the device has " + target_.libc};
    }
    const auto glibcxx = highest_version(info, "GLIBCXX_");
    const bool bundled = find_in_folder(runtime_, "libstdc++.so.6", info.machine).has_value();
    if (glibcxx && target_.glibcxx && !bundled &&
        compare_versions(*glibcxx, *target_.glibcxx) > 0) {
      return Problem{ErrorKind::device, "'" + path + "' needs a libstdc++ with GLIBCXX_" +
                                            *glibcxx + ", and the device's ends at GLIBCXX_" +
                                            *target_.glibcxx};
    }
    return std::nullopt;
  }

  std::optional<Problem> need_problem(const std::string& path, const ElfInfo& info,
                                      const std::string& name) {
    const auto inside = find_in_folder(runtime_, name, info.machine);
    if (inside) {
      const Machine& other = runtime_.libraries.at(*inside).machine;
      if (compatible(other, info.machine)) return problem_of(*inside);
      if (target_.libraries && target_.libraries->contains(name)) return std::nullopt;
      return Problem{ErrorKind::input, "'" + path + "' (" + to_string(info.machine) + ") needs '" +
                                           name + "', and '" + *inside + "' is built for " +
                                           to_string(other)};
    }
    if (!target_.libraries || target_.libraries->contains(name)) return std::nullopt;
    const std::string where =
        target_.looked_in.empty() ? "" : " (looked in " + target_.looked_in + ")";
    return Problem{ErrorKind::device,
                   "'" + path + "' needs '" + name +
                       "', which is neither in the runtime's folder nor on the device" + where};
  }

  const Runtime& runtime_;
  const RuntimeTarget& target_;
  std::map<std::string, std::optional<Problem>> problems_;
};

BackendInfo check_backend(const Runtime& runtime, Checker& checker, const std::string& name) {
  BackendInfo backend;
  backend.name = name;
  const auto found = runtime.backends.find(name);
  if (found == runtime.backends.end()) {
    backend.reason = "the runtime has no libbackend_" + name + ".so";
    return backend;
  }
  const FileEntry* entry = find_entry(runtime.files, found->second);
  if (entry != nullptr) backend.sha256 = entry->sha256;
  const auto problem = checker.problem_of(found->second);
  backend.usable = !problem;
  if (problem) backend.reason = problem->text;
  return backend;
}

}  // namespace

std::vector<std::string> outside_libraries(const Runtime& runtime) {
  std::set<std::string> seen;
  std::set<std::string> outside;
  for (const std::string& root : roots_of(runtime)) collect_outside(runtime, root, seen, outside);
  return {outside.begin(), outside.end()};
}

RuntimeCheck check_runtime(const Runtime& runtime, const RuntimeTarget& target,
                           const std::vector<std::string>& backends) {
  Checker checker(runtime, target);
  for (const std::string& path : {runtime.api_library, runtime.core_library}) {
    const auto problem = checker.problem_of(path);
    if (!problem) continue;
    const bool other_machine = !compatible(runtime.machine, target.machine);
    throw Error(problem->kind, "cannot use runtime", runtime.folder, problem->text,
                other_machine ? "a runtime built for " + device_arch(target.machine) : "");
  }
  RuntimeCheck check;
  std::set<std::string> names(backends.begin(), backends.end());
  for (const auto& [name, path] : runtime.backends) names.insert(name);
  for (const std::string& name : names)
    check.backends.push_back(check_backend(runtime, checker, name));
  check.warnings = runtime.warnings;
  const std::vector<std::string> outside = outside_libraries(runtime);
  if (!target.libraries && !outside.empty()) {
    std::string list;
    for (const std::string& name : outside) list += (list.empty() ? "" : ", ") + name;
    check.warnings.push_back({"runtime_needs_unchecked", Severity::info, runtime.folder,
                              "the device must have " + list + "; that was not checked", ""});
  }
  return check;
}

RuntimeInfo runtime_info(const Runtime& runtime, const RuntimeCheck& check, bool own_runner) {
  RuntimeInfo info;
  info.sha256 = runtime.sha256;
  info.own_runner = own_runner;
  info.keys = runtime.keys;
  info.backends = check.backends;
  return info;
}

}  // namespace stab
