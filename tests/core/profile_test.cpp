// SPDX-License-Identifier: Apache-2.0
#include "stab/core/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <limits>

#include "stab/core/error.h"

namespace stab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Context full_context() {
  Context context;
  context.package = {"onet", "aa", {{"RUY_THREADS", "2"}}};
  context.model = {"onet.tflite", "bb", ModelFormat::circle, {46, 3}};
  context.runtime.sha256 = "cc";
  context.runtime.version = "1.30.0";
  context.runtime.own_runner = false;
  context.runtime.keys = {"BACKENDS", "NUM_THREADS"};
  context.runtime.backends = {{"cpu", "dd", true, ""},
                              {"xnnpack", "", false, "no libbackend_xnnpack.so"}};
  DeviceInfo device;
  device.id = "ee";
  device.name = "board 3";
  device.transport = "ssh";
  device.host = "10.0.0.7";
  device.kernel = "6.1";
  device.boot_id = "ff";
  device.emulated = true;
  device.arch = "armv7l";
  device.float_abi = "hard";
  device.libc = "glibc 2.36";
  device.soc = "Exynos";
  device.cores = {{1800000, 4, "0xf"}, {std::nullopt, 4, ""}};
  device.memory_bytes = 1L << 31;
  context.device = device;
  context.settings.affinity = "0xf0";
  context.settings.seeds = {1, 2, 3};
  context.settings.inputs = {"0011"};
  context.settings.shapes = {{"input", {1, 48, 48, 3}}};
  context.settings.set = {{"FP16_ENABLE", "1"}};
  context.settings.env = {{"LD_PRELOAD", ""}};
  return context;
}

ProfileRun full_run() {
  ProfileRun run;
  run.id = "r0007";
  run.kind = RunKind::calibrate;
  run.label = "ruy";
  run.threads = 4;
  run.round = 3;
  run.order = 2;
  run.traced = false;
  run.warmup = 5;
  run.runs = 10;
  run.keys = {{"BACKENDS", "cpu;ruy"}, {"NUM_THREADS", "4"}};
  run.placement = Placement{{{0, 3}, "ruy"}, {{0, 12}, "ruy"}};
  run.status = RunStatus::signal;
  run.exit = 139;
  run.signal = 11;
  run.reason = "Error during nnfw_session::run";
  run.averaged = RunFile{"ruy_4.3.json", 4321, "ab"};
  run.chrome = RunFile{"ruy_4.3.chrome.json", 54321, "cd"};
  run.log = RunFile{"ruy_4.3.log", 0, "ef"};
  run.load_us = 4250;
  run.prepare_us = 18007.5;
  run.execute = ExecuteTimes{12300.25, 12011, 14910, 12288, {12300.5, 0, 12299}};
  run.cpu_time_us = 48000;
  run.peak_rss_kb = 19384;
  run.before = DeviceState{"performance", {1800000, 1800000}, 45000, false, 0.25};
  run.after = DeviceState{};
  return run;
}

Profile full_profile() {
  Profile profile;
  profile.stab = {"0.1.0", "deadbeef"};
  profile.measured_at = "2026-01-02T03:04:05Z";
  profile.complete = true;
  profile.context = full_context();
  profile.runs = {full_run(), ProfileRun{}};
  profile.runs[1].id = "r0008";
  profile.runs[1].label = "cpu";
  return profile;
}

std::string refusal(std::string_view text) {
  try {
    parse_profile(text, "traces/onet/profile.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.subject(), "traces/onet/profile.json");
    return error.why();
  }
  ADD_FAILURE() << "accepted: " << text.substr(0, 300);
  return {};
}

// `text` with the first `what` replaced.
std::string with(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

TEST(Profile, ComesBackAsItWasWritten) {
  const std::string text = render_profile(full_profile());
  const Profile back = parse_profile(text, "p");
  EXPECT_EQ(render_profile(back), text);
  const ProfileRun& run = back.runs.at(0);
  EXPECT_EQ(run.kind, RunKind::calibrate);
  EXPECT_EQ(run.status, RunStatus::signal);
  EXPECT_EQ(run.placement, full_run().placement);
  EXPECT_EQ(run.chrome, full_run().chrome);
  EXPECT_EQ(run.execute, full_run().execute);
  EXPECT_EQ(run.before->temperature_mc, 45000);
  EXPECT_EQ(run.before->throttled, false);
  EXPECT_EQ(back.context.device->cores.at(1).max_khz, std::nullopt);
  EXPECT_EQ(back.context.model.format, ModelFormat::circle);
  EXPECT_FALSE(back.context.runtime.own_runner);
  EXPECT_EQ(back.context.settings.shapes, full_context().settings.shapes);
}

TEST(Profile, WritesUnknownAsNullAndNeverAsZero) {
  Profile profile;
  profile.runs = {ProfileRun{}};
  const std::string text = render_profile(profile);
  for (const char* const member :
       {"exit",       "signal",      "reason",      "placement", "load_us", "prepare_us",
        "execute_us", "cpu_time_us", "peak_rss_kb", "averaged",  "chrome",  "log",
        "before",     "after",       "device",      "affinity",  "commit",  "model",
        "runtime",    "sha256",      "seeds",       "inputs",    "shapes"}) {
    EXPECT_THAT(text, HasSubstr("\"" + std::string(member) + "\": null")) << member;
  }
}

TEST(Profile, WritesMembersInTheDocumentedOrderAndPlainArraysOnALine) {
  const std::string text = render_profile(full_profile());
  EXPECT_THAT(text, ::testing::StartsWith(
                        "{\n  \"schema_version\": 1,\n  \"kind\": \"profile\",\n  \"stab\": {\n"));
  EXPECT_THAT(text, HasSubstr("      \"op_counts\": [46, 3]\n"));
  EXPECT_THAT(text, HasSubstr("\"samples\": [12300.5, 0.0, 12299.0]"));
  EXPECT_THAT(
      text,
      HasSubstr("\"placement\": {\n        \"0:3\": \"ruy\",\n        \"0:12\": \"ruy\"\n      }"));
  EXPECT_TRUE(text.ends_with("}\n"));
}

TEST(Profile, IsValidWhateverTheTextsHold) {
  Profile profile = full_profile();
  profile.runs[0].reason = "bad \xff byte, \"quote\", line\nbreak, \x01";
  profile.runs[0].cpu_time_us = std::numeric_limits<double>::quiet_NaN();
  const Profile back = parse_profile(render_profile(profile), "p");
  EXPECT_EQ(back.runs[0].reason, "bad \xef\xbf\xbd byte, \"quote\", line\nbreak, \x01");
  EXPECT_EQ(back.runs[0].cpu_time_us, std::nullopt);
}

TEST(Profile, HasTheSameBytesInEveryLocale) {
  const std::string text = render_profile(full_profile());
  for (const char* const name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"}) {
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  }
  EXPECT_EQ(render_profile(full_profile()), text);
  EXPECT_EQ(render_profile(parse_profile(text, "p")), text);
  std::setlocale(LC_ALL, "C");
}

TEST(Profile, IgnoresFieldsThatItDoesNotKnow) {
  const std::string text = render_profile(full_profile());
  const std::string newer =
      with(text, "\"complete\": true", "\"complete\": true, \"more\": {\"deep\": [1, {}]}");
  EXPECT_EQ(render_profile(parse_profile(newer, "p")), text);
}

TEST(Profile, TakesAbsentFieldsAsUnknown) {
  const Profile profile = parse_profile(
      R"({"schema_version": 1, "kind": "profile", "complete": false, "context": {"package": {"name": "x"}, "model": {"sha256": "y"}},
          "runs": [{"id": "r1", "kind": "single", "label": "cpu", "threads": 1, "round": 0, "status": "no_trace"}]})",
      "p");
  EXPECT_FALSE(profile.complete);
  EXPECT_EQ(profile.context.device, std::nullopt);
  EXPECT_EQ(profile.runs.at(0).execute, std::nullopt);
  EXPECT_EQ(profile.runs.at(0).status, RunStatus::no_trace);
  EXPECT_EQ(profile.runs.at(0).exit, std::nullopt);
}

TEST(Profile, NamesThePlaceOfAWrongValue) {
  const std::string text = render_profile(full_profile());
  EXPECT_EQ(refusal(with(text, "\"round\": 3", "\"round\": \"3\"")),
            "runs[0].round: a whole number expected");
  EXPECT_EQ(refusal(with(text, "\"round\": 3", "\"round\": -3")),
            "runs[0].round: a number from 0 to 2147483647 expected");
  EXPECT_EQ(refusal(with(text, "\"round\": 3", "\"round\": 18446744073709551615")),
            "runs[0].round: a number from 0 to 2147483647 expected");
  EXPECT_EQ(refusal(with(text, "\"round\": 3", "\"turn\": 3")), "runs[0]: 'round' is missing");
  EXPECT_EQ(refusal(with(text, "\"kind\": \"calibrate\"", "\"kind\": \"test\"")),
            "runs[0].kind: 'test' is not known");
  EXPECT_EQ(refusal(with(text, "\"0:3\"", "\"three\"")),
            "runs[0].placement.three: no operation is named so");
  EXPECT_EQ(refusal(with(text, "\"traced\": false", "\"traced\": 0")),
            "runs[0].traced: true or false expected");
  EXPECT_EQ(refusal(with(text, "12300.5", "\"x\"")),
            "runs[0].execute_us.samples[0]: a number expected");
  EXPECT_EQ(refusal(with(text, "[46, 3]", "46")), "context.model.op_counts: an array expected");
  EXPECT_EQ(refusal(with(text, "\"format\": \"circle\"", "\"format\": \"onnx\"")),
            "context.model.format: unknown format");
  EXPECT_EQ(refusal(with(text, "\"schema_version\": 1", "\"schema_version\": 2")),
            "its schema 2 is newer than this stab's 1");
  EXPECT_EQ(refusal(with(text, "\"kind\": \"profile\"", "\"kind\": \"schedule\"")),
            "it is no document of the kind 'profile'");
}

TEST(Profile, NeverLeadsOutOfItsFolder) {
  const std::string text = render_profile(full_profile());
  for (const char* const name : {"../secret", "/etc/passwd", "..", "", "a/b"}) {
    EXPECT_EQ(refusal(with(text, "ruy_4.3.json", name)),
              "runs[0].files.averaged.name: a file name without a folder expected");
  }
}

TEST(Profile, RefusesWhatIsNoDocument) {
  EXPECT_EQ(refusal(""), "it is empty");
  EXPECT_EQ(refusal("[]"), "an object expected");
  EXPECT_EQ(refusal("{}"), "it is no document of the kind 'profile'");
  EXPECT_THAT(refusal("{\"kind\": \"profile\""), HasSubstr("cut off"));
  EXPECT_THAT(refusal("{\"kind\": \"\xff\"}"), HasSubstr("it is no JSON"));
  EXPECT_EQ(refusal(std::string(200000, '[')), "it is nested deeper than 64 levels");
  EXPECT_EQ(refusal("{\"kind\": 1e999}"), "it is no JSON: a number is out of range");
  const std::string text = render_profile(full_profile());
  for (std::size_t size = 0; size + 1 < text.size(); size += 97)
    EXPECT_THAT(refusal(text.substr(0, size)), Not(HasSubstr("missing")));
}

}  // namespace
}  // namespace stab
