// SPDX-License-Identifier: Apache-2.0
// Charts of the HTML report as inline SVG: horizontal bars with intervals, and histograms. Lengths
// are percentages, so that they fit any width and text around them keeps its size.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "stab/core/statistics.h"

namespace stab {

struct Bar {
  std::string name;
  std::string title;  ///< what it says, for those who cannot see it
  std::string value;  ///< behind it
  std::string note;   ///< below the value, may be empty
  Interval us;
  std::optional<double> tick_us;  ///< a dashed mark
  int colour = 0;
  bool chosen = false;
};

/// One bar as a row of its name, itself and its value, on a scale from 0 to `full_us`.
std::string render_bar(const Bar& bar, double full_us);

struct Histogram {
  double low = 0;  ///< of the scale
  double high = 0;
  std::vector<int> counts;  ///< of bins of the same width
};

/// The scale that holds the middle 98 % of all samples, so that one outlier does not flatten the
/// rest; what lies outside counts in the first and last bin. Absent without samples.
std::optional<Histogram> make_scale(const std::vector<std::vector<double>>& samples);

/// Counts samples on that scale.
Histogram count_samples(const Histogram& scale, const std::vector<double>& samples);

/// `title` says what it shows, for those who cannot see it.
std::string render_histogram(const Histogram& histogram, const std::string& title, int colour);

}  // namespace stab
