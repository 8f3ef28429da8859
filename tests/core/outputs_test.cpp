// SPDX-License-Identifier: Apache-2.0
#include "stab/core/outputs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace stab {
namespace {

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

EqualProof::Output compare(const std::vector<float>& reference,
                           const std::vector<float>& candidate) {
  const std::string a = bytes_of(reference);
  return compare_output(0, DataType::float32, a, a, bytes_of(candidate),
                        default_limit(DataType::float32));
}

TEST(Outputs, AllowRoundingInProportionToTheLargestValue) {
  EXPECT_TRUE(compare({100.F, 0.F}, {100.F, 0.09F}).pass);
  EXPECT_FALSE(compare({100.F, 0.F}, {100.F, 0.11F}).pass);
  EXPECT_TRUE(compare({0.F, 0.F}, {0.F, 9e-7F}).pass);
  EXPECT_FALSE(compare({0.F, 0.F}, {0.F, 2e-6F}).pass);
}

TEST(Outputs, SayHowFarApartTheyAre) {
  const auto output = compare({10.F, -4.F}, {10.F, 1.F});
  EXPECT_DOUBLE_EQ(output.max_abs, 5);
  EXPECT_DOUBLE_EQ(output.max_rel, 0.5);
}

TEST(Outputs, AllowNanOnlyWhereTheReferenceHasIt) {
  const float nan = std::nanf("");
  EXPECT_TRUE(compare({nan, 1.F}, {nan, 1.F}).pass);
  const auto output = compare({1.F, 1.F}, {nan, 1.F});
  EXPECT_FALSE(output.pass);
  EXPECT_TRUE(output.nan);
  EXPECT_FALSE(compare({nan, 1.F}, {1.F, 1.F}).pass);
}

TEST(Outputs, TreatInfinityAsAValueThatMustBeEqual) {
  const float infinity = INFINITY;
  EXPECT_TRUE(compare({infinity, 1.F}, {infinity, 1.F}).pass);
  EXPECT_FALSE(compare({infinity, 1.F}, {1.F, 1.F}).pass);
  EXPECT_FALSE(compare({infinity, 1.F}, {-infinity, 1.F}).pass);
}

TEST(Outputs, OfAnotherSizeFail) {
  EXPECT_FALSE(compare({1.F, 2.F}, {1.F}).pass);
}

TEST(Outputs, OfIntegersMustBeExact) {
  const auto limit = default_limit(DataType::int8);
  const std::string reference = bytes_of<std::int8_t>({-128, 5});
  EXPECT_TRUE(compare_output(0, DataType::int8, reference, reference, reference, limit).pass);
  const auto off = compare_output(0, DataType::int8, reference, reference,
                                  bytes_of<std::int8_t>({127, 5}), limit);
  EXPECT_FALSE(off.pass);
  EXPECT_DOUBLE_EQ(off.max_abs, 255);
}

TEST(Outputs, ThatTheReferenceDoesNotRepeatAreNotComparable) {
  const std::string once = bytes_of<float>({1.F});
  const std::string again = bytes_of<float>({2.F});
  EXPECT_FALSE(
      compare_output(0, DataType::float32, once, again, once, default_limit(DataType::float32))
          .comparable);
}

TEST(Outputs, OfHalfPrecisionAreReadAsNumbers) {
  const std::string one = bytes_of<std::uint16_t>({0x3c00, 0x0001});
  const std::string near = bytes_of<std::uint16_t>({0x3c05, 0x0001});
  const std::string far = bytes_of<std::uint16_t>({0x3d00, 0x0001});
  const auto limit = default_limit(DataType::float16);
  EXPECT_TRUE(compare_output(0, DataType::float16, one, one, near, limit).pass);
  EXPECT_FALSE(compare_output(0, DataType::float16, one, one, far, limit).pass);
}

TEST(Outputs, ThatFollowAPickingOperationAreKnown) {
  Model model;
  Subgraph graph;
  graph.tensors.resize(4);
  Operation pick;
  pick.schema_name = "ARG_MAX";
  pick.inputs = {0};
  pick.outputs = {1};
  Operation after;
  after.schema_name = "CAST";
  after.inputs = {1};
  after.outputs = {2};
  Operation other;
  other.schema_name = "SOFTMAX";
  other.inputs = {0};
  other.outputs = {3};
  graph.operations = {after, pick, other};
  graph.outputs = {3, 2};
  model.subgraphs = {graph};
  EXPECT_EQ(flipping_outputs(model), std::set<int>{1});
}

}  // namespace
}  // namespace stab
