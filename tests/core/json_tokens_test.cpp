// SPDX-License-Identifier: Apache-2.0
#include "core/json_tokens.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stab/core/error.h"

namespace stab {
namespace {

// Writes the tokens down in one line each.
class Recorder : public JsonHandler {
 public:
  void begin_object() override { text += "{"; }
  void end_object() override { text += "}"; }
  void begin_array() override { text += "["; }
  void end_array() override { text += "]"; }
  void key(std::string_view t) override { text += "k<" + std::string(t) + ">"; }
  void string(std::string_view t) override { text += "s<" + std::string(t) + ">"; }
  void number(std::string_view t) override { text += "n<" + std::string(t) + ">"; }
  void literal(std::string_view t) override { text += "l<" + std::string(t) + ">"; }
  std::string text;
};

std::string tokens(std::string_view json, std::size_t piece = 0) {
  Recorder recorder;
  JsonTokens parser(recorder, "cannot read", "a.json");
  if (piece == 0) piece = json.size() + 1;
  for (std::size_t at = 0; at < json.size(); at += piece) {
    const std::string copy(
        json.substr(at, piece));  // a piece of its own: nothing around it to read
    parser.feed(copy);
  }
  if (parser.depth() != 0) recorder.text += "...";
  return recorder.text;
}

std::string refusal(std::string_view json) {
  try {
    tokens(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_EQ(error.subject(), "a.json");
    return error.why();
  }
  ADD_FAILURE() << "accepted: " << json;
  return {};
}

TEST(JsonTokens, HandsOverEveryKindOfToken) {
  EXPECT_EQ(tokens(R"( {"a" : [1, -2.5e+3, "x", true, false, null, {}, []], "b":{"c":0}} )"),
            "{k<a>[n<1>n<-2.5e+3>s<x>l<true>l<false>l<null>{}[]]k<b>{k<c>n<0>}}");
}

TEST(JsonTokens, GivesTheSameTokensHoweverTheBytesArePieced) {
  const std::string_view json =
      "{\"a\\n\\u00e9\\ud83d\\ude00\":[\"\\\\\\\"\",12.5,tru"
      "e,\"\"],\"\xff\xfe\":{\"k\":\"long enough to cross pieces\"}}\n{\"b\":1}";
  const std::string whole = tokens(json);
  EXPECT_EQ(whole,
            "{k<a\n\xc3\xa9\xf0\x9f\x98\x80>[s<\\\">n<12.5>l<true>s<>]k<\xff\xfe>{k<k>s<long "
            "enough to cross pieces>}}{k<b>n<1>}");
  for (std::size_t piece = 1; piece < json.size(); ++piece)
    EXPECT_EQ(tokens(json, piece), whole) << piece;
}

TEST(JsonTokens, ReplacesHalfOfASurrogatePair) {
  EXPECT_EQ(tokens(R"({"\ud83d":"\ude00x\ud83dy\ud83d\u0041\ud83d\n\u0000"})"),
            std::string("{k<\xef\xbf\xbd>s<\xef\xbf\xbdx\xef\xbf\xbdy\xef\xbf\xbd"
                        "A\xef\xbf\xbd\n\0>}",
                        28));
}

TEST(JsonTokens, NamesFileAndByteOfWhatBreaksTheGrammar) {
  EXPECT_EQ(refusal("{\"a\" 1}"), "byte 5: unexpected '1'");
  EXPECT_EQ(refusal("{\"a\":}"), "byte 5: unexpected '}'");
  EXPECT_EQ(refusal("{\"a\":1,}"), "byte 7: unexpected '}'");
  EXPECT_EQ(refusal("{\"a\":[1}"), "byte 7: unexpected '}'");
  EXPECT_EQ(refusal("{\"a\":[1,]}"), "byte 8: unexpected ']'");
  EXPECT_EQ(refusal("{,}"), "byte 1: unexpected ','");
  EXPECT_EQ(refusal("{1:2}"), "byte 1: unexpected '1'");
  EXPECT_EQ(refusal("{\"a\":01}"), "byte 5: '01' is no value");
  EXPECT_EQ(refusal("{\"a\":1.}"), "byte 5: '1.' is no value");
  EXPECT_EQ(refusal("{\"a\":+1}"), "byte 5: '+1' is no value");
  EXPECT_EQ(refusal("{\"a\":nul}"), "byte 5: 'nul' is no value");
  EXPECT_EQ(refusal("{\"a\":NaN}"), "byte 5: 'NaN' is no value");
  EXPECT_EQ(refusal("{\"a\":'b'}"), "byte 5: unexpected '''");
  EXPECT_EQ(refusal(std::string("{\"a\":1}\0", 8)), "byte 7: unexpected byte 0x00");
  EXPECT_EQ(refusal("[1]"), "byte 0: unexpected '['");
  EXPECT_EQ(refusal("1"), "byte 0: unexpected '1'");
  EXPECT_EQ(refusal("}"), "byte 0: unexpected '}'");
  EXPECT_EQ(refusal("\xef\xbb\xbf{}"), "byte 0: unexpected byte 0xef");
  EXPECT_EQ(refusal("{\"a\nb\":1}"), "byte 3: a string holds byte 0x0a");
  EXPECT_EQ(refusal("{\"a\\qb\":1}"), "byte 4: unknown escape sequence with 'q'");
  EXPECT_EQ(refusal("{\"a\\u00zz\":1}"), "byte 7: a hexadecimal digit expected, not 'z'");
}

TEST(JsonTokens, LimitsDepthAndLength) {
  std::string deep = "{\"a\":";
  deep.append(59, '[');
  EXPECT_NO_THROW(tokens(deep + "]"));
  EXPECT_EQ(refusal(deep + "["), "byte 64: nested deeper than 60 levels");
  const std::string text(65536, 'x');
  EXPECT_EQ(tokens("{\"" + text + "\":1}"), "{k<" + text + ">n<1>}");
  EXPECT_EQ(refusal("{\"" + text + "x\":1}"), "byte 1: a string of more than 65536 bytes");
  EXPECT_EQ(refusal("{\"a\":" + std::string(513, '1') + "}"),
            "byte 5: a number of more than 512 bytes");
}

TEST(JsonTokens, KnowsWhetherAValueIsHalfThere) {
  const auto between = [](std::string_view json) {
    Recorder recorder;
    JsonTokens parser(recorder, "cannot read", "a.json");
    parser.feed(json);
    return parser.between_values();
  };
  for (const char* const json : {"", "{", "{\"a\":[", "{\"a\":[{}", "{\"a\":[{},", "{\"a\":[1 ,",
                                 "{\"a\":[\"x\" ", "{\"a\":1}"}) {
    EXPECT_TRUE(between(json)) << json;
  }
  for (const char* const json : {"{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":[{\"", "{\"a\":[1",
                                 "{\"a\":[\"x", "{\"a\":1,"}) {
    EXPECT_FALSE(between(json)) << json;
  }
}

}  // namespace
}  // namespace stab
