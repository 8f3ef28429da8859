// SPDX-License-Identifier: Apache-2.0
#include "support/real_world.h"

#include <gtest/gtest.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace stab::test {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::optional<fs::path> if_present(const fs::path& path, bool directory) {
  std::error_code error;
  const bool present = directory ? fs::is_directory(path, error) : fs::is_regular_file(path, error);
  if (!present) return std::nullopt;
  return path;
}

fs::path or_end(std::optional<fs::path> found, std::string_view kind, std::string_view name,
                std::string_view remedy) {
  if (found) return *std::move(found);
  skip_or_fail("no " + std::string(kind) + " " + std::string(name) + ": " + std::string(remedy));
}

void write_file(const fs::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

/// The outcome is recorded already: GoogleTest takes this exception as "leave the test" and adds
/// nothing.
[[noreturn]] void leave_test(testing::TestPartResult::Type outcome, const std::string& reason) {
  throw testing::AssertionException(
      testing::TestPartResult(outcome, __FILE__, __LINE__, reason.c_str()));
}

}  // namespace

fs::path cache_dir() {
  if (const std::string own = environment("STAB_CACHE"); !own.empty()) return own;
  if (const std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) {
    return fs::path(xdg) / "stab";
  }
  return fs::path(environment("HOME")) / ".cache" / "stab";
}

std::optional<fs::path> runtime_dir(std::string_view name) {
  return if_present(cache_dir() / "runtime" / name, true);
}

std::optional<fs::path> model_file(std::string_view name) {
  return if_present(cache_dir() / "models" / name, false);
}

std::optional<fs::path> runner_binary(std::string_view arch) {
  return if_present(fs::path(STAB_BUILD_DIR) / "runner" / ("stab-runner-" + std::string(arch)),
                    false);
}

std::string host_arch() {
  utsname machine{};
  if (uname(&machine) != 0) throw std::runtime_error("uname failed");
  const std::string name = machine.machine;
  return name.starts_with("arm") ? "armhf" : name;
}

bool in_ci() {
  return environment("CI") == "true";
}

std::optional<fs::path> find_program(std::string_view name) {
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (access(candidate.c_str(), X_OK) == 0 && if_present(candidate, false)) return candidate;
  }
  return std::nullopt;
}

void skip(const std::string& reason) {
  const auto record = [&reason] { GTEST_SKIP() << reason; };
  record();
  leave_test(testing::TestPartResult::kSkip, reason);
}

void skip_or_fail(const std::string& reason) {
  if (!in_ci()) skip(reason);
  const auto record = [&reason] { GTEST_FAIL() << reason; };
  record();
  leave_test(testing::TestPartResult::kFatalFailure, reason);
}

fs::path require_runtime(std::string_view name) {
  return or_end(runtime_dir(name), "runtime", name, "scripts/fetch gets it");
}

fs::path require_model(std::string_view name) {
  return or_end(model_file(name), "model", name, "scripts/fetch gets it");
}

fs::path require_runner(std::string_view arch) {
  return or_end(runner_binary(arch), "stab-runner for", arch, "its compiler was not found");
}

fs::path require_program(std::string_view name) {
  return or_end(find_program(name), "program", name, "not on PATH");
}

fs::path make_package(const fs::path& parent, std::string_view name, const fs::path& model,
                      std::string_view config) {
  const fs::path package = parent / name;
  fs::create_directories(package / "metadata");
  fs::copy_file(model, package / model.filename(), fs::copy_options::overwrite_existing);
  const std::string configs = config.empty() ? "" : "\"config.cfg\"";
  const std::string type = model.extension().string().substr(1);
  write_file(package / "metadata" / "MANIFEST",
             "{\"major-version\": \"1\", \"minor-version\": \"2\", \"patch-version\": \"0\", "
             "\"configs\": [" +
                 configs + "], \"models\": [\"" + model.filename().string() +
                 "\"], \"model-types\": [\"" + type + "\"]}\n");
  if (!config.empty()) write_file(package / "metadata" / "config.cfg", config);
  return package;
}

}  // namespace stab::test
