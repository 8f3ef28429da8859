// SPDX-License-Identifier: Apache-2.0
#include "stab/core/schedule_keys.h"

#include <algorithm>
#include <set>
#include <utility>

namespace stab {
namespace {

/// cpu, then the used ones in the user's order, then used ones that the user did not list, by name.
std::string join_backends(const std::set<std::string>& used,
                          const std::vector<std::string>& order) {
  std::string joined = k_cpu;
  std::set<std::string> left = used;
  left.erase(k_cpu);
  for (const std::string& backend : order) {
    if (left.erase(backend) != 0) joined += ";" + backend;
  }
  for (const std::string& backend : left) joined += ";" + backend;
  return joined;
}

std::set<std::string> used_backends(const Placement& placement) {
  std::set<std::string> used;
  for (const auto& [op, backend] : placement) used.insert(backend);
  return used;
}

std::string join_map(const std::map<OpId, std::string>& entries, bool end_with_semicolon) {
  std::string joined;
  for (const auto& [op, backend] : entries) {
    if (op.subgraph != 0) {
      throw Error(ErrorKind::internal, "cannot map operation", to_string(op),
                  "OP_BACKEND_MAP knows subgraph 0 only");
    }
    if (!joined.empty() && !end_with_semicolon) joined += ';';
    joined += std::to_string(op.index) + "=" + backend;
    if (end_with_semicolon) joined += ';';
  }
  return joined;
}

std::map<OpId, std::string> not_on_cpu(const Placement& placement) {
  std::map<OpId, std::string> entries = placement;
  std::erase_if(entries, [](const auto& entry) { return entry.second == k_cpu; });
  return entries;
}

bool environment_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

void add_backends(RuntimeKeys& keys, const KeyRequest& request) {
  std::set<std::string> used = used_backends(request.placement);
  if (!request.greedy) {
    keys.emplace_back("BACKENDS", join_backends(used, request.backends));
    const std::string map = join_map(not_on_cpu(request.placement), false);
    if (!map.empty()) keys.emplace_back("OP_BACKEND_MAP", map);
    return;
  }
  const GreedyForm& greedy = *request.greedy;
  const bool types = greedy.default_backend != k_cpu && !greedy.default_keys.empty();
  if (types) used.insert(greedy.default_backend);
  keys.emplace_back("BACKENDS", join_backends(used, request.backends));
  const std::string map = join_map(greedy.exceptions, true);
  if (!map.empty()) keys.emplace_back("OP_BACKEND_MAP", map);
  if (!types) return;
  for (const std::string& key : greedy.default_keys) {
    const std::string name = "OP_BACKEND_" + key;
    if (find_key(keys, name) == nullptr) keys.emplace_back(name, greedy.default_backend);
  }
}

}  // namespace

RuntimeKeys schedule_keys(const KeyRequest& request) {
  RuntimeKeys keys;
  add_backends(keys, request);
  keys.emplace_back("OP_SEQ_MAX_NODE", "1");
  for (const char* name : {"EIGEN_THREADS", "RUY_THREADS", "XNNPACK_THREADS", "NUM_THREADS"}) {
    keys.emplace_back(name, std::to_string(request.threads));
  }
  const auto executor = request.set.find("EXECUTOR");
  keys.emplace_back("EXECUTOR",
                    executor == request.set.end() ? request.executor : executor->second);
  if (request.memory_planner) keys.emplace_back("CPU_MEMORY_PLANNER", *request.memory_planner);
  for (const auto& [key, value] : request.set) {
    if (find_key(keys, key) == nullptr) keys.emplace_back(key, value);
  }
  return keys;
}

RuntimeKeys late_keys(const RuntimeKeys& keys) {
  RuntimeKeys late;
  std::copy_if(keys.begin(), keys.end(), std::back_inserter(late), [](const auto& entry) {
    return entry.first.ends_with("_THREADS") || entry.first == "CPU_MEMORY_PLANNER" ||
           entry.first == "USE_MMAPED_DATA";
  });
  return late;
}

std::string render_environment(const RuntimeKeys& keys) {
  std::string text =
      "# The schedule of this package as environment variables, for programs that load it.\n"
      "# In a POSIX shell, in the folder of the package:  . metadata/stab.env\n";
  for (const auto& [key, value] : keys) {
    if (!environment_name(key) || value.find('\0') != std::string::npos) {
      throw Error(ErrorKind::internal, "cannot write the key", key, "no environment can hold it");
    }
    text += key + "='";
    for (const char c : value) {
      if (c == '\'') {
        text += "'\\''";
      } else {
        text += c;
      }
    }
    text += "'; export " + key + "\n";
  }
  return text;
}

const std::string* too_long_for_environment(const RuntimeKeys& keys) {
  const auto found = std::find_if(keys.begin(), keys.end(), [](const auto& entry) {
    return entry.first.size() + 1 + entry.second.size() > k_environment_string_limit;
  });
  return found == keys.end() ? nullptr : &found->first;
}

bool fits_api(const ApiStrings& strings) {
  return strings.available_backends.size() <= k_api_backends_limit;
}

ApiStrings api_strings(const Placement& placement, const std::vector<std::string>& backends) {
  return {join_backends(used_backends(placement), backends),
          join_map(not_on_cpu(placement), false)};
}

void check_set_keys(const std::map<std::string, std::string>& set) {
  for (const auto& [key, value] : set) {
    const auto refuse = [&key](const std::string& why, const std::string& hint = {}) {
      throw Error(ErrorKind::usage, "cannot set", key, why, hint);
    };
    if (!environment_name(key)) refuse("a key is letters, digits and '_'");
    if (owned_key(key)) refuse("this key belongs to stab", "--backends, --pin or --num_threads");
    if (value.empty()) refuse("the value is empty, which the runtime takes as unset");
    const std::string_view ends = " \t";
    if (ends.find(value.front()) != std::string_view::npos ||
        ends.find(value.back()) != std::string_view::npos) {
      refuse("the value starts or ends with a blank, which the runtime cuts off");
    }
    if (value.find_first_of(std::string_view("#\n\r\0", 4)) != std::string::npos) {
      refuse("the value holds '#' or a line break, which no configuration file can hold");
    }
    if (key.size() + 1 + value.size() > k_environment_string_limit) {
      refuse("the value is longer than an environment may hold");
    }
  }
}

void check_backend_names(const std::vector<std::string>& backends) {
  const auto refuse = [](const std::string& name, const std::string& why) {
    throw Error(ErrorKind::usage, "cannot use backend", name, why);
  };
  if (backends.empty()) refuse("", "the list of backends is empty");
  std::set<std::string> seen;
  for (const std::string& name : backends) {
    const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
      return environment_name(std::string("_") + c) || c == '-';
    });
    if (!plain) refuse(name, "a name is letters, digits, '_' and '-'");
    if (name == "builtin") refuse(name, "the runtime has it by itself and it must not be listed");
    if (!seen.insert(name).second) refuse(name, "it is listed twice");
  }
}

std::optional<std::string> why_not_mappable(const Model& model, OpId op) {
  if (op.subgraph != 0) {
    return "it is in subgraph " + std::to_string(op.subgraph) +
           ", and only subgraph 0 is scheduled";
  }
  const Operation& operation = model.operation(op);
  if (operation.control_flow) return "control flow belongs to the runtime itself";
  if (operation.custom) return "custom operations run where the runtime puts them";
  if (operation.type == "Permute") return "Permute belongs to the runtime itself";
  for (std::size_t i = 1; i < model.subgraphs.size(); ++i) {
    const auto& others = model.subgraphs[i].operations;
    if (static_cast<std::size_t>(op.index) >= others.size()) continue;
    const Operation& other = others[static_cast<std::size_t>(op.index)];
    return "its index would also move operation " + to_string(other.id) + " (" +
           (other.type.empty() ? other.schema_name : other.type) + ")";
  }
  return std::nullopt;
}

std::vector<LeftOut> drop_unmappable(Placement& placement, const Model& model) {
  std::vector<LeftOut> left_out;
  for (auto entry = placement.begin(); entry != placement.end();) {
    const auto reason = why_not_mappable(model, entry->first);
    if (reason) {
      left_out.push_back({entry->first, entry->second, *reason});
      entry = placement.erase(entry);
    } else {
      ++entry;
    }
  }
  return left_out;
}

}  // namespace stab
