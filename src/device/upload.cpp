// SPDX-License-Identifier: Apache-2.0
#include "stab/device/upload.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "input_file.h"
#include "stab/core/sha256.h"
#include "stab/device/exchange.h"
#include "upload_plan.h"
#include "upload_script.h"
#include "upload_stream.h"

namespace stab {
namespace {

constexpr const char* k_what = "cannot upload to the device";
constexpr std::chrono::milliseconds k_far{3};

std::string human(std::uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " bytes";
  if (bytes < 10'000'000) return std::to_string(bytes / 1000) + " KB";
  return std::to_string(bytes / 1'000'000) + " MB";
}

/// Throws Error(input) when a file of this machine is not what its tree says any more.
void check_sources(const std::vector<NamedTree>& trees) {
  for (const NamedTree& one : trees) {
    for (const TreeFile& file : one.tree->files()) {
      const auto* source = std::get_if<std::filesystem::path>(&file.content);
      if (source == nullptr || file.is_link()) continue;
      const std::optional<HashedFile> now = hash_file(*source);
      if (now && now->sha256 == file.sha256) continue;
      throw Error(ErrorKind::input, "cannot upload", source->string(),
                  now ? k_file_changed : "it cannot be read", "starting again");
    }
  }
}

}  // namespace

Uploader::Uploader(Transport& transport, WorkFolder folder, UploadOptions options)
    : transport_(transport), folder_(std::move(folder)), options_(std::move(options)) {
  if (!folder_.can_hash) {
    warnings_.push_back({"no_hash_tool", Severity::warning, "upload",
                         "the device has no sha256sum: of what is sent only sizes are compared",
                         ""});
  }
}

std::vector<std::string> Uploader::put(const std::vector<FileTree>& trees) {
  std::vector<std::string> paths;
  std::vector<NamedTree> wanted;
  std::set<std::string> names;
  for (const FileTree& tree : trees) {
    const std::string name = tree.name();
    paths.push_back(folder_.path + "/" + name);
    const bool first_time = in_use_.insert(name).second;
    const auto there = folder_.trees.find(name);
    const bool trusted = there != folder_.trees.end() && there->second == TreeState::same &&
                         !(options_.rehash && first_time);
    if (!trusted && names.insert(name).second) wanted.push_back({&tree, name});
  }
  if (wanted.empty()) return paths;
  UploadPlan plan = plan_for(wanted);
  check_space(plan);
  const UploadAmount amount = plan.amount;
  const Packing packing = packing_of(plan);
  // A device that cannot hash would not notice.
  if (!folder_.can_hash) check_sources(wanted);
  if (!send(wanted, std::move(plan), amount.content, packing)) {
    // What arrived whole stays, as after any cut.
    send(wanted, plan_for(wanted), amount.content, Packing::always);
  }
  summary_.files_sent += amount.files;
  summary_.files_linked += amount.linked;
  summary_.content_bytes += amount.content;
  return paths;
}

UploadPlan Uploader::plan_for(const std::vector<NamedTree>& trees) {
  const TreesThere there = look_at(trees);
  learn_hashes(trees);
  return plan_upload(trees, there, known_, !folder_.can_hash);
}

TreesThere Uploader::look_at(const std::vector<NamedTree>& trees) {
  TreesThere there;
  for (const NamedTree& one : trees) {
    if (!folder_.trees.contains(one.name)) continue;
    (folder_.can_hash && folder_.can_list ? there.doubtful : there.dropped).insert(one.name);
  }
  if (!there.doubtful.empty()) inspect(trees, there);
  return there;
}

// Finds out which files of a doubtful tree are right, and orders the removal of everything else in
// it.
void Uploader::inspect(const std::vector<NamedTree>& trees, TreesThere& there) {
  const Answer answer =
      exchange(transport_, "cannot check what is on the device",
               enter_work_folder_script(folder_.path) + inspect_script(there.doubtful),
               {.timeout = std::chrono::minutes(20)});
  std::map<std::string, std::map<std::string, std::string>> hashes;  // tree, path
  std::map<std::string, std::set<std::string>> executable;
  std::map<std::string, std::set<std::string>> others;
  std::string tree;
  for (const auto& [key, rest] : answer.lines) {
    if (key == "tree") {
      tree = rest;
    } else if (key == "x" && rest.starts_with("./")) {
      executable[tree].insert(rest.substr(2));
    } else if (key == "o" && rest.starts_with("./")) {
      others[tree].insert(rest.substr(2));
    } else if (is_sha256_hex(key) && rest.starts_with(" ./")) {
      hashes[tree][rest.substr(3)] = key;
    }
  }
  for (const auto& [wanted, name] : trees) {
    if (!there.doubtful.contains(name)) continue;
    std::map<std::string, std::string>& found = hashes[name];
    for (const TreeFile& file : wanted->files()) {
      const auto same = found.find(file.path);
      if (same == found.end() || file.is_link()) continue;
      if (same->second != file.sha256 || executable[name].contains(file.path) != file.executable)
        continue;
      there.good.insert(name + "/" + file.path);
      found.erase(same);
    }
    for (const auto& [path, hash] : found) there.orders += "R " + name + ".part/" + path + "\n";
    for (const std::string& path : others[name])
      there.orders += "R " + name + ".part/" + path + "\n";
  }
}

// A file with the same bytes in another tree, of an earlier day, needs not go over again. Asked for
// once, when there is something to send.
void Uploader::learn_hashes(const std::vector<NamedTree>& trees) {
  if (hashes_learnt_) return;
  hashes_learnt_ = true;
  std::set<std::string> kinds;
  for (const NamedTree& one : trees) kinds.insert(one.tree->kind());
  std::set<std::string> names;
  for (const auto& [name, state] : folder_.trees) {
    if (state == TreeState::same && kinds.contains(name.substr(0, name.find('-'))))
      names.insert(name);
  }
  if (names.empty()) return;
  const Answer answer =
      exchange(transport_, "cannot check what is on the device",
               enter_work_folder_script(folder_.path) + known_hashes_script(names));
  std::string tree;
  for (const auto& [key, rest] : answer.lines) {
    if (key == "tree") tree = rest;
    if (!is_sha256_hex(key) || !names.contains(tree) || !rest.starts_with(" ./")) continue;
    const bool executable = rest.starts_with(" .//");
    const std::string path = rest.substr(executable ? 4 : 3);
    if (path.find("//") == std::string::npos)
      known_.emplace(identity_of(executable, key), tree + "/" + path);
  }
}

void Uploader::check_space(const UploadPlan& plan) {
  if (!folder_.space) return;
  const std::uint64_t need = plan.need + plan.need / 10;
  const bool in_memory =
      folder_.space->file_system == "tmpfs" || folder_.space->file_system == "ramfs";
  std::uint64_t free = folder_.space->free_bytes;
  std::string where = "free";
  if (in_memory && folder_.available_memory_bytes && *folder_.available_memory_bytes < free) {
    free = *folder_.available_memory_bytes;
    where = "left of the device's memory, in which this folder lies";
  }
  if (need > free) {
    throw_device_error(transport_, k_what,
                       "no room in " + folder_.path + ": " + std::to_string(need) +
                           " bytes needed, " + std::to_string(free) + " bytes " + where,
                       "--remote-dir with a folder on another disk, or `stab clean`");
  }
  if (in_memory && folder_.available_memory_bytes && need > *folder_.available_memory_bytes / 4) {
    warnings_.push_back({"memory_file_system", Severity::warning, folder_.path,
                         "the upload takes " + human(need) + " of " +
                             human(*folder_.available_memory_bytes) +
                             " free memory, since the folder lies in memory",
                         "--remote-dir with a folder on a disk"});
  }
}

Packing Uploader::packing_of(const UploadPlan& plan) const {
  if (transport_.link().local || !folder_.can_unpack_gzip) return Packing::never;
  const bool short_stream = plan.amount.content < FastLinkCheck::k_bytes;
  return far() || short_stream ? Packing::always : Packing::if_too_slow;
}

bool Uploader::far() const {
  return transport_.link().round_trip > k_far;
}

/// False when the stream was given up because the link is too slow for it. `total`: bytes of
/// content, with those of a stream before that was given up.
bool Uploader::send(const std::vector<NamedTree>& trees, UploadPlan plan, std::uint64_t total,
                    Packing packing) {
  const std::string script =
      enter_work_folder_script(folder_.path) +
      receive_script({plan.build, plan.dropped, plan.need, packing == Packing::always});
  total = std::max(total, plan.amount.content);
  const std::uint64_t before = total - plan.amount.content;
  UploadStream stream(plan.orders, std::move(plan.members), packing, far(),
                      [&](std::uint64_t done) {
                        if (options_.progress)
                          options_.progress(std::min(before + done, total), total);
                      });
  // Until the device says otherwise: a cut leaves parts of all of them.
  for (const NamedTree& one : trees) folder_.trees[one.name] = TreeState::partial;
  bool done = true;
  try {
    conclude(trees,
             exchange(transport_, k_what, script,
                      {.input = [&stream](std::span<char> into) { return stream.read(into); },
                       .timeout = std::chrono::hours(12),
                       .idle = options_.idle}));
    known_.merge(plan.files);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    if (!stream.gave_up()) {
      check_sources(trees);
      throw;
    }
    done = false;
  }
  summary_.stream_bytes += stream.stream_bytes();
  summary_.compressed = summary_.compressed || stream.compressed();
  return done;
}

/// Believes that the device has what it says is done.
void Uploader::conclude(const std::vector<NamedTree>& trees, const Answer& answer) {
  const std::vector<std::string> done = answer.all("done");
  for (const NamedTree& one : trees) {
    if (std::find(done.begin(), done.end(), one.name) == done.end())
      throw_device_error(transport_, k_what, one.name + " was not put in place");
    folder_.trees[one.name] = TreeState::same;
  }
}

}  // namespace stab
