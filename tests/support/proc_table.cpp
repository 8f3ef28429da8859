// SPDX-License-Identifier: Apache-2.0
#include "support/proc_table.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

namespace stab::test {
namespace {

struct Entry {
  char state = 'Z';
  int parent = 0;
  int group = 0;
};

/// What /proc says about a process; a zombie when it is not there.
Entry look_up(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string text;
  std::getline(file, text);
  Entry entry;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return entry;
  std::istringstream(text.substr(name_end + 1)) >> entry.state >> entry.parent >> entry.group;
  return entry;
}

bool runs(const Entry& entry) {
  return entry.state != 'Z' && entry.state != 'X';
}

bool within(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace

bool process_gone(int pid, std::chrono::milliseconds limit) {
  const std::filesystem::path folder = "/proc/" + std::to_string(pid);
  return within(limit, [&] { return !runs(look_up(folder)); });
}

bool group_gone(int group, std::chrono::milliseconds limit) {
  return within(limit, [&] {
    for (const auto& folder : std::filesystem::directory_iterator("/proc")) {
      const char first = folder.path().filename().native().front();
      if (first < '0' || first > '9') continue;
      const Entry entry = look_up(folder.path());
      if (entry.group == group && runs(entry)) return false;
    }
    return true;
  });
}

}  // namespace stab::test
