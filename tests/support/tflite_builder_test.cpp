// SPDX-License-Identifier: Apache-2.0
#include "support/tflite_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stab/core/model.h"

namespace stab::test {
namespace {

using testing::ElementsAre;

TEST(TfliteBuilder, WhatItBuildsIsReadBack) {
  const std::string bytes =
      build_tflite({{.tensors = {{"dims", TfliteType::int32, {1}},
                                 {"value", TfliteType::float32, {}, {}, {0, 0, 192, 63}},
                                 {"out", TfliteType::float32, {1}, {-1}},
                                 {"small", TfliteType::int8, {2, 3}, {}, {}, 0.5F}},
                     .operators = {{94, {0, 1}, {2}}, {200, {2}, {3}, 7}},
                     .inputs = {0},
                     .outputs = {2, 3}}});
  const Model model = parse_model(std::as_bytes(std::span(bytes)), ModelFormat::tflite, "built");
  ASSERT_EQ(model.subgraphs.size(), 1U);
  const Subgraph& graph = model.subgraphs[0];
  ASSERT_EQ(graph.operations.size(), 2U);
  EXPECT_EQ(graph.operations[0].schema_name, "FILL");
  EXPECT_THAT(graph.operations[0].inputs, ElementsAre(0, 1));
  EXPECT_EQ(graph.operations[1].builtin_code, 200);
  ASSERT_EQ(graph.tensors.size(), 4U);
  EXPECT_EQ(graph.tensors[0].type, DataType::int32);
  EXPECT_TRUE(graph.tensors[1].constant);
  EXPECT_TRUE(graph.tensors[2].dynamic());
  EXPECT_TRUE(graph.tensors[3].quantised);
  EXPECT_THAT(graph.tensors[3].shape, ElementsAre(2, 3));
  EXPECT_THAT(graph.outputs, ElementsAre(2, 3));
}

}  // namespace
}  // namespace stab::test
