// SPDX-License-Identifier: Apache-2.0
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "runtime_files.h"
#include "stab/device/runtime_check.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

void add_folder(std::vector<std::string>& folders, const std::string& folder) {
  const bool known = std::find(folders.begin(), folders.end(), folder) != folders.end();
  std::error_code ignored;
  if (!known && fs::is_directory(folder, ignored)) folders.push_back(folder);
}

/// Folders that a file in the form of ld.so.conf(5) names; "include" takes a pattern.
void read_loader_config(const std::string& file, std::vector<std::string>& folders, int depth) {
  constexpr int k_max_depth = 4;
  if (depth > k_max_depth) return;
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find('#'));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
    constexpr std::string_view k_include = "include ";
    if (!line.starts_with(k_include)) {
      add_folder(folders, line);
      continue;
    }
    std::string pattern = line.substr(line.find_first_not_of(" \t", k_include.size()));
    if (pattern.front() != '/') pattern = (fs::path(file).parent_path() / pattern).string();
    glob_t found = {};
    if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (std::size_t i = 0; i < found.gl_pathc; ++i) {
        read_loader_config(found.gl_pathv[i], folders, depth + 1);
      }
    }
    globfree(&found);
  }
}

std::optional<Machine> machine_of_file(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  constexpr std::size_t k_header = 64;
  std::string start(k_header, '\0');
  stream.read(start.data(), k_header);
  start.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_elf_header(start);
}

bool has_library(const std::vector<std::string>& folders, const std::string& name,
                 const Machine& machine) {
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    const auto found = machine_of_file(fs::path(folder) / name);
    return found && compatible(*found, machine);
  });
}

}  // namespace

std::vector<std::string> local_library_folders() {
  std::vector<std::string> folders;
  for (const char* folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64"})
    add_folder(folders, folder);
  read_loader_config("/etc/ld.so.conf", folders, 0);
  return folders;
}

std::set<std::string> find_local_libraries(const Runtime& runtime,
                                           const std::vector<std::string>& folders) {
  std::vector<std::string> all = folders;
  for (const auto& [path, info] : runtime.libraries) {
    for (const std::string& folder : info.search_paths) {
      if (folder.front() == '/') add_folder(all, folder);
    }
  }
  std::set<std::string> found;
  for (const std::string& name : outside_libraries(runtime)) {
    if (has_library(all, name, runtime.machine)) found.insert(name);
  }
  return found;
}

std::optional<std::string> local_glibcxx(const Machine& machine,
                                         const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const fs::path file = fs::path(folder) / "libstdc++.so.6";
    const auto found = machine_of_file(file);
    if (!found || !compatible(*found, machine)) continue;
    const std::string content = read_runtime_file(file);
    std::optional<std::string> highest;
    constexpr std::string_view k_prefix = "GLIBCXX_";
    for (std::size_t at = content.find(k_prefix); at != std::string::npos;
         at = content.find(k_prefix, at + 1)) {
      const std::size_t start = at + k_prefix.size();
      const std::string version =
          content.substr(start, content.find_first_not_of("0123456789.", start) - start);
      if (!version.empty() && (!highest || compare_versions(version, *highest) > 0))
        highest = version;
    }
    return highest;
  }
  return std::nullopt;
}

}  // namespace stab
