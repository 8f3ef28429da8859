// SPDX-License-Identifier: Apache-2.0
#include "runner/runner_process.h"

#include <cstring>
#include <optional>

#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab::test {
namespace {

struct Emulation {
  const char* program;
  const char* triplet;
};

Emulation emulation_of(const std::string& arch) {
  if (arch == "aarch64") return {"qemu-aarch64-static", "aarch64-linux-gnu"};
  if (arch == "armhf") return {"qemu-arm-static", "arm-linux-gnueabihf"};
  return {"qemu-arm-static", "arm-linux-gnueabi"};
}

/// An emulator is a convenience of developers' machines, so its absence never fails a test.
std::filesystem::path program_or_skip(std::string_view name) {
  std::optional<std::filesystem::path> found = find_program(name);
  if (!found) skip("no program " + std::string(name) + " on PATH");
  return *found;
}

}  // namespace

ProcessResult run_runner(const Arguments& arguments, const Environment& environment) {
  std::vector<std::string> command = {require_runner(host_arch()).string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.environment = environment;
  return run_process(command, options);
}

ProcessResult run_emulated(const std::string& arch, const Arguments& arguments) {
  const auto [program, triplet] = emulation_of(arch);
  const std::filesystem::path libraries = std::filesystem::path("/usr") / triplet;
  const std::string emulator = program_or_skip(program).string();
  const std::string runner = require_runner(arch).string();
  if (!std::filesystem::exists(libraries / "lib"))
    skip_or_fail("no libraries in " + libraries.string());
  std::vector<std::string> command = {emulator, "-L", libraries.string(), runner};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions options;
  options.environment = Environment{};
  options.timeout_seconds = 200;
  return run_process(command, options);
}

std::string json_line(const ProcessResult& result) {
  constexpr std::string_view k_start = "stab-runner {";
  std::size_t at = result.out.find(k_start);
  while (at != std::string::npos && at != 0 && result.out[at - 1] != '\n') {
    at = result.out.find(k_start, at + 1);
  }
  if (at == std::string::npos) return "";
  const std::size_t json = at + k_start.size() - 1;
  return result.out.substr(json, result.out.find('\n', json) - json);
}

std::vector<float> read_floats(const std::filesystem::path& file) {
  const std::string bytes = read_text(file);
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace stab::test
