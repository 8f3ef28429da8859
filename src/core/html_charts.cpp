// SPDX-License-Identifier: Apache-2.0
#include "core/html_charts.h"

#include <algorithm>

#include "core/markup.h"
#include "core/text_layout.h"

namespace stab {
namespace {

constexpr int k_bins = 30;
constexpr int k_colours = 6;

std::string percent_of(double value, double full) {
  const double part = full > 0 ? std::clamp(100 * value / full, 0.0, 100.0) : 0;
  return fixed_digits(part, 2) + "%";
}

std::string colour_class(int colour) {
  return "f" + std::to_string(colour % k_colours);
}

std::string line(const std::string& kind, const std::string& x1, const std::string& y1,
                 const std::string& x2, const std::string& y2) {
  return "<line class=\"" + kind + "\" x1=\"" + x1 + "\" y1=\"" + y1 + "\" x2=\"" + x2 +
         "\" y2=\"" + y2 + "\"/>";
}

std::string whisker(const Interval& us, double full_us) {
  if (!us.low || !us.high) return "";
  const std::string low = percent_of(*us.low, full_us);
  const std::string high = percent_of(*us.high, full_us);
  return line("whisker", low, "50%", high, "50%") + line("whisker", low, "25%", low, "75%") +
         line("whisker", high, "25%", high, "75%");
}

}  // namespace

std::string render_bar(const Bar& bar, double full_us) {
  std::string text = "<div class=\"bar" + std::string(bar.chosen ? " chosen" : "") + "\"><span>" +
                     escape_markup(bar.name) + "</span><svg role=\"img\"><title>" +
                     escape_markup(bar.title) + "</title>";
  text += "<rect class=\"track\" width=\"100%\" height=\"100%\" rx=\"3\"/>";
  text += "<rect class=\"" + colour_class(bar.colour) + "\" width=\"" +
          percent_of(bar.us.median, full_us) + "\" height=\"100%\" rx=\"3\"/>";
  text += whisker(bar.us, full_us);
  if (bar.tick_us) {
    const std::string at = percent_of(*bar.tick_us, full_us);
    text += line("tick", at, "-10%", at, "110%");
  }
  text += "</svg><span class=\"value\">" + escape_markup(bar.value);
  if (!bar.note.empty()) text += "<small>" + escape_markup(bar.note) + "</small>";
  return text + "</span></div>\n";
}

std::optional<Histogram> make_scale(const std::vector<std::vector<double>>& samples) {
  std::vector<double> all;
  for (const std::vector<double>& list : samples) all.insert(all.end(), list.begin(), list.end());
  const auto low = quantile(all, 0.01);
  const auto high = quantile(all, 0.99);
  if (!low || !high) return std::nullopt;
  const double room = std::max((*high - *low) * 0.04, 0.5);
  return Histogram{std::max(*low - room, 0.0), *high + room, {}};
}

Histogram count_samples(const Histogram& scale, const std::vector<double>& samples) {
  Histogram histogram = scale;
  histogram.counts.assign(k_bins, 0);
  for (const double us : samples) {
    const double part = (us - scale.low) / (scale.high - scale.low);
    const int bin = static_cast<int>(std::clamp(part, 0.0, 1.0) * k_bins);
    ++histogram.counts[static_cast<std::size_t>(std::min(bin, k_bins - 1))];
  }
  return histogram;
}

std::string render_histogram(const Histogram& histogram, const std::string& title, int colour) {
  const int most = *std::max_element(histogram.counts.begin(), histogram.counts.end());
  std::string text = "<svg role=\"img\"><title>" + escape_markup(title) + "</title>";
  const double width = 100.0 / static_cast<double>(histogram.counts.size());
  for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
    if (histogram.counts[i] == 0) continue;
    const double height = 100.0 * histogram.counts[i] / most;
    text += "<rect class=\"" + colour_class(colour) + "\" x=\"" +
            fixed_digits(width * static_cast<double>(i) + width * 0.06, 2) + "%\" y=\"" +
            fixed_digits(100 - height, 2) + "%\" width=\"" + fixed_digits(width * 0.88, 2) +
            "%\" height=\"" + fixed_digits(height, 2) + "%\"/>";
  }
  return text + "</svg>\n";
}

}  // namespace stab
