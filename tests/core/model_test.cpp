// SPDX-License-Identifier: Apache-2.0
#include "stab/core/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>

#include "stab/core/error.h"
#include "support/real_world.h"
#include "support/temp_dir.h"

namespace stab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Model real_model(std::string_view name) {
  const std::string bytes = test::read_text(test::require_model(name));
  return parse_model(bytes_of(bytes), ModelFormat::tflite, name);
}

// The text of the refusal; empty when the model is read.
std::string refusal(std::string_view bytes, ModelFormat format = ModelFormat::tflite) {
  try {
    parse_model(bytes_of(bytes), format, "a.tflite");
    return {};
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("a.tflite"));
    return error.what();
  }
}

TEST(Model, OnetIsReadWholly) {
  const Model model = real_model("onet.tflite");
  ASSERT_EQ(model.subgraphs.size(), 1u);
  const Subgraph& graph = model.subgraphs[0];
  EXPECT_EQ(graph.operations.size(), 46u);
  ASSERT_EQ(graph.inputs.size(), 1u);
  EXPECT_EQ(graph.outputs.size(), 3u);
  const Tensor& input = graph.tensors[static_cast<std::size_t>(graph.inputs[0])];
  EXPECT_TRUE(input.input);
  EXPECT_FALSE(input.constant);
  EXPECT_EQ(input.type, DataType::float32);
  EXPECT_EQ(input.bytes, 1u * 48 * 48 * 3 * 4);
  const Operation& first = graph.operations[0];
  EXPECT_EQ(to_string(first.id), "0:0");
  EXPECT_EQ(first.type, "Conv2D");
  EXPECT_TRUE(graph.tensors[static_cast<std::size_t>(first.inputs.at(1))].constant);
}

TEST(Model, HandLandmarkAndMobileFaceNetAreReadWholly) {
  EXPECT_EQ(real_model("hand_landmark.tflite").subgraphs[0].operations.size(), 64u);
  const Model face = real_model("MobileFaceNet.tflite");
  EXPECT_EQ(face.subgraphs[0].operations.size(), 230u);
  const int input = face.subgraphs[0].inputs.at(0);
  EXPECT_EQ(face.subgraphs[0].tensors[static_cast<std::size_t>(input)].shape.at(0), 2);
}

TEST(Model, ATruncatedFileIsRefusedWhereverItEnds) {
  const std::string whole = test::read_text(test::require_model("onet.tflite"));
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    const std::string text = refusal(std::string_view(whole).substr(0, length));
    if (!text.empty()) continue;
    // What the tables refer to may end before the file does, but then nothing of it is missing.
    EXPECT_GT(length, whole.size() - 97);
  }
}

TEST(Model, RandomBytesAreRefused) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (bytes.size() >= 8 && round % 2 == 0) std::memcpy(bytes.data() + 4, "TFL3", 4);
    EXPECT_NE(refusal(bytes), "");
  }
}

TEST(Model, AnotherFormatOrNoneIsNamed) {
  EXPECT_THAT(refusal(""), HasSubstr("0 bytes"));
  EXPECT_THAT(refusal(std::string(4, '\x10') + "CIR0" + std::string(40, '\0')),
              HasSubstr("is a circle model, not tflite"));
  EXPECT_THAT(refusal(std::string(4, '\x10') + "PK\x03\x04" + std::string(40, '\0')),
              HasSubstr("bytes 4 to 7 are not 'TFL3'"));
}

TEST(Model, TheFormatIsToldByIdentifierThenByName) {
  EXPECT_EQ(detect_format(bytes_of("....TFL3"), "a.circle"), ModelFormat::tflite);
  EXPECT_EQ(detect_format(bytes_of("....CIR0"), "a"), ModelFormat::circle);
  EXPECT_EQ(detect_format(bytes_of("...."), "dir/a.TFLITE"), ModelFormat::tflite);
  EXPECT_EQ(detect_format(bytes_of(""), "a.circle"), ModelFormat::circle);
  EXPECT_EQ(detect_format(bytes_of("....PK03"), "a.zip"), std::nullopt);
}

TEST(Model, ElementTypesHaveNamesAndSizes) {
  EXPECT_EQ(to_string(DataType::float32), "f32");
  EXPECT_EQ(to_string(DataType::boolean), "bool");
  EXPECT_EQ(element_size(DataType::complex128), 16u);
  EXPECT_EQ(element_size(DataType::int4), std::nullopt);
  EXPECT_EQ(element_size(DataType::string), std::nullopt);
}

}  // namespace
}  // namespace stab
