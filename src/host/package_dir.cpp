// SPDX-License-Identifier: Apache-2.0
#include "stab/host/package_dir.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "package_walk.h"
#include "stab/core/error.h"
#include "stab/core/sha256.h"
#include "stab/host/files.h"
#include "zip.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_max_manifest = std::uint64_t{1} << 20U;
constexpr std::uint64_t k_max_config = std::uint64_t{16} << 20U;
constexpr std::uint64_t k_max_record = std::uint64_t{256} << 20U;

[[noreturn]] void refuse(const fs::path& path, std::string why, std::string hint = {}) {
  throw Error(ErrorKind::input, "cannot use package", path.string(), std::move(why),
              std::move(hint));
}

void append(std::vector<Warning>& to, const std::vector<Warning>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// Where the content of `path`, a file of the package at `folder`, lies; a link in the package is
/// followed.
std::optional<fs::path> content_of(const Package& package, const fs::path& folder,
                                   const std::string& path) {
  const FileEntry* entry = find_entry(package.files, path);
  if (entry != nullptr && entry->kind == FileKind::regular) return entry->source;
  std::error_code error;
  const fs::path resolved = fs::canonical(folder / path, error);
  if (error || !fs::is_regular_file(resolved, error)) return std::nullopt;
  const std::string inside = resolved.lexically_relative(folder).string();
  if (!normal_path(inside)) refuse(folder, "'" + path + "' leads out of the package");
  return resolved;
}

void read_config(Package& package, const fs::path& folder) {
  if (!package.manifest.config) return;
  const std::string& path = *package.manifest.config;
  const auto content = content_of(package, folder, path);
  if (!content) {
    package.warnings.push_back({"config_missing", Severity::warning, path,
                                "MANIFEST names it and it is not there; the runtime reads nothing",
                                ""});
    return;
  }
  const Config config = parse_config(read_file(*content, k_max_config), path);
  package.config = config.keys;
  append(package.warnings, config.warnings);
}

void check_names(const Package& package, const fs::path& path) {
  if (package.name.empty() || package.name == "." || package.name == "/") {
    refuse(path, "a package needs a folder with a name");
  }
  if (const auto why = why_bad_name(package.name)) refuse(path, *why, "another name");
}

/// The package in `folder` (absolute, resolved), all but its name.
Package read_folder(const fs::path& folder, const PackageLimits& limits, OutsideLinks outside) {
  const fs::path manifest_file = folder / k_manifest_path;
  std::error_code ignored;
  if (!fs::exists(manifest_file, ignored)) {
    refuse(folder, "it has no " + std::string(k_manifest_path),
           "the folder that holds 'metadata', or a .tflite or .circle file");
  }
  if (fs::is_symlink(folder / "metadata", ignored)) refuse(folder, "'metadata' is a link");
  Package package;
  package.origin = folder.string();
  package.files = list_package(folder, limits, outside, package.warnings);
  package.sha256 = hash_of(package.files);
  package.manifest =
      parse_manifest(read_file(manifest_file, k_max_manifest), manifest_file.string());
  append(package.warnings, package.manifest.warnings);
  read_config(package, folder);
  const auto model = content_of(package, folder, package.manifest.model);
  if (!model) refuse(folder, "the model '" + package.manifest.model + "' is not there");
  package.model_source = model->string();
  const FileEntry* entry = find_entry(package.files, package.manifest.model);
  package.model_sha256 =
      entry != nullptr && entry->kind == FileKind::regular ? entry->sha256 : sha256_of_file(*model);
  const bool overwritten = find_entry(package.files, k_config_path) != nullptr &&
                           package.manifest.config != k_config_path;
  if (overwritten) {
    package.warnings.push_back(
        {"config_replaced", Severity::warning, k_config_path,
         "the runtime does not read this file; in the copy ours takes its place",
         "another name for it"});
  }
  return package;
}

OpenedPackage read_zip(const fs::path& zip, const PackageLimits& limits) {
  OpenedPackage opened;
  opened.unpacked = std::make_unique<TemporaryFolder>();
  unpack_zip(zip, opened.unpacked->path(), limits);
  fs::path top = opened.unpacked->path();
  if (!fs::exists(top / k_manifest_path)) {
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(top)) {
      if (!entry.is_symlink() && fs::exists(entry.path() / k_manifest_path))
        found.push_back(entry.path());
    }
    if (found.size() != 1) refuse(zip, "it has no " + std::string(k_manifest_path));
    top = found.front();
  }
  opened.package = read_folder(top, limits, OutsideLinks::refuse);
  opened.package.name = zip.stem().string();
  opened.package.origin = zip.string();
  return opened;
}

/// Names that stand in MANIFEST and on the device as they are.
bool plain_name(const std::string& name) {
  return !name.empty() && name.front() != '-' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

Package wrap_model(const fs::path& file, ModelFormat format) {
  Package package;
  package.name = file.stem().string();
  package.origin = file.string();
  FileEntry model;
  const std::string name = file.filename().string();
  model.path = plain_name(name) ? name : "model." + std::string(to_string(format));
  model.size = fs::file_size(file);
  model.sha256 = sha256_of_file(file);
  model.source = file.string();
  package.model_source = model.source;
  package.model_sha256 = model.sha256;
  const std::string manifest = make_manifest(model.path, format);
  package.manifest = parse_manifest(manifest, k_manifest_path);
  package.files = {model};
  package.files = with_texts(std::move(package.files), {{k_manifest_path, manifest}});
  package.sha256 = hash_of(package.files);
  return package;
}

OpenedPackage read_single_file(const fs::path& file, const PackageLimits& limits) {
  const std::string start = read_prefix(file, 8);
  if (start.starts_with("PK\x03\x04") || start.starts_with("PK\x05\x06"))
    return read_zip(file, limits);
  const auto format = detect_format(std::as_bytes(std::span(start)), file.filename().string());
  if (!format) {
    refuse(file, "it is no folder, no zip and no .tflite or .circle model", "the package's folder");
  }
  OpenedPackage opened;
  opened.package = wrap_model(file, *format);
  return opened;
}

bool same_or_below(const fs::path& path, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

OpenedPackage read_package(const fs::path& path, const PackageLimits& limits) {
  std::error_code error;
  const fs::path resolved = fs::canonical(path, error);
  if (error) throw Error(ErrorKind::input, "cannot find package", path.string(), error.message());
  OpenedPackage opened;
  if (fs::is_directory(resolved, error)) {
    opened.package = read_folder(resolved, limits, OutsideLinks::follow);
    opened.package.name = resolved.filename().string();
  } else {
    opened = read_single_file(resolved, limits);
  }
  check_names(opened.package, resolved);
  return opened;
}

std::vector<std::byte> read_model(const Package& package) {
  constexpr std::uint64_t k_max_model = std::uint64_t{4} << 30U;
  const std::string text = read_file(package.model_source, k_max_model);
  if (sha256_hex(text) != package.model_sha256) {
    refuse(package.model_source, "the model changed since it was read",
           "again when nothing writes to the package");
  }
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

fs::path output_folder(const fs::path& output, const Package& package) {
  return fs::weakly_canonical(fs::absolute(output)) / package.name;
}

void check_trace_folder(const fs::path& traces, const fs::path& output, const Package& package,
                        bool force) {
  const fs::path folder = fs::weakly_canonical(fs::absolute(traces)) / package.name;
  fs::path partial = folder;
  partial += ".partial";
  const fs::path written = output_folder(output, package);
  for (const fs::path& mine : {folder, partial}) {
    for (const fs::path& other : {fs::path(package.origin), written}) {
      if (!same_or_below(mine, other) && !same_or_below(other, mine)) continue;
      throw Error(ErrorKind::usage, "cannot keep traces in", mine.string(),
                  other == written ? "the scheduled package goes there"
                                   : "it is, or lies in or around, the package that is read",
                  "another --trace-dir");
    }
  }
  std::error_code ignored;
  for (const fs::path& mine : {folder, partial}) {
    if (force || !fs::exists(mine, ignored) || fs::exists(mine / "profile.json", ignored) ||
        fs::is_empty(mine, ignored))
      continue;
    throw Error(ErrorKind::output, "cannot replace", mine.string(),
                "it holds no profile.json: stab did not make it",
                "another --trace-dir, or --force");
  }
}

void check_output(const fs::path& output, const Package& package, bool force) {
  const fs::path folder = output_folder(output, package);
  const fs::path source = package.origin;
  if (same_or_below(folder, source) || same_or_below(source, folder)) {
    throw Error(ErrorKind::usage, "cannot write", folder.string(),
                "it is, or lies in or around, the package that is read", "another --output");
  }
  const auto keep = [&folder](const std::string& why, const std::string& hint) {
    throw Error(ErrorKind::output, "cannot replace", folder.string(), why, hint);
  };
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(folder, ignored).type();
  if (type == fs::file_type::directory) {
    const fs::path record = folder / k_record_path;
    if (!force && !fs::is_regular_file(record, ignored)) {
      keep("it holds no " + std::string(k_record_path) + ", so stab did not write it", "--force");
    }
    if (!force && scheduled_model(read_file(record, k_max_record)) != package.model_sha256) {
      keep("it holds the schedule of another model", "--force, or another --output");
    }
  } else if (type != fs::file_type::not_found) {
    keep("it is not a folder", "another --output");
  }
  check_writable(folder.parent_path(), total_bytes(package.files));
}

fs::path write_package(const fs::path& output, const Package& package, const FileList& files,
                       bool force) {
  check_output(output, package, force);
  const fs::path folder = output_folder(output, package);
  replace_folder_atomically(folder, [&files](const fs::path& draft) { copy_files(files, draft); });
  return folder;
}

}  // namespace stab
