// SPDX-License-Identifier: Apache-2.0
// A time of work on one device: its lock, its work folder, what was put there, the runs; and the
// tidying up in the end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stab/core/error.h"
#include "stab/device/file_tree.h"
#include "stab/device/lock.h"
#include "stab/device/run.h"
#include "stab/device/transport.h"
#include "stab/device/upload.h"
#include "stab/device/work_folder.h"

namespace stab {

struct SessionOptions {
  std::string work_folder;  ///< as asked for; see open_work_folder
  LockOptions lock = {};
  UploadOptions upload = {};
};

class Session {
 public:
  /// Takes the device's lock, then opens the work folder. Throws as DeviceLock and open_work_folder
  /// do. `transport` has to outlive it.
  Session(Transport& transport, SessionOptions options);
  /// finish(), whatever happens.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Where the work goes on: absolute, ours.
  const std::string& work_folder() const;
  /// See Uploader::put.
  std::vector<std::string> put(const std::vector<FileTree>& trees);
  /// See run_once. A lock that was lost is taken again first, or Error(device) names who has it.
  RunResult run(const RunRequest& request);

  const UploadSummary& uploaded() const;
  /// What the user should know, so far.
  std::vector<Warning> warnings() const;

  /// Removes run folders and trees of old, and gives the lock back. Goes on after an interrupt or a
  /// broken connection as far as it gets in some seconds, and never throws. After it the session is
  /// over.
  void finish() noexcept;

 private:
  void hold_lock();

  Transport& transport_;
  SessionOptions options_;
  std::optional<DeviceLock> lock_;
  std::optional<Uploader> uploader_;
  std::vector<Warning> warnings_;
};

}  // namespace stab
