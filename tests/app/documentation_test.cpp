// SPDX-License-Identifier: Apache-2.0
// Every command of the documentation is run as it is written, with stand-ins for its hosts, models
// and runtimes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "support/model_builder.h"
#include "support/real_world.h"
#include "support/ssh_server.h"
#include "support/stab_program.h"

namespace stab {
namespace {

namespace fs = std::filesystem;
using test::ProcessResult;
using test::read_text;
using test::SshServer;
using test::StabProgram;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// The ```sh blocks of a Markdown file.
std::vector<std::string> shell_blocks(const fs::path& file) {
  std::vector<std::string> blocks;
  std::istringstream lines(read_text(file));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      inside = line == "```sh";
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

/// One network that all examples fit: operation 12 is a convolution, the last output is "logits".
std::string network() {
  std::string text = R"(
    input image f32[1,32,32,3]
    const w f32[4,3,3,3]
    const b f32[4]
    const v f32[4,3,3,4]
    const f f32[10,4096]
    const g f32[10]
    t0 f32[1,32,32,4] = CONV_2D(image, w, b) padding=SAME
  )";
  for (int i = 1; i <= 12; ++i) {
    text += "t" + std::to_string(i) + " f32[1,32,32,4] = CONV_2D(t" + std::to_string(i - 1) +
            ", v, b) padding=SAME\n";
  }
  return text + "logits f32[1,10] = FULLY_CONNECTED(t12, f, g)\noutput logits\n";
}

/// A network with the large input of the example with a detector.
std::string detector() {
  return R"(
    input image f32[1,320,320,3]
    const w f32[2,3,3,3]
    const b f32[2]
    boxes f32[1,40,40,2] = CONV_2D(image, w, b) padding=SAME stride=8
    output boxes
  )";
}

class Documentation : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::host_arch() != "x86_64") test::skip_or_fail("this machine is no x86_64");
    const fs::path folder = stab_.folder();
    const fs::path runtime = test::require_runtime("onert-1.30-x86_64");
    for (const char* place : {"ONE/Product/out", "ONE/Product/armv7l-linux.release/out"}) {
      fs::create_directories((folder / place).parent_path());
      fs::create_directory_symlink(runtime, folder / place);
    }
    fs::create_directories(folder / "bin");
    fs::create_symlink(fs::path(STAB_BUILD_DIR) / "stab", folder / "bin/stab");
    // What all commands share and no example repeats: a quick measurement in folders of the test.
    stab_.dir().write("work/stab.toml", "runtime = \"" + runtime.string() + "\"\nremote-dir = \"" +
                                            (folder / "device").string() +
                                            "\"\nlock-wait = \"10m\"\nwarmup = 0\nruns = 4\n"
                                            "rounds = 2\nmax-rounds = 2\n");
    make_package("mobilenet", network());
    make_package("detector", detector());
    stab_.dir().write("work/op_list.txt", "ruy:Conv2D,FullyConnected\n");
    stab_.dir().write("work/image.raw", std::string(std::size_t{1} * 320 * 320 * 3 * 4, '\0'));
  }

  void make_package(const std::string& name, const std::string& model) const {
    const fs::path file = stab_.dir().write("models/" + name + ".tflite", test::build_model(model));
    test::make_package(work(), name, file);
  }

  fs::path work() const { return stab_.folder() / "work"; }

  /// Both names of the documentation's hosts lead to the server.
  void name_hosts(const SshServer& server) const {
    const std::string there = "  HostName 127.0.0.1\n  Port " + std::to_string(server.port()) +
                              "\n  User " + server.user() + "\n";
    server.write_config("Host board 192.168.1.20\n" + there);
  }

  ProcessResult shell(const std::string& text, const SshServer& server) const {
    test::ProcessOptions options;
    options.environment =
        test::Environment{{"PATH", (stab_.folder() / "bin").string() +
                                       ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
                          {"HOME", stab_.folder().string()},
                          {"STAB_SSH_DIR", server.ssh_dir().string()}};
    options.working_dir = work();
    options.timeout_seconds = 300;
    return test::run_process({"sh", "-e", "-c", text}, options);
  }

  StabProgram stab_;
};

/// What a command of the project's own development comes to here. A bench runs, with this build.
/// Building and testing again from within a test would not end: scripts/test runs these commands
/// itself, and here the program must be there and know its options.
void check_development_command(const std::string& command) {
  std::istringstream words(command);
  std::string program;
  words >> program;
  if (program == "sudo") words >> program;
  if (program == "cmake" || program == "ctest") {
    std::string word;
    std::string preset;
    while (words >> word) {
      if (word == "--preset") words >> preset;
      if (word == "--install" && words >> word) preset = fs::path(word).filename().string();
    }
    const ProcessResult list =
        test::run_process({"cmake", "-S", STAB_SOURCE_DIR, "--list-presets=configure"},
                          {std::nullopt, STAB_SOURCE_DIR, 60});
    EXPECT_THAT(list.out, HasSubstr("\"" + preset + "\"")) << command;
    return;
  }
  const fs::path file = fs::path(STAB_SOURCE_DIR) / program;
  ASSERT_TRUE(fs::exists(file)) << command;
  if (program.starts_with("bench/")) {
    const ProcessResult figures =
        test::run_process({file.string(), STAB_BUILD_DIR}, {std::nullopt, {}, 300});
    EXPECT_EQ(figures.exit_code, 0) << command << "\n" << figures.err;
    EXPECT_THAT(figures.out, HasSubstr(" x stab")) << command;
    return;
  }
  const ProcessResult help = test::run_process({file.string(), "--help"});
  EXPECT_EQ(help.exit_code, 0) << command << "\n" << help.err;
  for (std::string word; words >> word && word != "#";) {
    if (word.starts_with("--")) {
      EXPECT_THAT(help.out, HasSubstr(word)) << command;
    }
  }
}

TEST_F(Documentation, EveryCommandOfTheReadmeRuns) {
  const SshServer server;
  name_hosts(server);
  int ran = 0;
  for (const std::string& block : shell_blocks(fs::path(STAB_SOURCE_DIR) / "README.md")) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.starts_with("#")) continue;
      while (line.ends_with("\\")) {
        std::string more;
        std::getline(lines, more);
        line.pop_back();
        line += more;
      }
      SCOPED_TRACE(line);
      if (line.find("stab ") != 0 && line.find(". ") != 0) {
        check_development_command(line);
        continue;
      }
      // An account that exists here, for the one of the example.
      std::string command = line;
      const std::size_t account = command.find("pi@");
      if (account != std::string::npos) command.replace(account, 3, server.user() + "@");
      const ProcessResult result = shell(command, server);
      EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
      ++ran;
    }
  }
  EXPECT_GE(ran, 12);
}

TEST_F(Documentation, TheNightlyJobRunsNightAfterNight) {
  const SshServer server;
  name_hosts(server);
  const std::vector<std::string> blocks = shell_blocks(fs::path(STAB_SOURCE_DIR) / "docs/ci.md");
  ASSERT_EQ(blocks.size(), 1U);
  const ProcessResult first = shell(blocks[0], server);
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_FALSE(fs::exists(work() / "results/summary.md")) << "the first night has no baseline";
  // Its good result is of an earlier day.
  for (const fs::directory_entry& entry : fs::directory_iterator(work() / "results")) {
    if (entry.path().filename().string().starts_with("good-"))
      fs::rename(entry.path(), work() / "results/good-2000-01-01.json");
  }
  const ProcessResult second = shell(blocks[0], server);
  ASSERT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_THAT(second.out, HasSubstr("Against the baseline"));
  EXPECT_THAT(read_text(work() / "results/summary.md"), StartsWith("### stab: mobilenet\n"));
  EXPECT_THAT(read_text(work() / "results/tonight.json"), HasSubstr("\"gate_percent\": 5"));
  EXPECT_TRUE(fs::exists(work() / "nnpkg_sched/mobilenet/metadata/stab.json"));
}

}  // namespace
}  // namespace stab
