// SPDX-License-Identifier: Apache-2.0
// Input tensors made on the host from a seed, the same bytes on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "stab/core/model.h"

namespace stab {

/// Little-endian values of one input tensor: [-1, 1) for floats, the full range for 8- and 16-bit
/// quantised types and other 8- and 16-bit integers, {0, 1} for i32, i64 and bool (they are often
/// indices). `input` is the position among the graph's inputs, so that two inputs of one shape
/// differ. Throws Error(input) for types without a fixed size. Generator: splitmix64 (S. Vigna,
/// public domain description).
std::string make_input(const Tensor& tensor, std::uint64_t elements, int input, int seed);

/// Shape of each graph input by position, for inputs that are dynamic or were given a shape.
using InputShapes = std::map<int, std::vector<int>>;

/// Reads `--shape`: "0:1,224,224,3;mask:1,1" (position or name of a graph input) over `model`, and
/// gives each dynamic dimension that is not named the value 1. Throws Error(usage) for text that is
/// not of that form and Error(input) for an input the model lacks or another rank.
InputShapes resolve_shapes(const Model& model, const std::string& spec);

/// Elements of graph input number `input` under these shapes.
std::uint64_t element_count(const Model& model, int input, const InputShapes& shapes);

/// The runner's `--shape_prepare` text: "[0,[1,8],2,[3]]"; empty when no shape has to be given.
std::string shape_argument(const InputShapes& shapes);

}  // namespace stab
