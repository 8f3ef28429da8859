// SPDX-License-Identifier: Apache-2.0
#include "stab/device/session.h"

#include <spdlog/spdlog.h>

#include <exception>
#include <utility>

namespace stab {

Session::Session(Transport& transport, SessionOptions options)
    : transport_(transport), options_(std::move(options)) {
  lock_.emplace(transport_, options_.lock);
  uploader_.emplace(transport_, open_work_folder(transport_, options_.work_folder),
                    options_.upload);
}

Session::~Session() {
  finish();
}

const std::string& Session::work_folder() const {
  return uploader_->folder().path;
}

std::vector<std::string> Session::put(const std::vector<FileTree>& trees) {
  hold_lock();
  return uploader_->put(trees);
}

RunResult Session::run(const RunRequest& request) {
  hold_lock();
  return run_once(transport_, work_folder(), request);
}

void Session::hold_lock() {
  if (lock_->held()) return;
  lock_.reset();
  lock_.emplace(transport_, options_.lock);
  warnings_.push_back({"lock_lost", Severity::warning, transport_.link().address,
                       "the device's lock was lost for a while and taken again; another job may "
                       "have disturbed a run",
                       ""});
}

const UploadSummary& Session::uploaded() const {
  return uploader_->summary();
}

std::vector<Warning> Session::warnings() const {
  std::vector<Warning> all = uploader_->warnings();
  all.insert(all.end(), warnings_.begin(), warnings_.end());
  return all;
}

void Session::finish() noexcept {
  if (!lock_) return;
  try {
    if (uploader_) tidy_work_folder(transport_, work_folder(), uploader_->in_use());
  } catch (const std::exception& error) {
    spdlog::debug("left the work folder as it is: {}", error.what());
  }
  try {
    lock_->release();
  } catch (const std::exception& error) {
    spdlog::debug("left the lock to the device: {}", error.what());
  }
  lock_.reset();
}

}  // namespace stab
