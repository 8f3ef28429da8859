// SPDX-License-Identifier: Apache-2.0
// What it costs to copy a tensor from one backend to another, fitted to copies that were measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stab {

/// The class of the backends between which the runtime copies nothing: cpu, ruy, xnnpack and
/// builtin (older: controlflow).
inline constexpr const char* k_portable = "portable";

/// The class of a backend: k_portable, or its own name.
std::string backend_class(std::string_view backend);

/// Where the figures of a transfer come from. `fitted`: a line through enough copies of different
/// sizes. `measured`: a few copies, or of one size; they move the prior up or down. `prior`: none.
enum class TransferSource { measured, fitted, prior };

std::string_view to_string(TransferSource source);

/// Copies from one class of backends to another take latency + bytes / bandwidth.
struct Transfer {
  std::string from;  ///< class
  std::string to;    ///< class
  double latency_us = 50;
  double bytes_per_us = 1000;
  int points = 0;
  std::optional<double>
      residual_us;  ///< median distance of the points from the line; absent for the prior
  TransferSource source = TransferSource::prior;

  double cost_us(std::uint64_t bytes) const;

  bool operator==(const Transfer&) const = default;
};

/// One measured copy.
struct TransferPoint {
  std::string from;  ///< class
  std::string to;    ///< class
  std::uint64_t bytes = 0;
  double us = 0;
};

/// All pairs of classes that a set of backends has.
class TransferModel {
 public:
  /// Each ordered pair of different classes among `backends` and builtin, fitted to the points of
  /// that pair.
  TransferModel(std::span<const std::string> backends, std::span<const TransferPoint> points);

  /// By `from`, then `to`.
  const std::vector<Transfer>& transfers() const { return transfers_; }

  /// A copy between two backends ("builtin" is one): 0 within a class. Absent for a size that is
  /// not known, which has no price. Pairs that the model was not made for have the prior.
  std::optional<double> cost_us(std::string_view from, std::string_view to,
                                std::optional<std::uint64_t> bytes) const;

 private:
  std::vector<Transfer> transfers_;
};

/// One pair's line: the median of the slopes between all pairs of points and the median intercept
/// (Theil 1950, Sen 1968), which a third of wild points does not move; at least four points, of
/// which the largest copies four times as much as the smallest. Points of other pairs are ignored.
Transfer fit_transfer(std::string_view from, std::string_view to,
                      std::span<const TransferPoint> points);

}  // namespace stab
