// SPDX-License-Identifier: Apache-2.0
// Brings trees into the work folder: sends only what is not there yet, in one stream, and has it
// checked there.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "stab/core/error.h"
#include "stab/device/file_tree.h"
#include "stab/device/transport.h"
#include "stab/device/work_folder.h"

namespace stab {

struct Answer;
struct NamedTree;
struct TreesThere;
struct UploadPlan;
enum class Packing : int;

/// Called as an upload goes on: bytes of file content sent so far, and in all.
using UploadProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct UploadOptions {
  bool rehash = false;  ///< hash what is there, too, instead of trusting sizes, modes and times
  std::chrono::milliseconds idle{180'000};  ///< give up after so long a silence
  UploadProgress progress = {};
};

/// What uploads did, all together.
struct UploadSummary {
  std::uint64_t files_sent = 0;
  std::uint64_t files_linked = 0;   ///< there already, in another tree
  std::uint64_t content_bytes = 0;  ///< of the files sent
  std::uint64_t stream_bytes = 0;   ///< that went over for them
  bool compressed = false;          ///< at least a part of them
};

/// Uploads into one work folder. What a device has is learnt once, from `folder`, and kept up to
/// date.
class Uploader {
 public:
  Uploader(Transport& transport, WorkFolder folder, UploadOptions options);

  /// Makes sure that all of `trees` are there, and returns their absolute paths in the same order.
  /// Nothing goes over for what is there, unchanged. A tree appears under its name only when all of
  /// it is there and right. Throws Error(device) that names device, folder and bytes needed when
  /// there is no room, and for what did not arrive whole; what did stays there, and the next call
  /// goes on from it. Throws Error(input) for a file that has changed since its tree was made.
  std::vector<std::string> put(const std::vector<FileTree>& trees);

  const WorkFolder& folder() const { return folder_; }
  const UploadSummary& summary() const { return summary_; }
  /// Names of all trees put so far.
  const std::set<std::string>& in_use() const { return in_use_; }
  /// What the user should know: no hash tool there, a small memory file system.
  const std::vector<Warning>& warnings() const { return warnings_; }

 private:
  UploadPlan plan_for(const std::vector<NamedTree>& trees);
  TreesThere look_at(const std::vector<NamedTree>& trees);
  void inspect(const std::vector<NamedTree>& trees, TreesThere& there);
  void learn_hashes(const std::vector<NamedTree>& trees);
  void check_space(const UploadPlan& plan);
  Packing packing_of(const UploadPlan& plan) const;
  bool far() const;
  bool send(const std::vector<NamedTree>& trees, UploadPlan plan, std::uint64_t total,
            Packing packing);
  void conclude(const std::vector<NamedTree>& trees, const Answer& answer);

  Transport& transport_;
  WorkFolder folder_;
  UploadOptions options_;
  UploadSummary summary_;
  std::set<std::string> in_use_;
  std::vector<Warning> warnings_;
  bool hashes_learnt_ = false;
  std::unordered_map<std::string, std::string> known_;  // KnownFiles
};

}  // namespace stab
