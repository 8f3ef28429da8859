// SPDX-License-Identifier: Apache-2.0
// What the report says in words: intervals, gains, plans and their proofs.
#pragma once

#include <optional>
#include <string>

#include "stab/core/result.h"

namespace stab {

/// True when the user fixed operations: then no plan is what a backend does by itself.
bool has_pins(const Result& result);

/// "9.8 ms to 10.4 ms"; empty without an interval.
std::string interval_words(const std::optional<Interval>& interval);

/// "12.3 % faster than X (10.1 % to 14.0 %)", "3.2 times slower than X (…)", "within noise of X".
/// Empty without a speedup.
std::string gain_words(const std::optional<Interval>& speedup, const std::string& over);

/// "all on ruy", "noise-averse", "today".
std::string plan_name(const Result& result, const Plan& plan);

/// "board, 192.168.1.20, aarch64, 4 cores, BCM2711"
std::string device_words(const Context& context);

/// "net: tflite, 64 operations in 2 subgraphs"
std::string package_words(const Context& context);

/// What a device was doing; empty where it does not tell.
std::string state_words(const std::optional<DeviceState>& state);

/// What a plan is: "5 operations off cpu, 5 switches, 2 copies", "the same as optimum".
std::string plan_words(const Result& result, const Plan& plan);

/// Whether a backend has times.
bool was_measured(const BackendRow& row);

/// What a warning is about; a plan has its name ("noise-averse") instead of its id.
std::string warning_subject(const Result& result, const Warning& warning);
/// "ruy: the graph's time is unstable; try more rounds"
std::string warning_words(const Result& result, const Warning& warning);

std::string applied_words(const Result& result, const Plan& plan);
std::string equal_words(const EqualProof& proof);
std::string faster_words(const Result& result, const Plan& plan);

}  // namespace stab
