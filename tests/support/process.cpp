// SPDX-License-Identifier: Apache-2.0
#include "support/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace stab::test {
namespace {

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

/// An open file that is closed with the object; children started by exec do not keep it.
class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0600)) {
    if (fd_ < 0) throw std::runtime_error("cannot open " + path);
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void start(const std::array<int, 3>& files, const char* working_dir, char** argv,
                        char** environment) {
  for (int target = 0; target < 3; ++target) dup2(files[static_cast<std::size_t>(target)], target);
  if (*working_dir != '\0' && chdir(working_dir) != 0) _exit(127);
  if (environment != nullptr) {
    execvpe(argv[0], argv, environment);
  } else {
    execvp(argv[0], argv);
  }
  _exit(127);
}

int wait_or_kill(pid_t child, int timeout_seconds) {
  using std::chrono::steady_clock;
  const auto deadline = steady_clock::now() + std::chrono::seconds(timeout_seconds);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (steady_clock::now() >= deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return status;
}

}  // namespace

RunningProcess::RunningProcess(std::vector<std::string> argv, const ProcessOptions& options)
    : program_(argv.at(0)), timeout_seconds_(options.timeout_seconds) {
  const std::string working_dir = options.working_dir.string();
  std::vector<std::string> variables;
  if (options.environment) {
    for (const auto& [name, value] : *options.environment) variables.push_back(name + "=" + value);
  }
  std::vector<char*> argument_pointers = pointers(argv);
  std::vector<char*> variable_pointers = pointers(variables);
  const File in_file("/dev/null", O_RDONLY);
  const File out_file((streams_.path() / "out").string(), O_WRONLY | O_CREAT | O_TRUNC);
  const File err_file((streams_.path() / "err").string(), O_WRONLY | O_CREAT | O_TRUNC);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    start({in_file.fd(), out_file.fd(), err_file.fd()}, working_dir.c_str(),
          argument_pointers.data(), options.environment ? variable_pointers.data() : nullptr);
  }
}

RunningProcess::~RunningProcess() {
  if (pid_ > 0) wait_or_kill(pid_, 0);
}

std::string RunningProcess::err_so_far() const {
  return read_text(streams_.path() / "err");
}

ProcessResult RunningProcess::wait() {
  const int status = wait_or_kill(pid_, timeout_seconds_);
  pid_ = -1;
  ProcessResult result;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (result.exit_code == 127) throw std::runtime_error("cannot start " + program_);
  result.out = read_text(streams_.path() / "out");
  result.err = read_text(streams_.path() / "err");
  return result;
}

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  return RunningProcess(argv, options).wait();
}

}  // namespace stab::test
