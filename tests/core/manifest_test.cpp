// SPDX-License-Identifier: Apache-2.0
#include "stab/core/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stab {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Manifest parse(std::string_view text) {
  return parse_manifest(text, "p/MANIFEST");
}

std::string with_configs(const std::string& configs) {
  return R"({"models": ["a.tflite"], "model-types": ["tflite"])" +
         (configs.empty() ? "" : ", \"configs\": " + configs) + "}";
}

/// What a refusal says; fails the test when there is none.
std::string refusal(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("p/MANIFEST"));
    return error.what();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(Manifest, NamesTheOneModelAndItsFormat) {
  const Manifest manifest = parse(R"({"models": ["sub/./a.bin"], "model-types": ["circle"]})");
  EXPECT_EQ(manifest.model, "sub/a.bin");
  EXPECT_EQ(manifest.format, ModelFormat::circle);
  EXPECT_THAT(manifest.warnings, IsEmpty());
}

TEST(Manifest, TakesTheFormatFromTheExtensionWhereTypesAreMissingAndWarns) {
  for (const char* types : {"", R"(, "model-types": [])", R"(, "model-types": null)"}) {
    const Manifest manifest = parse(std::string(R"({"models": ["a.circle"])") + types + "}");
    EXPECT_EQ(manifest.format, ModelFormat::circle);
    ASSERT_EQ(manifest.warnings.size(), 1U);
    EXPECT_EQ(manifest.warnings[0].id, "manifest_no_model_types");
  }
  EXPECT_THAT(refusal(R"({"models": ["a.bin"]})"), HasSubstr("neither .tflite nor .circle"));
}

TEST(Manifest, FindsTheConfigurationThatTheRuntimeReads) {
  EXPECT_EQ(parse(with_configs("")).config, std::nullopt);
  EXPECT_EQ(parse(with_configs("null")).config, std::nullopt);
  EXPECT_EQ(parse(with_configs("[]")).config, std::nullopt);
  EXPECT_EQ(parse(with_configs(R"([""])")).config, std::nullopt);
  EXPECT_EQ(parse(with_configs("[null]")).config, std::nullopt);
  EXPECT_EQ(parse(with_configs(R"(["my.cfg"])")).config, "metadata/my.cfg");
  EXPECT_EQ(parse(with_configs(R"(["../my.cfg"])")).config, "my.cfg");
  const Manifest two = parse(with_configs(R"(["a.cfg", "b.cfg"])"));
  EXPECT_EQ(two.config, "metadata/a.cfg");
  ASSERT_EQ(two.warnings.size(), 1U);
  EXPECT_EQ(two.warnings[0].id, "manifest_many_configs");
}

TEST(Manifest, PutsOursFirstWhateverConfigsHeld) {
  for (const char* configs : {"", "null", "[]", R"([""])", R"(["my.cfg"])", "[null]"}) {
    const std::string text = scheduled_manifest(parse(with_configs(configs)));
    EXPECT_EQ(parse(text).config, "metadata/config.cfg") << configs;
    EXPECT_THAT(text, HasSubstr("\"config.cfg\"\n  ]")) << configs;
  }
  EXPECT_THAT(scheduled_manifest(parse(with_configs(R"(["a.cfg", "b.cfg"])"))),
              HasSubstr("\"config.cfg\",\n    \"b.cfg\"\n"));
}

TEST(Manifest, KeepsEveryOtherMemberAndTheirOrder) {
  const Manifest manifest =
      parse(R"({ "zeta": {"b": 1, "a": [true, null, 1.5]}, "major-version":"1",
    "minor-version":"3", "patch-version":"0", "configs":[], "models":["front.circle"], "model-types":["circle"],
    "pkg-inputs":["0:0:0"], "pkg-outputs":["0:0:0"], "model-connect":[{"from":"0:0:0","to":["0:0:1"]}],
    "alpha": "gr\u00fcn" })");
  EXPECT_EQ(
      scheduled_manifest(manifest),
      "{\n  \"zeta\": {\n    \"b\": 1,\n    \"a\": [\n      true,\n      null,\n      1.5\n    ]\n "
      " },\n"
      "  \"major-version\": \"1\",\n  \"minor-version\": \"3\",\n  \"patch-version\": \"0\",\n"
      "  \"configs\": [\n    \"config.cfg\"\n  ],\n  \"models\": [\n    \"front.circle\"\n  ],\n"
      "  \"model-types\": [\n    \"circle\"\n  ],\n  \"pkg-inputs\": [\n    \"0:0:0\"\n  ],\n"
      "  \"pkg-outputs\": [\n    \"0:0:0\"\n  ],\n  \"model-connect\": [\n    {\n      \"from\": "
      "\"0:0:0\",\n"
      "      \"to\": [\n        \"0:0:1\"\n      ]\n    }\n  ],\n  \"alpha\": \"grün\"\n}\n");
}

TEST(Manifest, IsTheSameAfterBeingScheduledTwice) {
  const std::string once = scheduled_manifest(parse(with_configs("[]")));
  EXPECT_EQ(scheduled_manifest(parse(once)), once);
}

TEST(Manifest, RefusesSeveralModelsWithTheReason) {
  EXPECT_THAT(
      refusal(R"({"models": ["a.tflite", "b.tflite"], "model-types": ["tflite", "tflite"]})"),
      HasSubstr("2 models, and the runtime refuses"));
}

TEST(Manifest, RefusesWhatNamesNoModelOrOneOutsideThePackage) {
  for (const char* text :
       {"{}", R"({"models": []})", R"({"models": "a.tflite"})", R"({"models": [1]})"})
    refusal(text);
  for (const char* path : {"../a.tflite", "/a.tflite", "", "x/../../a.tflite", "."}) {
    EXPECT_THAT(refusal(std::string(R"({"models": [")") + path + "\"]}"),
                HasSubstr("does not lie in the package"));
  }
  EXPECT_THAT(refusal(with_configs(R"(["../../my.cfg"])")),
              HasSubstr("does not lie in the package"));
}

TEST(Manifest, RefusesModelsOfOtherTypes) {
  EXPECT_THAT(refusal(R"({"models": ["a.tvn"], "model-types": ["tvn"]})"), HasSubstr("'tvn'"));
  EXPECT_THAT(refusal(R"({"models": ["a.tflite"], "model-types": ["TFLite"]})"),
              HasSubstr("'TFLite'"));
}

TEST(Manifest, RefusesTextThatIsNoJsonObjectAndSaysWhere) {
  for (const char* text : {"", "null", "[]", "\"a\"", "{", "{\"a\": \"\xff\"}"}) refusal(text);
  EXPECT_THAT(refusal("{\n  \"models\": [\"a.tflite\",],\n}"), HasSubstr("line 2"));
}

TEST(Manifest, ReadsAByteOrderMarkAndComments) {
  EXPECT_EQ(parse("\xEF\xBB\xBF// made by hand\n" + with_configs("")).model, "a.tflite");
}

TEST(Manifest, BoundsWhatItReads) {
  EXPECT_THAT(refusal(std::string((std::size_t{1} << 20U) + 1, ' ')), HasSubstr("1 MiB"));
  EXPECT_THAT(refusal(std::string(200'000, '[')), HasSubstr("64 levels"));
  std::string many = R"({"models": ["a.tflite"])";
  for (int i = 0; i < 20'000; ++i) many += ",\"" + std::to_string(i) + "\":0";
  EXPECT_THAT(refusal(many + "}"), HasSubstr("4,000 values"));
}

TEST(Manifest, MakesOneForABareModel) {
  const Manifest manifest = parse(make_manifest("a \"b\".tflite", ModelFormat::tflite));
  EXPECT_EQ(manifest.model, "a \"b\".tflite");
  EXPECT_EQ(manifest.format, ModelFormat::tflite);
  EXPECT_THAT(manifest.warnings, IsEmpty());
}

}  // namespace
}  // namespace stab
