// SPDX-License-Identifier: Apache-2.0
#include "stab/device/upload.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "stab/core/sha256.h"
#include "stab/device/exchange.h"
#include "upload_script.h"
#include "upload_stream.h"

namespace stab {
namespace {

constexpr const char* k_what = "cannot upload to the device";
constexpr std::uint64_t k_block = 4096;
constexpr std::chrono::milliseconds k_far{3};

// How a file stands in a list of hashes: an executable one has a doubled slash, which changes
// nothing for the tool that checks the list.
std::string listed_path(const TreeFile& file) {
  return (file.executable ? ".//" : "./") + file.path;
}

std::string identity(bool executable, std::string_view sha256) {
  return (executable ? "x " : "- ") + std::string(sha256);
}

std::string tree_of(const std::string& path) {
  return path.substr(0, path.find('/'));
}

std::uint64_t room_for(std::uint64_t bytes) {
  return (bytes + k_block - 1) / k_block * k_block;
}

/// A name as xargs reads it.
std::string xargs_word(std::string_view name) {
  std::string word;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("._-/").find(c) != std::string_view::npos;
    if (!plain) word += '\\';
    word += c;
  }
  return word;
}

/// What is to be hashed by one process: names for xargs, and what openssl is to say of them.
struct Half {
  std::string names;
  std::string right;

  void add(const TreeFile& file) {
    names += xargs_word(listed_path(file)) + "\n";
    right += file.sha256 + " *" + listed_path(file) + "\n";
  }
};

std::string human(std::uint64_t bytes) {
  if (bytes < 10'000) return std::to_string(bytes) + " bytes";
  if (bytes < 10'000'000) return std::to_string(bytes / 1000) + " KB";
  return std::to_string(bytes / 1'000'000) + " MB";
}

struct Amount {
  std::uint64_t files = 0;
  std::uint64_t linked = 0;
  std::uint64_t content = 0;  // bytes
};

}  // namespace

struct Uploader::Plan {
  std::vector<const FileTree*> trees;  // not there, or in doubt
  std::set<std::string> names;         // of them
  std::set<std::string> doubtful;      // something of them is there
  std::set<std::string> dropped;       // what is there cannot be judged
  std::map<std::string, std::set<std::string>>
      good;  // by tree: paths of files that are there and right
  std::string orders;
  std::vector<TarMember> members;
  std::uint64_t need = 0;
  Amount own;  // what its stream brings over
  Amount all;  // and a stream before that was given up

  void compose(const std::map<std::string, std::string>& known, bool with_sizes);
};

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
  std::vector<const FileTree*> wanted;
  std::set<std::string> names;
  for (const FileTree& tree : trees) {
    const std::string name = tree.name();
    paths.push_back(folder_.path + "/" + name);
    const bool first_time = in_use_.insert(name).second;
    const auto there = folder_.trees.find(name);
    const bool trusted = there != folder_.trees.end() && there->second == TreeState::same &&
                         !(options_.rehash && first_time);
    if (!trusted && names.insert(name).second) wanted.push_back(&tree);
  }
  if (wanted.empty()) return paths;
  Plan plan = plan_for(wanted);
  check_space(plan);
  if (!send(plan, packing_of(plan))) {
    // What arrived whole stays, as after any cut.
    Plan rest = plan_for(wanted);
    rest.all = plan.all;
    send(rest, Packing::always);
  }
  return paths;
}

Uploader::Plan Uploader::plan_for(const std::vector<const FileTree*>& trees) {
  Plan plan;
  plan.trees = trees;
  for (const FileTree* tree : trees) {
    const std::string name = tree->name();
    plan.names.insert(name);
    if (!folder_.trees.contains(name)) continue;
    (folder_.can_hash && folder_.can_list ? plan.doubtful : plan.dropped).insert(name);
  }
  if (!plan.doubtful.empty()) inspect(plan);
  learn_hashes(trees);
  plan.compose(known_, !folder_.can_hash);
  plan.all = plan.own;
  return plan;
}

// Finds out which files of a doubtful tree are right, and orders the removal of everything else in
// it.
void Uploader::inspect(Plan& plan) {
  const Answer answer =
      exchange(transport_, "cannot check what is on the device",
               enter_work_folder_script(folder_.path) + inspect_script(plan.doubtful),
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
  for (const FileTree* wanted : plan.trees) {
    const std::string name = wanted->name();
    if (!plan.doubtful.contains(name)) continue;
    std::map<std::string, std::string>& found = hashes[name];
    for (const TreeFile& file : wanted->files()) {
      const auto there = found.find(file.path);
      if (there == found.end() || file.is_link()) continue;
      if (there->second != file.sha256 || executable[name].contains(file.path) != file.executable)
        continue;
      plan.good[name].insert(file.path);
      found.erase(there);
    }
    for (const auto& [path, hash] : found) plan.orders += "R " + name + ".part/" + path + "\n";
    for (const std::string& path : others[name])
      plan.orders += "R " + name + ".part/" + path + "\n";
  }
}

// A file with the same bytes in another tree, of an earlier day, needs not go over again. Asked for
// once, when there is something to send.
void Uploader::learn_hashes(const std::vector<const FileTree*>& trees) {
  if (hashes_learnt_) return;
  hashes_learnt_ = true;
  std::set<std::string> kinds;
  for (const FileTree* tree : trees) kinds.insert(tree->kind());
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
      known_.emplace(identity(executable, key), tree + "/" + path);
  }
}

void Uploader::Plan::compose(const std::map<std::string, std::string>& known, bool with_sizes) {
  std::map<std::string, std::string> under_way;
  std::vector<std::pair<std::string, std::string>> links;
  std::set<std::string> folders;
  for (const FileTree* tree : trees) {
    const std::string name = tree->name();
    const std::string part = name + ".part/";
    std::string sums;
    std::string rest;
    std::string sizes;
    std::array<Half, 2> halves;
    for (const TreeFile& file : tree->files()) {
      if (file.is_link()) {
        members.push_back({part + file.path, 0, false, file.link_target, {}, {}});
        continue;
      }
      const std::string line = file.sha256 + "  " + listed_path(file) + "\n";
      const std::string same = identity(file.executable, file.sha256);
      const auto source = known.find(same);
      const auto twin = under_way.find(same);
      if (good[name].contains(file.path)) {
        rest += line;
        under_way.emplace(same, part + file.path);
      } else if (file.size > 0 && source != known.end() &&
                 !names.contains(tree_of(source->second))) {
        links.emplace_back(source->second, part + file.path);
        rest += line;
        ++own.linked;
      } else if (file.size > 0 && twin != under_way.end()) {
        members.push_back({part + file.path, 0, file.executable, {}, twin->second, {}});
        rest += line;
        ++own.linked;
      } else {
        members.push_back({part + file.path, file.size, file.executable, {}, {}, file.content});
        under_way.emplace(same, part + file.path);
        sums += line;
        halves[own.files % 2].add(file);
        if (with_sizes) sizes += std::to_string(file.size) + " " + file.path + "\n";
        own.content += file.size;
        need += room_for(file.size);
        ++own.files;
      }
    }
    std::vector<std::pair<const char*, std::string*>> lists{{".sums", &sums}};
    if (!rest.empty()) lists.emplace_back(".rest", &rest);
    if (with_sizes) {
      lists.emplace_back(".sizes", &sizes);
    } else {
      lists.insert(lists.end(), {{".half1", &halves[0].names},
                                 {".half1.right", &halves[0].right},
                                 {".half2", &halves[1].names},
                                 {".half2.right", &halves[1].right}});
    }
    for (const auto& [suffix, text] : lists) {
      need += room_for(text->size());
      members.push_back({"up/" + name + suffix, text->size(), false, {}, {}, *text});
    }
  }
  members.push_back({"up/end", 0, false, {}, {}, std::string()});
  for (const auto& [from, to] : links) {
    const std::string folder = to.substr(0, to.rfind('/'));
    if (folders.insert(folder).second) orders += "D " + folder + "\n";
    orders += "L " + from + "//" + to + "\n";
  }
  orders += ".\n";
}

void Uploader::check_space(const Plan& plan) {
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

Packing Uploader::packing_of(const Plan& plan) const {
  if (transport_.link().local || !folder_.can_unpack_gzip) return Packing::never;
  const bool short_stream = plan.own.content < FastLinkCheck::k_bytes;
  return far() || short_stream ? Packing::always : Packing::if_too_slow;
}

bool Uploader::far() const {
  return transport_.link().round_trip > k_far;
}

/// False when the stream was given up because the link is too slow for it.
bool Uploader::send(Plan& plan, Packing packing) {
  const std::string script =
      enter_work_folder_script(folder_.path) +
      receive_script({plan.names, plan.dropped, plan.need, packing == Packing::always});
  const std::uint64_t total = std::max(plan.all.content, plan.own.content);
  const std::uint64_t before = total - plan.own.content;
  UploadStream stream(plan.orders, std::move(plan.members), packing, far(),
                      [&](std::uint64_t done) {
                        if (options_.progress)
                          options_.progress(std::min(before + done, total), total);
                      });
  // Until the device says otherwise: a cut leaves parts of all of them.
  for (const std::string& name : plan.names) folder_.trees[name] = TreeState::partial;
  bool done = true;
  try {
    conclude(plan, exchange(transport_, k_what, script,
                            {.input = [&stream](std::span<char> into) { return stream.read(into); },
                             .timeout = std::chrono::hours(12),
                             .idle = options_.idle}));
  } catch (const Error& error) {
    if (!stream.gave_up() || error.kind() != ErrorKind::device) throw;
    done = false;
  }
  summary_.stream_bytes += stream.stream_bytes();
  summary_.compressed = summary_.compressed || stream.compressed();
  return done;
}

/// Believes that the device has what it says is done.
void Uploader::conclude(const Plan& plan, const Answer& answer) {
  const std::vector<std::string> done = answer.all("done");
  for (const FileTree* tree : plan.trees) {
    const std::string name = tree->name();
    if (std::find(done.begin(), done.end(), name) == done.end())
      throw_device_error(transport_, k_what, name + " was not put in place");
    folder_.trees[name] = TreeState::same;
    for (const TreeFile& file : tree->files()) {
      if (!file.is_link())
        known_.emplace(identity(file.executable, file.sha256), name + "/" + file.path);
    }
  }
  summary_.files_sent += plan.all.files;
  summary_.files_linked += plan.all.linked;
  summary_.content_bytes += plan.all.content;
}

}  // namespace stab
