// SPDX-License-Identifier: Apache-2.0
#include "stab/core/pins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/error.h"
#include "support/model_builder.h"

namespace stab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

const std::vector<std::string> k_all = {"cpu", "ruy", "xnnpack"};

Model small_model() {
  const std::string bytes = test::build_model(R"(
    input x f32[1,8,8,3]
    input c bool[1]
    const w f32[4,3,3,3]
    const w2 f32[4,3,3,4]
    const b f32[4]
    first f32[1,8,8,4] = CONV_2D(x, w, b)
    a=b = RELU6(first)
    last = CONV_2D(a=b, w2, b)
    e = IF(c, last) then=body else=body
    output e
    graph body
    input x f32[1,8,8,4]
    output x
  )");
  return parse_model(std::as_bytes(std::span(bytes)), ModelFormat::tflite, "built");
}

std::map<OpId, std::string> resolve(std::vector<std::string> texts,
                                    const std::vector<std::string>& backends = k_all,
                                    const Discovered& discovered = {}) {
  std::vector<Pin> pins;
  for (const std::string& text : texts) pins.push_back(parse_pin(text));
  return resolve_pins(small_model(), pins, default_op_list(), backends, discovered);
}

std::string refusal(std::vector<std::string> texts, ErrorKind kind,
                    const std::vector<std::string>& backends = k_all,
                    const Discovered& discovered = {}) {
  try {
    resolve(texts, backends, discovered);
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    return error.what();
  }
}

TEST(Pins, NameOperationsByIndexTypeOrFirstOutput) {
  EXPECT_THAT(resolve({"2=ruy"}), ElementsAre(Pair(OpId{0, 2}, "ruy")));
  EXPECT_THAT(resolve({"0:2=xnnpack"}), ElementsAre(Pair(OpId{0, 2}, "xnnpack")));
  EXPECT_THAT(resolve({"Conv2D=ruy"}),
              ElementsAre(Pair(OpId{0, 0}, "ruy"), Pair(OpId{0, 2}, "ruy")));
  EXPECT_THAT(resolve({"type:CONV_2D=ruy"}),
              ElementsAre(Pair(OpId{0, 0}, "ruy"), Pair(OpId{0, 2}, "ruy")));
  EXPECT_THAT(resolve({"ElementwiseActivation=cpu"}), ElementsAre(Pair(OpId{0, 1}, "cpu")));
  EXPECT_THAT(resolve({"name:last=ruy"}), ElementsAre(Pair(OpId{0, 2}, "ruy")));
}

TEST(Pins, TheLastEqualsSignSeparatesTheBackend) {
  EXPECT_EQ(parse_pin("name:a=b=cpu").selector, "a=b");
  EXPECT_EQ(parse_pin("name:12=cpu").selector, "12");
  EXPECT_EQ(parse_pin("name:dir/conv:0=cpu").selector, "dir/conv:0");
}

TEST(Pins, AMoreExactOneBeatsAType) {
  EXPECT_THAT(resolve({"2=cpu", "Conv2D=ruy"}),
              ElementsAre(Pair(OpId{0, 0}, "ruy"), Pair(OpId{0, 2}, "cpu")));
  EXPECT_THAT(resolve({"Conv2D=ruy", "name:last=xnnpack"}),
              ElementsAre(Pair(OpId{0, 0}, "ruy"), Pair(OpId{0, 2}, "xnnpack")));
}

TEST(Pins, ThatDisagreeAreAUsageError) {
  EXPECT_THAT(refusal({"Conv2D=ruy", "type:Conv2D=cpu"}, ErrorKind::usage),
              AllOf(HasSubstr("type:Conv2D=cpu"), HasSubstr("'Conv2D=ruy'"), HasSubstr("0:0")));
  EXPECT_EQ(refusal({"Conv2D=ruy", "Conv2D=ruy"}, ErrorKind::usage), "");
}

TEST(Pins, ThatMatchNothingAreInputErrors) {
  EXPECT_THAT(refusal({"4=ruy"}, ErrorKind::input), HasSubstr("has 4 operations"));
  EXPECT_THAT(refusal({"7:0=ruy"}, ErrorKind::input), HasSubstr("2 subgraphs"));
  EXPECT_THAT(refusal({"Softmax=cpu"}, ErrorKind::input),
              AllOf(HasSubstr("no Softmax"), HasSubstr("Conv2D, If, ReLU")));
  EXPECT_THAT(refusal({"name:nothing=cpu"}, ErrorKind::input), HasSubstr("name:nothing=cpu"));
}

TEST(Pins, ToABackendThatCannotRunTheOperationAreInputErrors) {
  EXPECT_THAT(refusal({"1=ruy"}, ErrorKind::input),
              AllOf(HasSubstr("0:1"), HasSubstr("not listed for ReLU")));
  EXPECT_THAT(refusal({"3=ruy"}, ErrorKind::input), HasSubstr("control flow"));
  EXPECT_THAT(refusal({"0=acl_cl"}, ErrorKind::input), HasSubstr("cpu, ruy, xnnpack"));
}

TEST(Pins, ToABackendThatIsNotExploredYetAreTakenAtTheirWordUntilItIs) {
  const std::vector<std::string> backends = {"cpu", "acl_neon"};
  EXPECT_THAT(resolve({"1=acl_neon"}, backends), ElementsAre(Pair(OpId{0, 1}, "acl_neon")));
  EXPECT_THAT(refusal({"3=acl_neon"}, ErrorKind::input, backends), HasSubstr("control flow"));
  const Discovered discovered = {{"acl_neon", {{0, 0}}}};
  EXPECT_THAT(resolve({"0=acl_neon"}, backends, discovered),
              ElementsAre(Pair(OpId{0, 0}, "acl_neon")));
  EXPECT_THAT(refusal({"1=acl_neon"}, ErrorKind::input, backends, discovered),
              HasSubstr("did not run it"));
}

TEST(Pins, OfAnyOtherFormAreUsageErrors) {
  for (const std::string text :
       {"", "=", "12", "12=", "=ruy", "12=r;y", "1:2:3=ruy", "-1=ruy", "12x=ruy", "0:=ruy",
        "99999999999999999999=ruy", "type:=ruy", "name:=ruy", "type:a:b=ruy", "foo:Conv2D=ruy"}) {
    try {
      parse_pin(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
      EXPECT_THAT(error.what(), HasSubstr("--pin"));
    }
  }
}

}  // namespace
}  // namespace stab
