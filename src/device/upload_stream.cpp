// SPDX-License-Identifier: Apache-2.0
#include "upload_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stab {
namespace {

constexpr std::size_t k_piece = 128U << 10;
constexpr std::uint64_t k_passed_before_retry = 8U << 20;
constexpr double k_memory = 0.8;  // weight of what was measured before
constexpr double k_clear_gain = 0.9;
constexpr double k_fast = 25e6;  // bytes per second
// More than windows and queues take at once, whatever the link.
constexpr std::uint64_t k_on_the_way = 4'000'000;

double mixed(double before, double now) {
  return before == 0 ? now : k_memory * before + (1 - k_memory) * now;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void LevelChooser::sent(std::uint64_t bytes, double seconds) {
  link_ = mixed(link_, static_cast<double>(bytes) / std::max(seconds, 1e-6));
  decide();
}

void LevelChooser::packed(std::uint64_t raw, std::uint64_t packed, double seconds) {
  const auto in = static_cast<double>(raw);
  packing_ = mixed(packing_, in / std::max(seconds, 1e-6));
  ratio_ = mixed(ratio_, static_cast<double>(packed) / std::max(in, 1.0));
  decide();
}

void LevelChooser::passed(std::uint64_t raw) {
  passed_ += raw;
  if (passed_ < k_passed_before_retry) return;
  passed_ = 0;
  ratio_ = std::min(ratio_, 0.7);
  decide();
}

void LevelChooser::decide() {
  if (link_ == 0) return;
  const double passing = 1 / link_;
  const double packing = 1 / packing_ + ratio_ / link_;
  level_ = packing < k_clear_gain * passing ? 1 : 0;
}

bool FastLinkCheck::too_slow(std::uint64_t sent, double seconds) {
  if (judged_ || sent < k_on_the_way) return false;
  if (!begin_) begin_ = seconds;
  if (seconds - *begin_ > static_cast<double>(k_bytes - k_on_the_way) / k_fast) return true;
  judged_ = sent >= k_bytes;
  return false;
}

UploadStream::UploadStream(std::string orders, std::vector<TarMember> members, Packing packing,
                           bool far, std::function<void(std::uint64_t)> progress)
    : tar_(std::move(members)),
      progress_(std::move(progress)),
      chooser_(far),
      pending_(std::move(orders)) {
  if (packing == Packing::always) {
    gzip_level_ = chooser_.level();
    gzip_.emplace(gzip_level_);
  }
  if (packing == Packing::if_too_slow) check_.emplace();
}

std::size_t UploadStream::read(std::span<char> into) {
  if (begin_ == Clock::time_point()) begin_ = Clock::now();
  if (gzip_ && handed_out_ > 0) chooser_.sent(handed_out_, seconds_since(handed_out_at_));
  while (gzip_ && pending_at_ == pending_.size() && !ended_) pack_more();
  std::size_t count = std::min(into.size(), pending_.size() - pending_at_);
  if (count > 0) {
    std::memcpy(into.data(), pending_.data() + pending_at_, count);
    pending_at_ += count;
  } else if (!gzip_) {
    count = read_plain(into);
  }
  if (progress_) progress_(tar_.content_bytes());
  stream_bytes_ += count;
  handed_out_ = count;
  handed_out_at_ = Clock::now();
  return count;
}

std::size_t UploadStream::read_plain(std::span<char> into) {
  gave_up_ = gave_up_ || (check_ && check_->too_slow(archive_bytes_, seconds_since(begin_)));
  if (gave_up_) return 0;
  const std::size_t count = tar_.read(into);
  archive_bytes_ += count;
  return count;
}

void UploadStream::pack_more() {
  pending_.clear();
  pending_at_ = 0;
  std::string raw(k_piece, '\0');
  const std::size_t size = tar_.read(raw);
  ended_ = size < raw.size();
  if (chooser_.level() != gzip_level_) {
    gzip_level_ = chooser_.level();
    gzip_->set_level(gzip_level_, pending_);
  }
  const std::size_t before = pending_.size();
  const Clock::time_point start = Clock::now();
  gzip_->feed(std::string_view(raw).substr(0, size), ended_, pending_);
  if (gzip_level_ == 0) {
    chooser_.passed(size);
  } else {
    compressed_ = true;
    chooser_.packed(size, pending_.size() - before, seconds_since(start));
  }
}

}  // namespace stab
