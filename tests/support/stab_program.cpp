// SPDX-License-Identifier: Apache-2.0
#include "support/stab_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "stab/core/trace.h"
#include "support/model_builder.h"
#include "support/real_world.h"

namespace stab::test {
namespace {

namespace fs = std::filesystem;

/// All folders of a fetched runtime that may hold libraries, for LD_LIBRARY_PATH.
std::string library_path(const fs::path& runtime) {
  std::string path = runtime.string();
  for (const char* below : {"nnfw", "nnfw/backend"}) path += ":" + (runtime / below).string();
  return path;
}

fs::path require_runtime_of_this_machine(const std::string& runtime) {
  return require_runtime(runtime + "-" + host_arch());
}

/// Appends `more`, and of the usual options those that `more` does not give.
void append_options(Words& words, const std::vector<std::pair<std::string, std::string>>& usual,
                    const Words& more) {
  for (const auto& [option, value] : usual) {
    if (std::find(more.begin(), more.end(), option) == more.end())
      words.insert(words.end(), {option, value});
  }
  words.insert(words.end(), more.begin(), more.end());
}

}  // namespace

StabProgram::StabProgram(Environment more)
    : environment_(std::move(more)), program_((fs::path(STAB_BUILD_DIR) / "stab").string()) {
  if (!fs::exists(program_)) skip_or_fail("no " + program_ + ": the target stab was not built");
  require_runner(host_arch());
}

fs::path StabProgram::traces(std::string_view package) const {
  return folder() / "traces" / package;
}

fs::path StabProgram::written(std::string_view package) const {
  return folder() / "out" / package;
}

fs::path StabProgram::package(const std::string& name, std::string_view model_text,
                              std::string_view config) const {
  const fs::path model = dir_.write("models/" + name + ".tflite", build_model(model_text));
  return make_package(folder() / "packages", name, model, config);
}

fs::path StabProgram::real_package(const std::string& name, std::string_view model,
                                   std::string_view config) const {
  return make_package(folder() / "packages", name, require_model(model), config);
}

ProcessOptions StabProgram::process_options() const {
  ProcessOptions options;
  options.environment = environment_;
  options.environment->insert(
      {{"PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}, {"HOME", folder().string()}});
  options.working_dir = folder();
  options.timeout_seconds = 1200;
  return options;
}

ProcessResult StabProgram::run(const Words& words) const {
  Words argv = {program_};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_process(argv, process_options());
}

Words StabProgram::schedule_words(const fs::path& package, const std::string& runtime,
                                  const Words& more) const {
  Words words = {program_, "--nnpackage", package.string()};
  std::vector<std::pair<std::string, std::string>> usual = {
      {"--ip", "local"},
      {"--trace-dir", "traces"},
      {"-o", "out"},
      {"--remote-dir", (folder() / "work").string()},
      {"--lock-wait", "10m"},
      {"-w", "1"},
      {"-r", "6"},
      {"--rounds", "3"},
      {"--max-rounds", "3"}};
  if (!runtime.empty())
    usual.emplace_back("--runtime", require_runtime_of_this_machine(runtime).string());
  append_options(words, usual, more);
  return words;
}

ProcessResult StabProgram::schedule(const fs::path& package, const std::string& runtime,
                                    const Words& more) const {
  return run_process(schedule_words(package, runtime, more), process_options());
}

Words StabProgram::schedule_again_words(const fs::path& package, const Words& more) const {
  Words words = {program_, "--nnpackage", package.string(), "--no-profile"};
  append_options(words, {{"--trace-dir", "traces"}, {"-o", "out"}}, more);
  return words;
}

ProcessResult StabProgram::schedule_again(const fs::path& package, const Words& more) const {
  return run_process(schedule_again_words(package, more), process_options());
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const std::size_t before = text.rfind('\n', end);
  const std::size_t start = before == std::string::npos ? 0 : before + 1;
  return text.substr(start, end + 1 - start);
}

std::string unwrapped(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

Placement placement_in_a_run(const fs::path& package, const std::string& runtime,
                             bool source_environment) {
  const TempDir dir;
  ProcessOptions options;
  options.working_dir = package;
  options.environment =
      Environment{{"LD_LIBRARY_PATH", library_path(require_runtime_of_this_machine(runtime))},
                  {"TRACE_FILEPATH", (dir.path() / "trace.json").string()},
                  {"TRACING_MODE", "1"},
                  {"WORKSPACE_DIR", dir.path().string()}};
  const std::string script =
      std::string(source_environment ? ". metadata/stab.env; " : "") + "exec \"$0\" -w 0 -r 1 .";
  const ProcessResult result =
      run_process({"/bin/sh", "-c", script, require_runner(host_arch()).string()}, options);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  Placement placement;
  const Trace trace = parse_trace(read_text(dir.path() / "trace.json"), "trace.json");
  for (const OpTrace& op : trace.ops) {
    if (op.op.subgraph == 0 && op.backend != k_cpu) placement[op.op] = op.backend;
  }
  return placement;
}

}  // namespace stab::test
