// SPDX-License-Identifier: Apache-2.0
#include "support/far_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "stab/core/config.h"
#include "stab/core/manifest.h"
#include "stab/core/result.h"
#include "stab/core/sha256.h"
#include "support/real_world.h"

namespace stab::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::set<std::string> listed(const FarDevice& device, const std::string& folder) {
  std::istringstream lines(device.shell("ls -A " + folder + " 2>/dev/null"));
  std::set<std::string> names;
  for (std::string line; std::getline(lines, line);) names.insert(line);
  return names;
}

/// The written package says in each of its files what the record says.
void expect_written(const StabProgram& stab, const std::string& delivery) {
  const fs::path metadata = stab.written("onet") / "metadata";
  const Schedule record = parse_schedule(read_text(metadata / "stab.json"), "stab.json");
  EXPECT_EQ(record.model_sha256, sha256_hex(read_text(require_model("onet.tflite"))));
  // Everything on cpu needs nothing; the way was found for the other plans all the same.
  if (!record.chosen.placement.empty() || record.works != "none_needed") {
    EXPECT_EQ(record.works, delivery);
  }
  const Manifest manifest = parse_manifest(read_text(metadata / "MANIFEST"), "MANIFEST");
  EXPECT_EQ(manifest.config, "metadata/config.cfg");
  const RuntimeKeys config = parse_config(read_text(metadata / "config.cfg"), "config.cfg").keys;
  EXPECT_THAT(config, Contains(Pair("NUM_THREADS", "1")));
  const std::string environment = read_text(metadata / "stab.env");
  EXPECT_THAT(environment, HasSubstr("BACKENDS='cpu"));
  for (const auto& [key, value] : record.chosen.keys) {
    EXPECT_THAT(environment, HasSubstr(key + "='" + value + "'; export " + key + "\n"));
    if (delivery == "config") {
      EXPECT_THAT(config, Contains(Pair(key, value)));
    }
  }
  if (delivery == "env") {
    EXPECT_THAT(config, Not(Contains(Key("OP_BACKEND_MAP"))));
  }
}

/// The lock ends in the process number of the stab that holds it: by now that may be another one,
/// which still runs.
void expect_no_lock_of_ours(const FarDevice& device) {
  const std::string lock = device.shell("ls -ld /tmp/.stab-lock 2>/dev/null");
  if (lock.empty()) return;
  const int holder = std::stoi(lock.substr(lock.rfind(':') + 1));
  EXPECT_EQ(kill(holder, 0), 0) << "left behind: " << lock;
}

void expect_only_the_cache(const FarDevice& device) {
  EXPECT_THAT(listed(device, device.work_folder),
              AllOf(Contains(".stab-folder"), Contains(StartsWith("rt-")),
                    Contains(StartsWith("pkg-")), Contains("manifest"),
                    Each(MatchesRegex("\\.stab-folder|manifest|(rt|pkg)-[0-9a-f]+"))));
  expect_no_lock_of_ours(device);
  // The pattern does not match the command that looks for it.
  EXPECT_EQ(device.shell("cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep '^" +
                         device.work_folder + "/rt-[0-9a-f]*/stab-runner'"),
            "");
}

}  // namespace

StabProgram stab_for(const FarDevice& device) {
  return StabProgram({{"STAB_SSH_DIR", device.ssh_dir.string()}});
}

Words words_for(const FarDevice& device) {
  return {"--ip", device.ip, "--remote-dir", device.work_folder};
}

void expect_whole_job(const FarDevice& device, const std::string& runtime,
                      const std::string& delivery) {
  const StabProgram stab = stab_for(device);
  const Words there = words_for(device) + Words{"--runtime",   require_runtime(runtime).string(),
                                                "--lock-wait", "10m",
                                                "-w",          "1",
                                                "-r",          "6",
                                                "--rounds",    "3"};
  const ProcessResult scheduled = stab.run(
      Words{"--nnpackage", stab.real_package("onet", "onet.tflite").string(), "--max-rounds", "3",
            "--trace-dir", "traces", "-o", "out", "--json", "result.json"} +
      there);
  ASSERT_EQ(scheduled.exit_code, 0) << scheduled.err;
  EXPECT_THAT(last_line(scheduled.out), StartsWith("proven: wrote "));
  EXPECT_THAT(scheduled.out, HasSubstr(device.processor));
  EXPECT_THAT(read_text(stab.folder() / "result.json"), HasSubstr("\"outcome\": \"proven\""));
  expect_written(stab, delivery);
  EXPECT_TRUE(fs::exists(stab.traces("onet") / "cpu_1.0.json"));
  expect_only_the_cache(device);

  // Times are proven above; a second look at them would only be a second throw of the dice.
  const ProcessResult verified = stab.run(
      Words{"verify", "--nnpackage", stab.written("onet").string(), "--no-verify"} + there);
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
  EXPECT_THAT(verified.out, AllOf(HasSubstr("applied   pass"), HasSubstr("equal     pass")));
  expect_only_the_cache(device);

  device.shell("echo mine >" + device.work_folder + "/mine");
  const ProcessResult cleaned = stab.run(Words{"clean"} + words_for(device));
  EXPECT_EQ(cleaned.exit_code, 0) << cleaned.err;
  EXPECT_EQ(listed(device, device.work_folder), std::set<std::string>{"mine"});
  device.shell("rm -r " + device.work_folder);
}

}  // namespace stab::test
