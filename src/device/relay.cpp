// SPDX-License-Identifier: Apache-2.0
#include "relay.h"

#include <algorithm>
#include <utility>

namespace stab {
namespace {

constexpr std::size_t k_queue_bytes = 1 << 20;

}  // namespace

bool Relay::has_room() const {
  const std::lock_guard lock(mutex_);
  return input_bytes_ < k_queue_bytes;
}

void Relay::put(std::string bytes) {
  if (bytes.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    input_bytes_ += bytes.size();
    input_.push_back(std::move(bytes));
  }
  wake_();
}

void Relay::end_input() {
  {
    const std::lock_guard lock(mutex_);
    input_ended_ = true;
  }
  wake_();
}

void Relay::terminate(int group) {
  {
    const std::lock_guard lock(mutex_);
    terminating_ = true;
    group_ = group;
  }
  wake_();
}

void Relay::abandon(int group) {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    group_ = group;
  }
  wake_();
}

void Relay::take(Stream stream, std::string& buffer) {
  buffer.clear();
  bool was_full = false;
  {
    const std::lock_guard lock(mutex_);
    was_full = arrived_[stream].size() >= k_queue_bytes;
    buffer.swap(arrived_[stream]);
  }
  if (was_full) wake_();
}

void Relay::wait_until(Clock::time_point until) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, until, [this] { return news_; });
  news_ = false;
}

std::optional<Relay::Ending> Relay::ending() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

Relay::Clock::time_point Relay::last_activity() const {
  const std::lock_guard lock(mutex_);
  return activity_;
}

std::uint64_t Relay::bytes_sent() const {
  const std::lock_guard lock(mutex_);
  return sent_;
}

std::string_view Relay::next_input() const {
  const std::lock_guard lock(mutex_);
  if (input_.empty()) return {};
  return std::string_view(input_.front()).substr(front_sent_);
}

void Relay::consume(std::size_t count) {
  const std::lock_guard lock(mutex_);
  sent_ += count;
  front_sent_ += count;
  activity_ = Clock::now();
  if (front_sent_ < input_.front().size()) return;
  input_bytes_ -= input_.front().size();
  input_.pop_front();
  front_sent_ = 0;
  tell_caller();
}

bool Relay::input_over() const {
  const std::lock_guard lock(mutex_);
  return terminating_ || (input_ended_ && input_.empty());
}

bool Relay::terminating() const {
  const std::lock_guard lock(mutex_);
  return terminating_;
}

bool Relay::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

int Relay::group() const {
  const std::lock_guard lock(mutex_);
  return group_;
}

std::size_t Relay::room(Stream stream) const {
  const std::lock_guard lock(mutex_);
  return k_queue_bytes - std::min(k_queue_bytes, arrived_[stream].size());
}

void Relay::deliver(Stream stream, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  arrived_[stream].append(bytes);
  activity_ = Clock::now();
  tell_caller();
}

void Relay::finish(Ending ending) {
  const std::lock_guard lock(mutex_);
  if (!ending_) {
    ending.input_cut = !input_.empty() || !input_ended_;
    ending_ = std::move(ending);
  }
  tell_caller();
}

void Relay::tell_caller() {
  news_ = true;
  changed_.notify_one();
}

}  // namespace stab
