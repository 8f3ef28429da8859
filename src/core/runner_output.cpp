// SPDX-License-Identifier: Apache-2.0
#include "stab/core/runner_output.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace stab {
namespace {

using Json = nlohmann::json;

constexpr std::string_view k_prefix = "stab-runner ";
constexpr std::size_t k_max_json = 4U << 20;
constexpr std::size_t k_max_samples = 200'000;
constexpr std::size_t k_max_tensors = 4'096;
constexpr std::size_t k_max_rank = 32;
constexpr std::size_t k_max_word = 64;
constexpr double k_max_us = 1e12;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "12.300 ms" as microseconds.
std::optional<double> parse_ms(std::string_view text) {
  text = trim(text);
  if (!text.ends_with(" ms")) return std::nullopt;
  text = trim(text.substr(0, text.size() - 3));
  double ms = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), ms, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(ms) || ms < 0 || ms * 1000 > k_max_us) return std::nullopt;
  return ms * 1000;
}

void read_block_line(std::string_view line, RunnerOutput& out) {
  constexpr std::string_view takes = " takes ";
  if (const auto at = line.find(takes); at != std::string_view::npos) {
    const std::string_view name = trim(line.substr(0, at));
    const std::optional<double> us = parse_ms(line.substr(at + takes.size()));
    if (name == "MODEL_LOAD") out.load_us = us;
    if (name == "PREPARE") out.prepare_us = us;
    if (name == "EXECUTE") out.mean_us = us;
    return;
  }
  if (!line.starts_with("- ")) return;
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view name = trim(line.substr(2, colon - 2));
  const std::optional<double> us = parse_ms(line.substr(colon + 1));
  if (name == "MEAN") out.mean_us = us;
  if (name == "MAX") out.max_us = us;
  if (name == "MIN") out.min_us = us;
  if (name == "GEOMEAN") out.geomean_us = us;
}

// A member that is missing, null or of another form stays absent; the reasons are gathered in
// `problem`.
class Members {
 public:
  Members(const Json& object, std::string& problem) : object_(object), problem_(problem) {}

  std::optional<double> microseconds(const char* name) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!is_microseconds(*value)) return refuse<double>(name);
    return value->get<double>();
  }

  std::optional<std::int64_t> count(const char* name, std::int64_t most) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!is_count(*value, most)) return refuse<std::int64_t>(name);
    return value->get<std::int64_t>();
  }

  std::optional<std::string> word(const char* name) {
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!is_word(*value)) return refuse<std::string>(name);
    return value->get<std::string>();
  }

  std::optional<std::vector<double>> samples(const char* name) {
    using Samples = std::vector<double>;
    const Json* value = find(name);
    if (value == nullptr) return std::nullopt;
    if (!value->is_array() || value->size() > k_max_samples) return refuse<Samples>(name);
    Samples samples;
    for (const Json& element : *value) {
      if (!is_microseconds(element)) return refuse<Samples>(name);
      samples.push_back(element.get<double>());
    }
    return samples;
  }

  std::vector<RunnerTensor> tensors(const char* name) {
    const Json* value = find(name);
    if (value == nullptr) return {};
    std::vector<RunnerTensor> tensors;
    if (!value->is_array() || value->size() > k_max_tensors) {
      refuse<int>(name);
      return {};
    }
    for (const Json& element : *value) {
      std::optional<RunnerTensor> tensor = read_tensor(element);
      if (!tensor) {
        refuse<int>(name);
        return {};
      }
      tensors.push_back(std::move(*tensor));
    }
    return tensors;
  }

 private:
  static bool is_microseconds(const Json& value) {
    return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0 &&
           value.get<double>() <= k_max_us;
  }

  static bool is_count(const Json& value, std::int64_t most) {
    return value.is_number_integer() &&
           (!value.is_number_unsigned() ||
            value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) &&
           value.get<std::int64_t>() >= 0 && value.get<std::int64_t>() <= most;
  }

  static bool is_word(const Json& value) {
    if (!value.is_string()) return false;
    const std::string& text = value.get_ref<const std::string&>();
    if (text.empty() || text.size() > k_max_word) return false;
    for (const char c : text) {
      if (c < 0x21 || c > 0x7e) return false;
    }
    return true;
  }

  std::optional<RunnerTensor> read_tensor(const Json& value) {
    if (!value.is_object()) return std::nullopt;
    Members members(value, problem_);
    const auto index = members.count("index", 1'000'000);
    const auto dtype = members.word("dtype");
    const auto bytes = members.count("bytes", std::int64_t{1} << 40);
    const Json* shape = members.find("shape");
    if (!index || !dtype || !bytes || shape == nullptr || !shape->is_array() ||
        shape->size() > k_max_rank) {
      return std::nullopt;
    }
    RunnerTensor tensor{static_cast<int>(*index), *dtype, *bytes, {}};
    for (const Json& dimension : *shape) {
      if (dimension == -1) {
        tensor.shape.push_back(-1);
      } else if (is_count(dimension, INT32_MAX)) {
        tensor.shape.push_back(dimension.get<std::int32_t>());
      } else {
        return std::nullopt;
      }
    }
    return tensor;
  }

  const Json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  template <typename T>
  std::optional<T> refuse(const char* name) {
    if (problem_.empty())
      problem_ = std::string("the member ") + name + " is out of range or of another type";
    return std::nullopt;
  }

  const Json& object_;
  std::string& problem_;
};

void read_stab_runner(std::string_view text, RunnerOutput& out) {
  if (text.size() > k_max_json) {
    out.problem = "the line is longer than " + std::to_string(k_max_json) + " bytes";
    return;
  }
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    out.problem = "the line is not a JSON object";
    return;
  }
  Members members(json, out.problem);
  if (const auto us = members.microseconds("load_us")) out.load_us = us;
  if (const auto us = members.microseconds("prepare_us")) out.prepare_us = us;
  out.samples_us = members.samples("samples_us");
  if (const auto n = members.count("warmup_runs", 1'000'000'000))
    out.warmup_runs = static_cast<int>(*n);
  out.cpu_time_us = members.microseconds("cpu_time_us");
  out.peak_rss_kb = members.count("peak_rss_kb", std::int64_t{1} << 40);
  out.version = members.word("version");
  out.tracing = members.word("tracing");
  out.inputs = members.tensors("inputs");
  out.outputs = members.tensors("outputs");
  out.stab_runner = true;
}

}  // namespace

RunnerOutput parse_runner_output(std::string_view text) {
  RunnerOutput out;
  std::string_view own_line;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.starts_with(k_prefix)) {
      own_line = trim(line.substr(k_prefix.size()));
    } else {
      read_block_line(line, out);
    }
  }
  if (!own_line.empty()) read_stab_runner(own_line, out);
  return out;
}

}  // namespace stab
