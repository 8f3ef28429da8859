// SPDX-License-Identifier: Apache-2.0
#include "support/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

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

ProgramStart::ProgramStart(std::vector<std::string> argv, const ProcessOptions& options)
    : argv_(std::move(argv)),
      working_dir_(options.working_dir.string()),
      argument_pointers_(pointers(argv_)) {
  if (!options.environment) return;
  for (const auto& [name, value] : *options.environment) variables_.push_back(name + "=" + value);
  variable_pointers_ = pointers(variables_);
}

void ProgramStart::become() const {
  if (!working_dir_.empty() && chdir(working_dir_.c_str()) != 0) _exit(127);
  execvpe(argument_pointers_[0], argument_pointers_.data(),
          variable_pointers_.empty() ? environ : variable_pointers_.data());
  _exit(127);
}

RunningProcess::RunningProcess(std::vector<std::string> argv, const ProcessOptions& options)
    : program_(argv.at(0)), timeout_seconds_(options.timeout_seconds) {
  const ProgramStart program(std::move(argv), options);
  const File in_file("/dev/null", O_RDONLY);
  const File out_file((streams_.path() / "out").string(), O_WRONLY | O_CREAT | O_TRUNC);
  const File err_file((streams_.path() / "err").string(), O_WRONLY | O_CREAT | O_TRUNC);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    dup2(in_file.fd(), 0);
    dup2(out_file.fd(), 1);
    dup2(err_file.fd(), 2);
    program.become();
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
