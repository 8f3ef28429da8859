// SPDX-License-Identifier: Apache-2.0
#include "stab/app/target.h"

#include <unistd.h>

#include <cstdlib>

#include "app/timed_transport.h"
#include "stab/app/connect.h"
#include "stab/core/error.h"
#include "stab/device/file_tree.h"
#include "stab/device/own_runner.h"
#include "stab/device/runtime_check.h"

namespace stab {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> environment_value(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

RuntimeSearch search_for_runtime(const Options& options, const std::string& device_arch = {}) {
  return {options.runtime, environment_value("STAB_RUNTIME"), device_arch, fs::current_path()};
}

/// A runtime that is named, being read and hashed; nothing where the device decides which it is.
std::future<Runtime> read_named_runtime(const Options& options) {
  const auto folder = named_runtime(search_for_runtime(options));
  if (!folder) return {};
  return std::async(std::launch::async, [folder] { return read_runtime(*folder); });
}

}  // namespace

Target::Target(const Options& options, Progress& progress, StopRequested stop)
    : progress_(progress) {
  std::future<Runtime> reading = read_named_runtime(options);  // while we connect
  transport_ =
      std::make_unique<TimedTransport>(connect(options, progress, std::move(stop), warnings_));
  const std::string folder = work_folder_of(options, *transport_);
  progress.update("look at the device", 0, 0, transport_->link().address);
  const Preflight found = look_at_device(options, folder);
  SessionOptions session;
  session.work_folder = folder;
  session.lock = lock_options(options, progress);
  session.upload.rehash = options.rehash;
  session.upload.progress = [this](std::uint64_t done, std::uint64_t total) {
    show_upload(done, total);
  };
  session_ = std::make_unique<Session>(*transport_, std::move(session));
  check_runtime_against(options, found, std::move(reading));
}

Target::~Target() = default;

void Target::show_upload(std::uint64_t done, std::uint64_t total) {
  constexpr std::uint64_t k_worth_showing = 1 << 20;
  if (total < k_worth_showing) return;
  if (done == 0 || upload_begin_ == std::chrono::steady_clock::time_point())
    upload_begin_ = std::chrono::steady_clock::now();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - upload_begin_).count();
  const auto sent = static_cast<double>(done);
  std::string note = render_bytes(sent) + " of " + render_bytes(static_cast<double>(total));
  if (seconds > 0.5) note += ", " + render_bytes(sent / seconds) + "/s";
  progress_.update("upload", sent, static_cast<double>(total), note);
}

std::vector<Warning> Target::warnings() const {
  std::vector<Warning> all = warnings_;
  const std::vector<Warning> more = session_->warnings();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

RunResult Target::run(const RunRequest& request) {
  RunResult result = session_->run(request);
  for (const FetchedFile& file : result.files) fetched_bytes_ += file.bytes;
  return result;
}

DeviceUse Target::use() const {
  return {transport_->seconds(), session_->uploaded().stream_bytes + fetched_bytes_};
}

void Target::choose_runner(const Options& options) {
  const Runtime& runtime = runtime_files_;
  const auto own = find_own_runner(
      runtime.machine, {environment_value("STAB_RUNNER_DIR"), fs::read_symlink("/proc/self/exe")});
  runner_.is_stab_runner = own && !options.use_runtime_runner;
  if (runner_.is_stab_runner) {
    local_runner_ = own->string();
    return;
  }
  if (!runtime.runner) {
    throw Error(
        ErrorKind::input, "cannot find a runner for", runtime.folder,
        options.use_runtime_runner ? "the folder has no bin/onert_run or bin/nnpackage_run"
                                   : "it has none of its own, and there is no stab-runner for " +
                                         to_string(runtime.machine),
        options.use_runtime_runner ? "leaving out --runner own"
                                   : "installing the cross compiler and building stab again");
  }
}

void Target::check_runtime_against(const Options& options, const Preflight& found,
                                   std::future<Runtime> reading) {
  runtime_files_ = reading.valid()
                       ? reading.get()
                       : read_runtime(locate_runtime(search_for_runtime(options, device_.arch)));
  const Runtime& runtime = runtime_files_;
  const RuntimeTarget target = runtime_target(*transport_, runtime, found);
  const RuntimeCheck check = check_runtime(runtime, target, options.backends);
  choose_runner(options);
  runtime_ = runtime_info(runtime, check, runner_.is_stab_runner);
  warnings_.insert(warnings_.end(), runtime.warnings.begin(), runtime.warnings.end());
  warnings_.insert(warnings_.end(), check.warnings.begin(), check.warnings.end());
}

void Target::upload_runtime() {
  const Runtime& runtime = runtime_files_;
  std::string base = runtime.folder;
  if (transport_->link().local) {
    runner_.path = runner_.is_stab_runner ? local_runner_ : runtime.folder + "/" + *runtime.runner;
  } else {
    FileTree tree = FileTree::of_list("rt", runtime.files);
    if (runner_.is_stab_runner) tree.add_file("stab-runner", local_runner_, true);
    base = session_->put({tree}).front();
    runner_.path = base + "/" + (runner_.is_stab_runner ? "stab-runner" : *runtime.runner);
  }
  for (const std::string& library_folder : runtime.library_folders) {
    runner_.library_folders.push_back(library_folder == "." ? base : base + "/" + library_folder);
  }
  if (!runner_.is_stab_runner) ask_runner();
}

/// Generations differ in what their runners take.
void Target::ask_runner() {
  RunRequest request;
  request.id = "help";
  request.runner = runner_.path;
  request.args = {"--help"};
  request.library_folders = runner_.library_folders;
  request.timeout = std::chrono::seconds(30);
  const RunResult told = session_->run(request);
  const auto lists = [&](const char* option) {
    return (told.output + told.errors).find(option) != std::string::npos;
  };
  runner_.raw_files = lists("--load:raw") && lists("--dump:raw");
  if (runner_.raw_files) return;
  warnings_.push_back({"runner_without_tensors", Severity::warning, runner_.path,
                       "it can neither load inputs nor write outputs (--load:raw, --dump:raw), so "
                       "that outputs cannot be compared",
                       "leaving out --runner own"});
}

std::string Target::stage(const FileList& files) {
  const std::string key = hash_of(files);
  const auto found = staged_.find(key);
  if (found != staged_.end()) return found->second;
  const std::string path = session_->put({FileTree::of_list("pkg", files)}).front();
  staged_[key] = path;
  return path;
}

Preflight Target::look_at_device(const Options& options, const std::string& folder) {
  Preflight found = preflight(*transport_, {folder});
  for (const Check& check : found.checks) {
    if (check.verdict != Verdict::fail || check.id == "lock") continue;
    throw Error(ErrorKind::device, "cannot work on", found.device.host, check.text,
                check.remedy.value_or(""));
  }
  device_ = found.device;
  device_.name = options.device_name;
  return found;
}

RuntimeTarget runtime_target(Transport& transport, const Runtime& runtime, const Preflight& found) {
  RuntimeTarget target;
  target.machine = found.machine.value_or(runtime.machine);
  target.libc = found.device.libc;
  if (transport.link().local) {
    const std::vector<std::string> folders = local_library_folders();
    target.libraries = find_local_libraries(runtime, folders);
    target.glibcxx = local_glibcxx(target.machine, folders);
    target.looked_in = "this machine's library folders";
    return target;
  }
  const DeviceLibraries libraries =
      find_device_libraries(transport, outside_libraries(runtime), target.machine);
  target.libraries = libraries.found;
  target.looked_in = libraries.looked_in;
  target.glibcxx = found.glibcxx;
  return target;
}

}  // namespace stab
