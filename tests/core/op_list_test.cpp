// SPDX-License-Identifier: Apache-2.0
#include "stab/core/op_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/error.h"
#include "support/model_builder.h"

namespace stab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<std::string> k_all = {"cpu", "ruy", "xnnpack"};

Model model_of(std::string_view text, const test::BuildOptions& options = {}) {
  const std::string bytes = test::build_model(text, options);
  return parse_model(std::as_bytes(std::span(bytes)), options.format, "built");
}

Candidates candidates_of(const Model& model, int index, const Discovered& discovered = {}) {
  return candidates(model, {0, index}, default_op_list(), k_all, discovered);
}

std::string refusal(std::string_view text) {
  try {
    parse_op_list(text, "op_list.txt");
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("op_list.txt"));
    return error.what();
  }
}

constexpr std::string_view k_float_model = R"(
  input x f32[1,8,8,3]
  const w f32[4,3,3,3]
  const d f32[1,3,3,4]
  const b f32[4]
  a f32[1,8,8,4] = CONV_2D(x, w, b)
  c = DEPTHWISE_CONV_2D(a, d, b)
  e = ADD(a, c)
  output e
)";

TEST(OpList, BackendsAreCandidatesForTheTypesTheyAreListedFor) {
  const Model model = model_of(k_float_model);
  EXPECT_THAT(candidates_of(model, 0).backends, ElementsAre("cpu", "ruy", "xnnpack"));
  EXPECT_EQ(candidates_of(model, 0).fixed, std::nullopt);
  EXPECT_THAT(candidates_of(model, 1).backends, ElementsAre("cpu", "xnnpack"));
  EXPECT_THAT(candidates_of(model, 2).backends, ElementsAre("cpu"));
  EXPECT_EQ(candidates_of(model, 2).fixed, FixedReason::no_candidate);
}

TEST(OpList, OnlyBackendsThatAreAskedForAreCandidatesAndCpuAlwaysIs) {
  const Model model = model_of(k_float_model);
  const std::vector<std::string> order = {"xnnpack", "ruy", "cpu", "xnnpack"};
  EXPECT_THAT(candidates(model, {0, 0}, default_op_list(), order).backends,
              ElementsAre("cpu", "xnnpack", "ruy"));
  EXPECT_THAT(candidates(model, {0, 0}, default_op_list(), {}).backends, ElementsAre("cpu"));
}

TEST(OpList, AQuantisedModelStaysOnCpu) {
  const Model model = model_of(R"(
    input x u8[1,8,8,3]@0.5:128
    const w u8[4,3,3,3]@0.25:128
    const b i32[4]@0.125:0
    a u8[1,8,8,4]@0.5:0 = CONV_2D(x, w, b)
    output a
  )");
  EXPECT_THAT(candidates_of(model, 0).backends, ElementsAre("cpu"));
  EXPECT_EQ(*why_not(model, {0, 0}, "ruy", default_op_list()), "ruy takes f32 input only, not u8");
}

TEST(OpList, AFloatInputWithInt8WeightsStaysOnCpuBecauseTheBackendsWouldReadThemAsFloats) {
  const Model model = model_of(R"(
    input x f32[1,16]
    const w i8[4,16]@0.25:0
    a f32[1,4] = FULLY_CONNECTED(x, w, -)
    output a
  )");
  EXPECT_THAT(candidates_of(model, 0).backends, ElementsAre("cpu"));
  EXPECT_EQ(*why_not(model, {0, 0}, "xnnpack", default_op_list()),
            "xnnpack takes f32 weights only, not i8");
  const OpList own = parse_op_list("ruy:FullyConnected\n", "op_list.txt");
  EXPECT_NE(why_not(model, {0, 0}, "ruy", own), std::nullopt);
}

TEST(OpList, HalfPrecisionWeightsBehindDequantizeStayOnCpuAndTheRestIsScheduled) {
  const Model model = model_of(R"(
    input x f32[1,8,8,3]
    const half f16[4,3,3,3]
    const b f32[4]
    w f32[4,3,3,3] = DEQUANTIZE(half)
    a f32[1,8,8,4] = CONV_2D(x, w, b)
    const w2 f32[4,3,3,4]
    c = CONV_2D(a, w2, b)
    output c
  )");
  EXPECT_THAT(candidates_of(model, 1).backends, ElementsAre("cpu"));
  EXPECT_THAT(*why_not(model, {0, 1}, "ruy", default_op_list()), HasSubstr("constant weights"));
  EXPECT_THAT(candidates_of(model, 2).backends, ElementsAre("cpu", "ruy", "xnnpack"));
}

TEST(OpList, XnnpackIsNoCandidateWhereShapesMayChangeOrAConvolutionLacksItsBias) {
  const Model dynamic = model_of(R"(
    input x f32[?,8,8,3]
    const w f32[4,3,3,3]
    const b f32[4]
    a f32[?,8,8,4] = CONV_2D(x, w, b)
    output a
  )");
  EXPECT_THAT(candidates_of(dynamic, 0).backends, ElementsAre("cpu", "ruy"));
  const Model bare = model_of(R"(
    input x f32[1,8,8,3]
    const w f32[4,3,3,3]
    a f32[1,8,8,4] = CONV_2D(x, w, -)
    output a
  )");
  EXPECT_THAT(candidates_of(bare, 0).backends, ElementsAre("cpu", "ruy"));
}

TEST(OpList, ControlFlowCustomAndUnknownOperationsHaveNoCandidates) {
  const Model model = model_of(R"(
    input c bool[1]
    input x f32[4]
    a f32[4] = IF(c, x) then=yes else=no
    b = CUSTOM:MyOperation(a)
    d = CODE:412(b)
    e = HARD_SWISH(d)
    output e
    graph yes
    input x f32[4]
    a = RELU(x)
    output a
    graph no
    input x f32[4]
    a = NEG(x)
    output a
  )");
  const auto fixed = [&](OpId op) { return candidates(model, op, default_op_list(), k_all); };
  EXPECT_EQ(fixed({0, 0}).fixed, FixedReason::control_flow);
  EXPECT_EQ(fixed({0, 1}).fixed, FixedReason::custom);
  EXPECT_EQ(fixed({0, 2}).fixed, FixedReason::no_candidate);
  EXPECT_EQ(fixed({0, 3}).fixed, FixedReason::no_candidate);
  EXPECT_EQ(fixed({1, 0}).fixed, FixedReason::subgraph);
  for (const OpId op : {OpId{0, 0}, OpId{0, 1}, OpId{0, 2}, OpId{0, 3}, OpId{1, 0}}) {
    EXPECT_THAT(fixed(op).backends, IsEmpty());
  }
  EXPECT_THAT(*why_not(model, {0, 2}, "cpu", default_op_list()), HasSubstr("BUILTIN_412"));
}

TEST(OpList, AnIndexThatAlsoMeansAnOperationOfABodyIsNoCandidateAndIsReported) {
  const Model model = model_of(R"(
    input c bool[1]
    input x f32[1,16]
    const w f32[16,16]
    const b f32[16]
    a = FULLY_CONNECTED(x, w, b)
    d f32[1,16] = IF(c, a) then=yes else=yes
    e = FULLY_CONNECTED(d, w, b)
    output e
    graph yes
    input x f32[1,16]
    a = RELU(x)
    output a
  )");
  EXPECT_THAT(candidates_of(model, 0).backends, ElementsAre("cpu"));
  EXPECT_THAT(candidates_of(model, 2).backends, ElementsAre("cpu", "ruy", "xnnpack"));
  const auto left_out = unmappable(model, default_op_list(), k_all);
  ASSERT_EQ(left_out.size(), 1u);
  EXPECT_EQ(left_out[0].op, (OpId{0, 0}));
  EXPECT_EQ(left_out[0].wanted, "ruy");
  EXPECT_THAT(left_out[0].reason, HasSubstr("1:0 (ReLU)"));
}

TEST(OpList, WhatRunsWereSeenToDoReplacesTheList) {
  const Model model = model_of(k_float_model);
  const Discovered discovered = {{"acl_neon", {{0, 0}, {0, 2}}}, {"ruy", {}}};
  const std::vector<std::string> backends = {"cpu", "ruy", "acl_neon", "gpu_cl"};
  EXPECT_THAT(candidates(model, {0, 0}, default_op_list(), backends, discovered).backends,
              ElementsAre("cpu", "acl_neon"));
  EXPECT_THAT(candidates(model, {0, 1}, default_op_list(), backends, discovered).backends,
              ElementsAre("cpu"));
  EXPECT_THAT(candidates(model, {0, 2}, default_op_list(), backends, discovered).backends,
              ElementsAre("cpu", "acl_neon"));
  EXPECT_EQ(*why_not(model, {0, 0}, "gpu_cl", default_op_list(), discovered),
            "it is not known what gpu_cl can run");
}

TEST(OpList, TheOriginalsFileIsRead) {
  const OpList list = parse_op_list(
      "ruy:Conv2D,FullyConnected\nxnnpack:Conv2D,DepthwiseConv2D,FullyConnected\n", "op_list.txt");
  EXPECT_EQ(
      list,
      (OpList{{"ruy", {{"Conv2D", {}}, {"FullyConnected", {}}}},
              {"xnnpack", {{"Conv2D", {}}, {"DepthwiseConv2D", {}}, {"FullyConnected", {}}}}}));
  const Model model = model_of(k_float_model);
  for (int op = 0; op < 3; ++op) {
    EXPECT_EQ(candidates(model, {0, op}, list, k_all).backends, candidates_of(model, op).backends);
  }
}

TEST(OpList, ElementTypesBlanksAndCommentsAreRead) {
  const OpList list = parse_op_list(
      "# mine\r\n\r\n  acl_neon : Conv2D[ f32 , u8 ], ElementwiseActivation # all of "
      "them\r\ncpu:\r\n",
      "op_list.txt");
  EXPECT_EQ(
      list,
      (OpList{{"acl_neon",
               {{"Conv2D", {DataType::float32, DataType::uint8}}, {"ElementwiseActivation", {}}}},
              {"cpu", {}}}));
  const Model model = model_of(R"(
    input x u8[1,8,8,3]@0.5:128
    const w u8[4,3,3,3]@0.25:128
    const b i32[4]@0.125:0
    a u8[1,8,8,4]@0.5:0 = CONV_2D(x, w, b)
    c = RELU6(a)
    d = ADD(c, a)
    output d
  )");
  const std::vector<std::string> backends = {"cpu", "acl_neon"};
  EXPECT_THAT(candidates(model, {0, 0}, list, backends).backends, ElementsAre("cpu", "acl_neon"));
  EXPECT_THAT(candidates(model, {0, 1}, list, backends).backends, ElementsAre("cpu", "acl_neon"));
  EXPECT_THAT(candidates(model, {0, 2}, list, backends).backends, ElementsAre("cpu"));
}

TEST(OpList, AnEmptyListLeavesEverythingOnCpu) {
  EXPECT_THAT(parse_op_list("", "op_list.txt"), IsEmpty());
  EXPECT_THAT(candidates(model_of(k_float_model), {0, 0}, {}, k_all).backends, ElementsAre("cpu"));
}

TEST(OpList, AMistakeIsRefusedWithItsLine) {
  EXPECT_THAT(refusal("ruy:Conv2D\nxnnpack\n"), AllOf(HasSubstr("line 2"), HasSubstr("colon")));
  EXPECT_THAT(refusal("ruy:Convolution\n"), AllOf(HasSubstr("line 1"), HasSubstr("'Convolution'")));
  EXPECT_THAT(refusal("ruy:Conv2D[float]\n"), HasSubstr("'float'"));
  EXPECT_THAT(refusal("ruy:Conv2D[]\n"), HasSubstr("element type ''"));
  EXPECT_THAT(refusal("ruy:Conv2D[f32\n"), HasSubstr("no ']'"));
  EXPECT_THAT(refusal("ruy:Conv2D,,Add\n"), HasSubstr("empty type"));
  EXPECT_THAT(refusal("r;y:Conv2D\n"), HasSubstr("'r;y'"));
  EXPECT_THAT(refusal("ruy:Conv2D\n\nruy:Add\n"), AllOf(HasSubstr("line 3"), HasSubstr("again")));
  EXPECT_THAT(refusal(std::string("ruy:\0\n", 6)), HasSubstr("line 1"));
}

}  // namespace
}  // namespace stab
