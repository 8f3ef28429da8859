// SPDX-License-Identifier: Apache-2.0
// gzip as streams: unpacking what a device sends, and packing an upload as hard as the link is
// slow.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace stab {

/// Unpacks one gzip stream.
class Gunzip {
 public:
  Gunzip();
  ~Gunzip();

  /// Hands what comes out of `bytes` to `sink`, in pieces of at most 64 KB. Throws Error(device)
  /// for what is not gzip or goes on after its end.
  void feed(std::string_view bytes, const std::function<void(std::string_view)>& sink);
  /// True once the stream's own end, with its checksum, was there.
  bool ended() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Packs one gzip stream whose level may change while it goes on.
class Gzip {
 public:
  /// `level` 0 only wraps, 1 to 9 compress.
  explicit Gzip(int level);
  ~Gzip();

  /// What follows is packed at `level`; what comes out of the bytes before is appended to `out`.
  void set_level(int level, std::string& out);
  /// Appends what comes out of `bytes` to `out`; the last call has `last` and ends the stream.
  void feed(std::string_view bytes, bool last, std::string& out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stab
