// SPDX-License-Identifier: Apache-2.0
#include "stab/app/discover.h"

#include <algorithm>
#include <map>
#include <optional>

namespace stab {
namespace {

/// The operation type in the runtime's messages: "… NYI for operation 'ElementwiseActivation'".
std::optional<std::string> named_type(const std::string& reason) {
  static constexpr std::string_view k_mark = "NYI for operation '";
  const std::size_t at = reason.find(k_mark);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t start = at + k_mark.size();
  const std::size_t end = reason.find('\'', start);
  if (end == std::string::npos || end == start) return std::nullopt;
  return reason.substr(start, end - start);
}

/// The backend itself could not be loaded: no choice of operations helps.
bool backend_missing(const std::string& reason) {
  return reason.find("Fail to find backend") != std::string::npos ||
         reason.find("failed to initialize") != std::string::npos ||
         reason.find("No loaded backends") != std::string::npos;
}

class Search {
 public:
  Search(const Model& model, std::string backend, const TryOperations& try_operations,
         int max_trials)
      : model_(model),
        backend_(std::move(backend)),
        try_(try_operations),
        max_trials_(max_trials) {}

  Discovery run(std::vector<OpId> operations) {
    std::sort(operations.begin(), operations.end());
    std::vector<OpId> good = reduce_by_names(operations);
    if (!good.empty() && !last_ok_) {
      bisect(group_by_type(good));
      std::erase_if(good, [this](OpId op) { return is_refused(op); });
      confirm(good);
    }
    found_.runnable = good;
    std::sort(found_.refused.begin(), found_.refused.end(),
              [](const Refusal& a, const Refusal& b) { return a.op < b.op; });
    if (good.empty()) found_.reason = last_reason_;
    return found_;
  }

 private:
  using Groups = std::vector<std::vector<OpId>>;

  bool works(std::vector<OpId>& operations) {
    if (operations.empty()) return last_ok_ = true;
    if (found_.trials >= max_trials_) {
      last_reason_ = "not decided within " + std::to_string(max_trials_) + " runs";
      return last_ok_ = false;
    }
    ++found_.trials;
    const TrialOutcome outcome = try_(operations);
    last_reason_ = outcome.reason;
    last_ok_ = outcome.ok();
    if (last_ok_ && outcome.trace) drop_misplaced(*outcome.trace, operations);
    return last_ok_;
  }

  void drop_misplaced(const Trace& trace, std::vector<OpId>& operations) {
    Placement wanted;
    for (const OpId op : operations) wanted[op] = backend_;
    for (const Misplaced& wrong : misplaced(trace, wanted, operations)) {
      refuse(wrong.op, wrong.ran.empty() ? "it did not run" : "the runtime ran it on " + wrong.ran);
      operations.erase(std::find(operations.begin(), operations.end(), wrong.op));
    }
  }

  void refuse(OpId op, const std::string& reason) { found_.refused.push_back({op, reason}); }

  std::vector<OpId> reduce_by_names(std::vector<OpId> operations) {
    while (!operations.empty() && !works(operations)) {
      if (backend_missing(last_reason_)) {
        for (const OpId op : operations) refuse(op, last_reason_);
        return {};
      }
      const auto type = named_type(last_reason_);
      if (!type) break;
      const std::string reason = last_reason_;
      const std::size_t before = operations.size();
      std::erase_if(operations, [&](OpId op) {
        const Operation& operation = model_.operation(op);
        const bool hit = operation.key == *type || operation.type == *type;
        if (hit) refuse(op, reason);
        return hit;
      });
      if (operations.size() == before) break;
    }
    return operations;
  }

  Groups group_by_type(const std::vector<OpId>& operations) const {
    std::map<std::string, std::vector<OpId>> by_type;
    for (const OpId op : operations) by_type[model_.operation(op).schema_name].push_back(op);
    Groups groups;
    for (auto& [type, members] : by_type) groups.push_back(members);
    return groups;
  }

  static std::vector<OpId> flat(const Groups& groups) {
    std::vector<OpId> all;
    for (const auto& group : groups) all.insert(all.end(), group.begin(), group.end());
    std::sort(all.begin(), all.end());
    return all;
  }

  /// Refuses operations of a set that fails as a whole: looks at whole types first, then at
  /// operations within a type.
  void bisect(const Groups& groups) {
    if (groups.size() == 1 && groups.front().size() == 1) {
      refuse(groups.front().front(), last_reason_);
      return;
    }
    Groups left;
    Groups right;
    if (groups.size() > 1) {
      const auto half = groups.begin() + static_cast<std::ptrdiff_t>(groups.size() / 2);
      left.assign(groups.begin(), half);
      right.assign(half, groups.end());
    } else {
      const auto& members = groups.front();
      const auto half = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
      left = {std::vector<OpId>(members.begin(), half)};
      right = {std::vector<OpId>(half, members.end())};
    }
    for (const Groups& part : {left, right}) {
      std::vector<OpId> operations = flat(part);
      if (!works(operations)) bisect(part);
    }
  }

  bool is_refused(OpId op) const {
    return std::any_of(found_.refused.begin(), found_.refused.end(),
                       [&](const Refusal& refusal) { return refusal.op == op; });
  }

  /// What works in parts must work together, else nothing is taken.
  void confirm(std::vector<OpId>& good) {
    const std::vector<OpId> before = good;
    if (good.empty()) return;
    max_trials_ = std::max(max_trials_, found_.trials + 1);  // it has one run, whatever was spent
    if (works(good)) return;
    for (const OpId op : before) refuse(op, last_reason_);
    good.clear();
  }

  const Model& model_;
  std::string backend_;
  const TryOperations& try_;
  int max_trials_;
  Discovery found_;
  std::string last_reason_;
  bool last_ok_ = true;
};

}  // namespace

Discovery discover(const Model& model, const std::string& backend, const std::vector<OpId>& asked,
                   const TryOperations& try_operations, int max_trials) {
  return Search(model, backend, try_operations, max_trials).run(asked);
}

}  // namespace stab
