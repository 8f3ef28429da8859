// SPDX-License-Identifier: Apache-2.0
#include "stab/core/op_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "stab/core/error.h"

namespace stab {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Operation operation(int code, ModelFormat format = ModelFormat::tflite) {
  const OpNames names = builtin_names(code, format);
  Operation operation;
  operation.id = {0, 3};
  operation.builtin_code = code;
  operation.schema_name = names.schema;
  operation.type = names.type;
  operation.key = names.key;
  return operation;
}

constexpr int k_average_pool_2d = 1;
constexpr int k_conv_2d = 3;
constexpr int k_relu6 = 21;
constexpr int k_arg_max = 56;
constexpr int k_sum = 74;
constexpr int k_rsqrt = 76;
constexpr int k_square = 92;
constexpr int k_hard_swish = 117;
constexpr int k_unidirectional_sequence_lstm = 44;

TEST(OpNames, AreThreeForEachOperationOfTheRuntime) {
  const OpNames pool = builtin_names(k_average_pool_2d, ModelFormat::tflite);
  EXPECT_EQ(pool.schema, "AVERAGE_POOL_2D");
  EXPECT_EQ(pool.type, "AvgPool2D");
  EXPECT_EQ(pool.key, "Pool2D");
  const OpNames relu6 = builtin_names(k_relu6, ModelFormat::circle);
  EXPECT_EQ(relu6.schema, "RELU6");
  EXPECT_EQ(relu6.type, "ReLU");
  EXPECT_EQ(relu6.key, "ElementwiseActivation");
  const OpNames lstm = builtin_names(k_unidirectional_sequence_lstm, ModelFormat::tflite);
  EXPECT_EQ(lstm.type, "UnidirectionalSequenceLSTM");
  EXPECT_EQ(lstm.key, "LSTM");
}

TEST(OpNames, AreNotInventedForOperationsTheRuntimeLacks) {
  const OpNames hard_swish = builtin_names(k_hard_swish, ModelFormat::tflite);
  EXPECT_EQ(hard_swish.schema, "HARD_SWISH");
  EXPECT_EQ(hard_swish.type, "");
  EXPECT_EQ(hard_swish.key, "");
  EXPECT_EQ(builtin_names(412, ModelFormat::tflite).schema, "");
  EXPECT_EQ(builtin_names(2147483647, ModelFormat::circle).schema, "");
  EXPECT_EQ(builtin_names(-2147483647 - 1, ModelFormat::circle).schema, "");
}

TEST(OpNames, OfNegativeCodesExistInCircleAlone) {
  EXPECT_EQ(builtin_names(-4, ModelFormat::circle).type, "BCQGather");
  EXPECT_EQ(builtin_names(-6, ModelFormat::circle).schema, "RMS_NORM");
  EXPECT_EQ(builtin_names(-4, ModelFormat::tflite).schema, "");
}

TEST(OpNames, EveryCodeUpTo209HasASchemaName) {
  for (int code = 0; code <= 209; ++code) {
    EXPECT_NE(builtin_names(code, ModelFormat::tflite).schema, "") << code;
  }
  EXPECT_EQ(builtin_names(209, ModelFormat::tflite).schema, "STABLEHLO_CASE");
  EXPECT_EQ(builtin_names(210, ModelFormat::tflite).schema, "");
}

TEST(OpNames, TypeAndKeyAreBothKnownOrBothUnknownAndKeysExist) {
  const auto keys = op_keys();
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  for (int code = -8; code <= 209; ++code) {
    const OpNames names = builtin_names(code, ModelFormat::circle);
    EXPECT_EQ(names.type.empty(), names.key.empty()) << names.schema;
    if (names.key.empty()) continue;
    EXPECT_NE(std::find(keys.begin(), keys.end(), names.key), keys.end()) << names.key;
    EXPECT_TRUE(is_trace_type(names.type)) << names.type;
  }
}

TEST(OpNames, MarkControlFlow) {
  EXPECT_TRUE(builtin_names(118, ModelFormat::tflite).control_flow);
  EXPECT_TRUE(builtin_names(119, ModelFormat::circle).control_flow);
  EXPECT_TRUE(builtin_names(31, ModelFormat::circle).control_flow);
  EXPECT_FALSE(builtin_names(k_conv_2d, ModelFormat::circle).control_flow);
}

TEST(OpNames, OfCustomCodesThatTheRuntimeReplacesAreThoseOfItsOwnOperation) {
  EXPECT_EQ(custom_names("AddV2").type, "Add");
  EXPECT_EQ(custom_names("AddV2").key, "BinaryArithmetic");
  EXPECT_EQ(custom_names("MyOperation").type, "MyOperation");
  EXPECT_EQ(custom_names("MyOperation").key, "Custom");
  EXPECT_EQ(custom_names("").type, "");
}

TEST(OpNames, SpellingsOfOtherGenerationsAreTheSameType) {
  EXPECT_TRUE(same_type(operation(k_conv_2d), "Conv2D"));
  EXPECT_TRUE(same_type(operation(k_arg_max), "ArgMax"));
  EXPECT_TRUE(same_type(operation(k_sum), "ReduceSum"));
  EXPECT_TRUE(same_type(operation(k_rsqrt), "RSQRT"));
  EXPECT_TRUE(same_type(operation(k_square), "Squre"));
  EXPECT_TRUE(same_type(operation(k_relu6), "ReLU6"));
  EXPECT_TRUE(same_type(operation(k_relu6), "ElementwiseActivation"));
  EXPECT_FALSE(same_type(operation(k_conv_2d), "DepthwiseConv2D"));
  EXPECT_FALSE(same_type(operation(k_conv_2d), "Conv2"));
  EXPECT_FALSE(same_type(operation(k_hard_swish), ""));
}

TEST(OpNames, ATraceWithAnotherTypeAtTheIndexIsAnErrorThatShowsBoth) {
  EXPECT_NO_THROW(check_type(operation(k_conv_2d), "Conv2D", "cpu_1.json"));
  try {
    check_type(operation(k_conv_2d), "DepthwiseConv2D", "cpu_1.json");
    FAIL() << "the types differ";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("cpu_1.json"), HasSubstr("0:3"), HasSubstr("Conv2D in the model"),
                      HasSubstr("DepthwiseConv2D in the trace")));
  }
}

TEST(OpNames, WhereOneNameIsUnknownNothingIsClaimed) {
  EXPECT_NO_THROW(check_type(operation(k_hard_swish), "Conv2D", "cpu_1.json"));
  EXPECT_NO_THROW(check_type(operation(k_conv_2d), "Convolution", "cpu_1.json"));
}

}  // namespace
}  // namespace stab
