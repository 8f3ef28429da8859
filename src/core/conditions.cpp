// SPDX-License-Identifier: Apache-2.0
#include "stab/core/conditions.h"

#include <algorithm>
#include <cstdint>
#include <map>

#include "stab/core/statistics.h"

namespace stab {
namespace {

constexpr double k_frequency_change = 0.10;
constexpr std::int64_t k_temperature_rise_mc = 10'000;
constexpr double k_busy_load = 0.7;

std::string mhz(std::int64_t khz) {
  return std::to_string(khz / 1000) + " MHz";
}
std::string degrees(std::int64_t mc) {
  return std::to_string(mc / 1000) + " C";
}

/// Smallest and largest of a value over all states that tell it.
struct Range {
  std::optional<std::int64_t> low;
  std::optional<std::int64_t> high;
  void add(std::int64_t value) {
    low = low ? std::min(*low, value) : value;
    high = high ? std::max(*high, value) : value;
  }
};

class Judge {
 public:
  Judge(const std::vector<RunConditions>& runs, const std::optional<DeviceInfo>& device,
        bool affinity_given)
      : runs_(runs), device_(device), affinity_given_(affinity_given) {
    for (const RunConditions& run : runs) {
      if (run.before) states_.push_back(&*run.before);
      if (run.after) states_.push_back(&*run.after);
    }
  }

  Conditions judge() {
    if (!states_.empty()) {
      out_.state.before = *states_.front();
      out_.state.after = *states_.back();
      governor();
      frequencies();
      temperature();
      throttling();
      load();
    }
    mixed_cores();
    return std::move(out_);
  }

 private:
  void moved(const std::string& id, const std::string& text, const std::string& remedy) {
    out_.state.moved.push_back(text);
    out_.warnings.push_back({id, Severity::warning, "device", text, remedy});
  }

  void governor() {
    for (const DeviceState* state : states_) {
      if (!state->governor || !states_.front()->governor ||
          *state->governor == *states_.front()->governor)
        continue;
      moved("governor_moved",
            "the frequency governor changed from " + *states_.front()->governor + " to " +
                *state->governor,
            "fixing it to 'performance' before measuring");
      return;
    }
  }

  void frequencies() {
    std::map<std::size_t, Range> cores;
    for (const DeviceState* state : states_) {
      for (std::size_t core = 0; core < state->khz.size(); ++core)
        cores[core].add(state->khz[core]);
    }
    for (const auto& [core, range] : cores) {
      if (static_cast<double>(*range.high - *range.low) <=
          k_frequency_change * static_cast<double>(*range.high))
        continue;
      moved("frequency_moved",
            "core " + std::to_string(core) + " was seen between " + mhz(*range.low) + " and " +
                mhz(*range.high),
            "the governor 'performance', or a fixed frequency");
      return;
    }
  }

  void temperature() {
    Range range;
    for (const DeviceState* state : states_) {
      if (state->temperature_mc) range.add(*state->temperature_mc);
    }
    if (!range.low || *range.high - *range.low <= k_temperature_rise_mc) return;
    moved("temperature_moved",
          "the temperature was between " + degrees(*range.low) + " and " + degrees(*range.high),
          "cooling, or fewer runs at a time");
  }

  void throttling() {
    const bool seen = std::any_of(states_.begin(), states_.end(), [](const DeviceState* state) {
      return state->throttled.value_or(false);
    });
    if (seen)
      moved("throttled", "the device reported throttling", "cooling, or a stronger power supply");
  }

  void load() {
    const DeviceState& first = *states_.front();
    if (!first.load1 || !device_) return;
    int cores = 0;
    for (const CoreGroup& group : device_->cores) cores += group.count;
    if (cores == 0 || *first.load1 < k_busy_load * cores) return;
    out_.warnings.push_back({"device_busy", Severity::warning, "device",
                             "it was busy before the first run (load " +
                                 std::to_string(*first.load1).substr(0, 4) + " on " +
                                 std::to_string(cores) + " cores)",
                             "ending what else runs there"});
  }

  void mixed_cores() {
    if (!device_ || affinity_given_) return;
    const CoreGroup* fastest = nullptr;
    bool differ = false;
    for (const CoreGroup& group : device_->cores) {
      if (!group.max_khz) return;
      if (fastest != nullptr && *group.max_khz != *fastest->max_khz) differ = true;
      if (fastest == nullptr || *group.max_khz > *fastest->max_khz) fastest = &group;
    }
    if (!differ) return;
    out_.warnings.push_back(
        {"mixed_cores", Severity::warning, "device",
         "its cores have different speeds, and where a run lands decides its time",
         "--affinity " + fastest->mask + " for the " + std::to_string(fastest->count) +
             " fastest"});
  }

  const std::vector<RunConditions>& runs_;
  const std::optional<DeviceInfo>& device_;
  bool affinity_given_;
  std::vector<const DeviceState*> states_;
  Conditions out_;
};

}  // namespace

Conditions judge_conditions(const std::vector<RunConditions>& runs,
                            const std::optional<DeviceInfo>& device, bool affinity_given) {
  return Judge(runs, device, affinity_given).judge();
}

}  // namespace stab
