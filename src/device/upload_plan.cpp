// SPDX-License-Identifier: Apache-2.0
#include "upload_plan.h"

#include <array>
#include <utility>

namespace stab {
namespace {

constexpr std::uint64_t k_block = 4096;

/// How a file stands in a list of hashes: an executable one has a doubled slash, which changes
/// nothing for the tool that checks the list.
std::string listed_path(const TreeFile& file) {
  return (file.executable ? ".//" : "./") + file.path;
}

std::string_view tree_of(std::string_view path) {
  return path.substr(0, path.find('/'));
}

/// Where "TREE/PATH" is while its tree is built.
std::string part_path(std::string_view path) {
  const std::string_view tree = tree_of(path);
  return std::string(tree) + ".part" + std::string(path.substr(tree.size()));
}

std::uint64_t room_for(std::uint64_t bytes) {
  return (bytes + k_block - 1) / k_block * k_block;
}

/// A name as xargs reads it.
std::string xargs_word(std::string_view name) {
  std::string word;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-' || c == '/';
    if (!plain) word += '\\';
    word += c;
  }
  return word;
}

/// What is to be hashed by one process: names for xargs, and what openssl is to say of them.
struct Half {
  std::string names;
  std::string right;

  void add(const TreeFile& file, const std::string& listed) {
    names += xargs_word(listed) + "\n";
    right += file.sha256 + " *" + listed + "\n";
  }
};

class Planner {
 public:
  Planner(const std::vector<NamedTree>& trees, const TreesThere& there, const KnownFiles& known,
          bool with_sizes)
      : there_(there), known_(known), with_sizes_(with_sizes) {
    std::size_t files = 0;
    for (const NamedTree& one : trees) {
      plan_.build.insert(one.name);
      files += one.tree->files().size();
    }
    plan_.members.reserve(files + k_lists * trees.size() + 1);
    plan_.files.reserve(files);
    plan_.dropped = there.dropped;
    plan_.orders = there.orders;
    for (const NamedTree& one : trees) add(one);
    plan_.members.push_back({"up/end", 0, false, {}, {}, std::string()});
    order_links();
  }

  UploadPlan take() { return std::move(plan_); }

 private:
  static constexpr std::size_t k_lists = 6;

  /// The lists of a tree that go over with it.
  struct Lists {
    std::string sums;   ///< of what is sent
    std::string rest;   ///< of what is there
    std::string sizes;  ///< of what is sent
    std::array<Half, 2> halves;
  };

  void add(const NamedTree& one) {
    Lists lists;
    for (const TreeFile& file : one.tree->files()) {
      const std::string path = one.name + "/" + file.path;
      if (file.is_link()) {
        plan_.members.push_back({part_path(path), 0, false, file.link_target, {}, {}});
      } else {
        add_file(file, path, lists);
      }
    }
    const std::string list = "up/" + one.name;
    add_list(list + ".sums", lists.sums);
    if (!lists.rest.empty()) add_list(list + ".rest", lists.rest);
    if (with_sizes_) return add_list(list + ".sizes", lists.sizes);
    add_list(list + ".half1", lists.halves[0].names);
    add_list(list + ".half1.right", lists.halves[0].right);
    add_list(list + ".half2", lists.halves[1].names);
    add_list(list + ".half2.right", lists.halves[1].right);
  }

  void add_file(const TreeFile& file, const std::string& path, Lists& lists) {
    const std::string listed = listed_path(file);
    const std::string line = file.sha256 + "  " + listed + "\n";
    const auto [twin, is_new] =
        plan_.files.try_emplace(identity_of(file.executable, file.sha256), path);
    if (there_.good.contains(path)) {
      lists.rest += line;
      return;
    }
    if (file.size > 0 && link(file, path, twin->first, is_new ? "" : twin->second)) {
      lists.rest += line;
      ++plan_.amount.linked;
      return;
    }
    plan_.members.push_back({part_path(path), file.size, file.executable, {}, {}, file.content});
    lists.sums += line;
    lists.halves[plan_.amount.files % 2].add(file, listed);
    if (with_sizes_) lists.sizes += std::to_string(file.size) + " " + file.path + "\n";
    plan_.amount.content += file.size;
    plan_.need += room_for(file.size);
    ++plan_.amount.files;
  }

  /// To the same file in another tree that stays, or to one before it in these trees.
  bool link(const TreeFile& file, const std::string& path, const std::string& identity,
            const std::string& twin) {
    const auto source = known_.find(identity);
    if (source != known_.end() && !plan_.build.contains(std::string(tree_of(source->second)))) {
      links_.emplace_back(source->second, part_path(path));
      return true;
    }
    if (twin.empty()) return false;
    plan_.members.push_back({part_path(path), 0, file.executable, {}, part_path(twin), {}});
    return true;
  }

  void add_list(std::string path, std::string text) {
    plan_.need += room_for(text.size());
    const std::uint64_t size = text.size();
    plan_.members.push_back({std::move(path), size, false, {}, {}, std::move(text)});
  }

  void order_links() {
    std::set<std::string> folders;
    for (const auto& [from, to] : links_) {
      const std::string folder = to.substr(0, to.rfind('/'));
      if (folders.insert(folder).second) plan_.orders += "D " + folder + "\n";
      plan_.orders += "L " + from + "//" + to + "\n";
    }
    plan_.orders += ".\n";
  }

  const TreesThere& there_;
  const KnownFiles& known_;
  const bool with_sizes_;
  std::vector<std::pair<std::string, std::string>> links_;
  UploadPlan plan_;
};

}  // namespace

std::string identity_of(bool executable, std::string_view sha256) {
  std::string identity(executable ? "x " : "- ");
  identity += sha256;
  return identity;
}

UploadPlan plan_upload(const std::vector<NamedTree>& trees, const TreesThere& there,
                       const KnownFiles& known, bool with_sizes) {
  return Planner(trees, there, known, with_sizes).take();
}

}  // namespace stab
