// SPDX-License-Identifier: Apache-2.0
#include "stab/core/pins.h"

#include <algorithm>
#include <set>
#include <vector>

#include "stab/core/error.h"
#include "stab/core/op_names.h"
#include "stab/core/placement.h"

namespace stab {
namespace {

constexpr std::string_view k_type_prefix = "type:";
constexpr std::string_view k_name_prefix = "name:";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A name of a backend or type: a letter, then letters, digits, '_' and '-'.
bool is_plain(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [&](char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '-'; });
}

[[noreturn]] void refuse_syntax(std::string_view text, const std::string& why) {
  throw Error(ErrorKind::usage, "cannot read --pin", std::string(text), why,
              "12=ruy, 0:12=ruy, Conv2D=ruy or name:TENSOR=ruy");
}

[[noreturn]] void refuse(const Pin& pin, const std::string& why, const std::string& hint = {}) {
  throw Error(ErrorKind::input, "cannot pin", pin.text, why, hint);
}

void read_selector(std::string_view left, Pin& pin) {
  if (left.starts_with(k_name_prefix)) {
    pin.kind = PinKind::name;
    pin.selector = left.substr(k_name_prefix.size());
  } else if (left.starts_with(k_type_prefix)) {
    pin.kind = PinKind::type;
    pin.selector = left.substr(k_type_prefix.size());
  } else if (!left.empty() && is_digit(left.front())) {
    const bool full = left.find(':') != std::string_view::npos;
    const auto op = parse_op_id(full ? std::string(left) : "0:" + std::string(left));
    if (!op) refuse_syntax(pin.text, "'" + std::string(left) + "' is no index of an operation");
    pin.op = *op;
    return;
  } else {
    pin.kind = PinKind::type;
    pin.selector = left;
  }
  if (pin.selector.empty()) refuse_syntax(pin.text, "it names no operation");
  if (pin.kind == PinKind::type && !is_plain(pin.selector)) {
    refuse_syntax(pin.text, "'" + pin.selector + "' is no type of operation");
  }
}

// "Add, Conv2D": the types that occur in subgraph 0, for a hint.
std::string types_of(const Model& model) {
  std::set<std::string> types;
  for (const Operation& operation : model.subgraphs.front().operations) {
    if (!operation.type.empty()) types.insert(operation.type);
  }
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : ", ") + type;
  return text.empty() ? text : "one of its types: " + text;
}

std::vector<OpId> match_index(const Model& model, const Pin& pin) {
  const auto subgraphs = static_cast<int>(model.subgraphs.size());
  if (pin.op.subgraph >= subgraphs) {
    refuse(pin, "the model has " + std::to_string(subgraphs) + " subgraphs");
  }
  const auto count = model.subgraphs[static_cast<std::size_t>(pin.op.subgraph)].operations.size();
  if (static_cast<std::size_t>(pin.op.index) >= count) {
    refuse(pin, "subgraph " + std::to_string(pin.op.subgraph) + " has " + std::to_string(count) +
                    " operations, counted from 0");
  }
  return {pin.op};
}

std::vector<OpId> match_type(const Model& model, const Pin& pin) {
  std::vector<OpId> found;
  for (const Operation& operation : model.subgraphs.front().operations) {
    if (same_type(operation, pin.selector) || operation.schema_name == pin.selector) {
      found.push_back(operation.id);
    }
  }
  if (found.empty()) {
    refuse(pin, "the model has no " + pin.selector + " operation in subgraph 0", types_of(model));
  }
  return found;
}

std::vector<OpId> match_name(const Model& model, const Pin& pin) {
  std::vector<OpId> found;
  const Subgraph& graph = model.subgraphs.front();
  for (const Operation& operation : graph.operations) {
    if (operation.outputs.empty()) continue;
    const auto output = static_cast<std::size_t>(operation.outputs.front());
    if (graph.tensors[output].name == pin.selector) found.push_back(operation.id);
  }
  if (found.empty()) refuse(pin, "no operation's first output has this name");
  if (found.size() > 1) {
    refuse(pin,
           "operations " + to_string(found[0]) + " and " + to_string(found[1]) +
               " both have a first output of this name",
           "the index of the one that is meant");
  }
  return found;
}

std::vector<OpId> matches(const Model& model, const Pin& pin) {
  switch (pin.kind) {
    case PinKind::index:
      return match_index(model, pin);
    case PinKind::type:
      return match_type(model, pin);
    case PinKind::name:
      return match_name(model, pin);
  }
  return {};
}

bool is_known(std::string_view backend, const OpList& list, const Discovered& discovered) {
  return backend == k_cpu || discovered.contains(backend) ||
         std::any_of(list.begin(), list.end(),
                     [&](const BackendOps& line) { return line.backend == backend; });
}

void check_backend(const Pin& pin, std::span<const std::string> backends) {
  if (pin.backend == k_cpu) return;
  if (std::find(backends.begin(), backends.end(), pin.backend) != backends.end()) return;
  std::string names = k_cpu;
  for (const std::string& backend : backends) {
    if (backend != k_cpu) names += ", " + backend;
  }
  refuse(pin, "backend " + pin.backend + " is not among the candidates (" + names + ")",
         "--backends with " + pin.backend);
}

}  // namespace

Pin parse_pin(std::string_view text) {
  Pin pin;
  pin.text = text;
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos) refuse_syntax(text, "it has no '='");
  pin.backend = text.substr(equals + 1);
  if (!is_plain(pin.backend)) {
    refuse_syntax(text, "'" + pin.backend + "' is no name of a backend");
  }
  read_selector(text.substr(0, equals), pin);
  return pin;
}

std::map<OpId, std::string> resolve_pins(const Model& model, std::span<const Pin> pins,
                                         const OpList& list, std::span<const std::string> backends,
                                         const Discovered& discovered) {
  std::vector<const Pin*> strongest_first;
  for (const Pin& pin : pins) strongest_first.push_back(&pin);
  std::sort(strongest_first.begin(), strongest_first.end(), [](const Pin* a, const Pin* b) {
    return a->kind != b->kind ? a->kind > b->kind : a < b;  // as written, where equally strong
  });
  std::map<OpId, const Pin*> decided;
  for (const Pin* pin : strongest_first) {
    check_backend(*pin, backends);
    for (const OpId op : matches(model, *pin)) {
      const Pin& earlier = *decided.emplace(op, pin).first->second;
      if (earlier.kind != pin->kind || earlier.backend == pin->backend) continue;
      throw Error(
          ErrorKind::usage, "cannot pin", pin->text,
          "'" + earlier.text + "' gives operation " + to_string(op) + " to " + earlier.backend);
    }
  }
  std::map<OpId, std::string> result;
  for (const auto& [op, pin] : decided) {
    const std::string_view asked =
        is_known(pin->backend, list, discovered) ? std::string_view(pin->backend) : k_cpu;
    if (const auto reason = why_not(model, op, asked, list, discovered)) {
      refuse(*pin, "operation " + to_string(op) + " cannot run there: " + *reason);
    }
    result[op] = pin->backend;
  }
  return result;
}

}  // namespace stab
