// SPDX-License-Identifier: Apache-2.0
// A connection to a device that counts how long its commands take.
#pragma once

#include <chrono>
#include <memory>
#include <utility>

#include "stab/device/transport.h"

namespace stab {

/// Passes everything on. A process that goes on counts until it is ready.
class TimedTransport final : public Transport {
 public:
  explicit TimedTransport(std::unique_ptr<Transport> transport)
      : transport_(std::move(transport)) {}

  Exit run(const Command& command) override {
    const Timer timer(seconds_);
    return transport_->run(command);
  }
  std::unique_ptr<Process> start(const Command& command) override {
    const Timer timer(seconds_);
    return transport_->start(command);
  }
  LinkInfo link() const override { return transport_->link(); }
  void prefer_aes() override { transport_->prefer_aes(); }

  /// That commands took so far, from the first byte sent to the last one received.
  double seconds() const { return seconds_; }

 private:
  using Clock = std::chrono::steady_clock;

  class Timer {
   public:
    explicit Timer(double& seconds) : seconds_(seconds) {}
    ~Timer() { seconds_ += std::chrono::duration<double>(Clock::now() - begin_).count(); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    double& seconds_;
    Clock::time_point begin_ = Clock::now();
  };

  std::unique_ptr<Transport> transport_;
  double seconds_ = 0;
};

}  // namespace stab
