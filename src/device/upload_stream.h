// SPDX-License-Identifier: Apache-2.0
// The bytes of an upload: a few lines of orders, then a tar archive, packed as hard as the link
// asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "stab/device/gzip.h"
#include "stab/device/tar_stream.h"

namespace stab {

/// Chooses between packing (level 1) and passing on (level 0) from what both cost: a byte passed on
/// takes 1/link, a byte packed takes 1/packing + ratio/link. Both are measured as the upload goes
/// on.
class LevelChooser {
 public:
  /// `far`: the round trip is long enough for a slow link; then it starts packed.
  explicit LevelChooser(bool far) : level_(far ? 1 : 0) {}

  /// The transport took `bytes` and came back for more after `seconds`.
  void sent(std::uint64_t bytes, double seconds);
  /// `raw` bytes became `packed` in `seconds` at level 1.
  void packed(std::uint64_t raw, std::uint64_t packed, double seconds);
  /// `raw` bytes were passed on. After many of them packing is tried again: other files may be
  /// other.
  void passed(std::uint64_t raw);

  int level() const { return level_; }

 private:
  void decide();

  int level_;
  double link_ = 0;           // bytes per second; 0: not known yet
  double packing_ = 50e6;     // raw bytes per second
  double ratio_ = 0.45;       // packed per raw byte
  std::uint64_t passed_ = 0;  // since packing was last judged
};

/// Judges by the first bytes of a stream whether the link is so fast that neither packing nor
/// unpacking pays.
class FastLinkCheck {
 public:
  /// Streams that are shorter end before this has judged.
  static constexpr std::uint64_t k_bytes = 7'000'000;

  /// Of the stream `sent` bytes were taken when `seconds` had passed. True once it is too slow.
  bool too_slow(std::uint64_t sent, double seconds);

 private:
  std::optional<double> begin_;  // of the part that is judged, in seconds
  bool judged_ = false;
};

/// Whether an archive goes as gzip.
enum class Packing : int {
  never,
  always,      ///< level 0 where packing does not pay
  if_too_slow  ///< it does not, but the stream ends early where it should
};

/// The stream itself, to be read as a ByteSource.
class UploadStream {
 public:
  /// `orders` go first as they are. `far`: what LevelChooser starts with. `progress` hears of
  /// content bytes.
  UploadStream(std::string orders, std::vector<TarMember> members, Packing packing, bool far,
               std::function<void(std::uint64_t)> progress);

  std::size_t read(std::span<char> into);

  std::uint64_t stream_bytes() const { return stream_bytes_; }
  bool compressed() const { return compressed_; }
  /// The link is too slow for Packing::if_too_slow, and this ended in the middle.
  bool gave_up() const { return gave_up_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t read_plain(std::span<char> into);
  void pack_more();

  TarStream tar_;
  std::function<void(std::uint64_t)> progress_;
  std::optional<Gzip> gzip_;
  std::optional<FastLinkCheck> check_;
  LevelChooser chooser_;
  int gzip_level_ = 0;
  bool ended_ = false;
  bool compressed_ = false;
  bool gave_up_ = false;
  std::string pending_;
  std::size_t pending_at_ = 0;
  std::uint64_t stream_bytes_ = 0;
  std::uint64_t archive_bytes_ = 0;
  Clock::time_point begin_{};
  Clock::time_point handed_out_at_{};
  std::size_t handed_out_ = 0;
};

}  // namespace stab
