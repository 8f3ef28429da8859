// SPDX-License-Identifier: Apache-2.0
#include "stab/core/inputs.h"

#include <gtest/gtest.h>

#include <cstring>

#include "stab/core/error.h"

namespace stab {
namespace {

Tensor tensor_of(DataType type) {
  Tensor tensor;
  tensor.type = type;
  tensor.name = "image";
  return tensor;
}

Model model_with_input(std::vector<std::int32_t> shape, std::vector<std::int32_t> signature) {
  Model model;
  Subgraph graph;
  Tensor tensor = tensor_of(DataType::float32);
  tensor.shape = std::move(shape);
  tensor.shape_signature = std::move(signature);
  tensor.input = true;
  graph.tensors = {tensor};
  graph.inputs = {0};
  model.subgraphs = {graph};
  return model;
}

TEST(Inputs, AreTheSameForOneSeedAndDifferBetweenSeedsAndInputs) {
  const Tensor tensor = tensor_of(DataType::float32);
  EXPECT_EQ(make_input(tensor, 64, 0, 1), make_input(tensor, 64, 0, 1));
  EXPECT_NE(make_input(tensor, 64, 0, 1), make_input(tensor, 64, 0, 2));
  EXPECT_NE(make_input(tensor, 64, 0, 1), make_input(tensor, 64, 1, 1));
}

TEST(Inputs, OfFloatsLieBetweenMinusOneAndOne) {
  const std::string bytes = make_input(tensor_of(DataType::float32), 4096, 0, 7);
  float low = 1;
  float high = -1;
  for (std::size_t i = 0; i < 4096; ++i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + 4 * i, 4);
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_GE(low, -1.F);
  EXPECT_LT(high, 1.F);
  EXPECT_LT(low, -0.9F);
  EXPECT_GT(high, 0.9F);
}

TEST(Inputs, OfBytesUseTheFullRange) {
  const std::string bytes = make_input(tensor_of(DataType::uint8), 8192, 0, 1);
  EXPECT_NE(bytes.find('\0'), std::string::npos);
  EXPECT_NE(bytes.find('\xff'), std::string::npos);
}

TEST(Inputs, OfIndicesAreZeroOrOne) {
  for (const DataType type : {DataType::int32, DataType::int64, DataType::boolean}) {
    const std::size_t size = element_size(type).value();
    const std::string bytes = make_input(tensor_of(type), 256, 0, 3);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const int value = static_cast<unsigned char>(bytes[i]);
      EXPECT_TRUE(value == 0 || (value == 1 && i % size == 0));
    }
  }
}

TEST(Inputs, WithoutAFixedSizeAreRefused) {
  EXPECT_THROW(make_input(tensor_of(DataType::string), 1, 0, 1), Error);
}

TEST(InputShapes, GiveEachDynamicDimensionOne) {
  const Model model = model_with_input({1, 224, 224, 3}, {-1, 224, 224, 3});
  const InputShapes shapes = resolve_shapes(model, "");
  EXPECT_EQ(shapes.at(0), (std::vector<int>{1, 224, 224, 3}));
  EXPECT_EQ(shape_argument(shapes), "[0,[1,224,224,3]]");
  EXPECT_EQ(element_count(model, 0, shapes), 224U * 224U * 3U);
}

TEST(InputShapes, AreTakenByPositionAndByName) {
  const Model model = model_with_input({1, 8}, {-1, 8});
  EXPECT_EQ(resolve_shapes(model, "0:4,8").at(0), (std::vector<int>{4, 8}));
  EXPECT_EQ(resolve_shapes(model, "image:4,8").at(0), (std::vector<int>{4, 8}));
}

TEST(InputShapes, OfAnUnknownInputOrRankAreRefused) {
  const Model model = model_with_input({1, 8}, {});
  EXPECT_THROW(resolve_shapes(model, "other:1,8"), Error);
  EXPECT_THROW(resolve_shapes(model, "0:1,8,8"), Error);
  EXPECT_THROW(resolve_shapes(model, "0:1,x"), Error);
  EXPECT_THROW(resolve_shapes(model, "1,8"), Error);
}

TEST(InputShapes, OfAStaticModelNeedNoArgument) {
  EXPECT_EQ(shape_argument(resolve_shapes(model_with_input({1, 8}, {}), "")), "");
}

}  // namespace
}  // namespace stab
