// SPDX-License-Identifier: Apache-2.0
#include "stab/core/transfer_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "stab/core/statistics.h"

namespace stab {
namespace {

constexpr std::size_t k_least_points = 4;
constexpr double k_least_spread = 4;

/// More points than this are thinned evenly by size: the slopes of all pairs take quadratic time.
constexpr std::size_t k_most_points = 500;

/// No copy is faster than this, whatever noise says.
constexpr double k_fastest_bytes_per_us = 1e6;

std::vector<TransferPoint> points_of(std::string_view from, std::string_view to,
                                     std::span<const TransferPoint> points) {
  std::vector<TransferPoint> own;
  for (const TransferPoint& point : points) {
    if (point.from == from && point.to == to) own.push_back(point);
  }
  std::sort(own.begin(), own.end(), [](const TransferPoint& a, const TransferPoint& b) {
    return a.bytes != b.bytes ? a.bytes < b.bytes : a.us < b.us;
  });
  if (own.size() <= k_most_points) return own;
  std::vector<TransferPoint> thinned;
  for (std::size_t k = 0; k < k_most_points; ++k) {
    thinned.push_back(own[k * (own.size() - 1) / (k_most_points - 1)]);
  }
  return thinned;
}

bool is_spread(const std::vector<TransferPoint>& points) {
  const auto smallest = static_cast<double>(points.front().bytes);
  const auto largest = static_cast<double>(points.back().bytes);
  return points.size() >= k_least_points && largest >= k_least_spread * std::max(smallest, 1.0);
}

void fit_line(Transfer& transfer, const std::vector<TransferPoint>& points) {
  std::vector<double> slopes;
  for (std::size_t a = 0; a < points.size(); ++a) {
    for (std::size_t b = a + 1; b < points.size(); ++b) {
      if (points[a].bytes == points[b].bytes) continue;
      slopes.push_back((points[b].us - points[a].us) /
                       static_cast<double>(points[b].bytes - points[a].bytes));
    }
  }
  const double slope = std::max(median(slopes).value_or(0), 1 / k_fastest_bytes_per_us);
  std::vector<double> intercepts;
  for (const TransferPoint& point : points) {
    intercepts.push_back(point.us - slope * static_cast<double>(point.bytes));
  }
  transfer.bytes_per_us = 1 / slope;
  transfer.latency_us = std::max(median(intercepts).value_or(0), 0.0);
  transfer.source = TransferSource::fitted;
}

/// Moves the prior by the median factor that the points are above or below it.
void scale_prior(Transfer& transfer, const std::vector<TransferPoint>& points) {
  std::vector<double> factors;
  for (const TransferPoint& point : points)
    factors.push_back(point.us / transfer.cost_us(point.bytes));
  const double factor = std::max(median(factors).value_or(1), 1e-3);
  transfer.latency_us *= factor;
  transfer.bytes_per_us /= factor;
  transfer.source = TransferSource::measured;
}

}  // namespace

std::string backend_class(std::string_view backend) {
  for (const std::string_view portable :
       {"cpu", "ruy", "xnnpack", "builtin", "controlflow", k_portable}) {
    if (backend == portable) return k_portable;
  }
  return std::string(backend);
}

std::string_view to_string(TransferSource source) {
  switch (source) {
    case TransferSource::measured:
      return "measured";
    case TransferSource::fitted:
      return "fitted";
    case TransferSource::prior:
      return "prior";
  }
  return "prior";
}

double Transfer::cost_us(std::uint64_t bytes) const {
  return latency_us + static_cast<double>(bytes) / bytes_per_us;
}

Transfer fit_transfer(std::string_view from, std::string_view to,
                      std::span<const TransferPoint> points) {
  Transfer transfer;
  transfer.from = from;
  transfer.to = to;
  const std::vector<TransferPoint> own = points_of(from, to, points);
  transfer.points = static_cast<int>(own.size());
  if (own.empty()) return transfer;
  if (is_spread(own)) {
    fit_line(transfer, own);
  } else {
    scale_prior(transfer, own);
  }
  std::vector<double> distances;
  for (const TransferPoint& point : own)
    distances.push_back(std::abs(point.us - transfer.cost_us(point.bytes)));
  transfer.residual_us = median(distances);
  return transfer;
}

TransferModel::TransferModel(std::span<const std::string> backends,
                             std::span<const TransferPoint> points) {
  std::set<std::string> classes = {k_portable};
  for (const std::string& backend : backends) classes.insert(backend_class(backend));
  for (const std::string& from : classes) {
    for (const std::string& to : classes) {
      if (from != to) transfers_.push_back(fit_transfer(from, to, points));
    }
  }
}

std::optional<double> TransferModel::cost_us(std::string_view from, std::string_view to,
                                             std::optional<std::uint64_t> bytes) const {
  const std::string from_class = backend_class(from), to_class = backend_class(to);
  if (from_class == to_class) return 0.0;
  if (!bytes) return std::nullopt;
  for (const Transfer& transfer : transfers_) {
    if (transfer.from == from_class && transfer.to == to_class) return transfer.cost_us(*bytes);
  }
  return Transfer{}.cost_us(*bytes);
}

}  // namespace stab
