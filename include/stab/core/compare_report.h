// SPDX-License-Identifier: Apache-2.0
// A comparison as text for people, as Markdown for a pull request, and as a document.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stab/core/compare.h"
#include "stab/core/report.h"

namespace stab {

struct ComparedFile {
  std::string name;
  std::string sha256;
  std::optional<std::string> measured_at;
  std::optional<double> median_us;
  std::size_t rounds = 0;
};

/// Everything a comparison's documents are made from.
struct ComparisonReport {
  StabInfo stab;
  Context context;  ///< of the newest
  int threads = 1;
  int exit_status = 0;
  std::vector<ComparedFile> files;  ///< the newest last
  Comparison comparison;
};

/// `exit_status` and `stab` are the caller's to fill.
ComparisonReport make_comparison_report(std::span<const EarlierResult> baselines,
                                        const EarlierResult& now, Comparison comparison);

/// "10.2 % slower (8.1 % to 12.4 %)", "no difference beyond noise (…)", "unsure …".
std::string comparison_words(const Comparison& comparison);

/// "10.2 % more (8.1 % to 12.4 %)", "… less (…)".
std::string change_words(const Interval& percent);

/// What became of the gate: "gate of 5 % crossed"; empty without one.
std::string gate_words(const Comparison& comparison);

/// Lines for the terminal, the verdict last.
std::string render_comparison_text(const ComparisonReport& report, const TextStyle& style);

/// For a pull request: the verdict, a table of files, the operations that changed.
std::string render_comparison_markdown(const ComparisonReport& report);

/// schema_version, kind "comparison", then the members of the result document's `comparison`.
std::string render_comparison_json(const ComparisonReport& report);

}  // namespace stab
