// SPDX-License-Identifier: Apache-2.0
// Models made as values, and the shapes of well-known neural networks: what their operations read,
// and how large tensors are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "stab/core/cost_model.h"
#include "stab/core/model.h"

namespace stab::test {

/// A tensor by its index in subgraph 0.
using TensorIndex = int;

/// Builds a model of one subgraph of float32 tensors, NHWC. Constants of weights are left out,
/// where they play no part.
class GraphBuilder {
 public:
  GraphBuilder();

  TensorIndex input(std::vector<std::int32_t> shape);
  /// An operation of a trace type with one output.
  TensorIndex op(const std::string& type, const std::vector<TensorIndex>& inputs,
                 std::vector<std::int32_t> shape);
  void output(TensorIndex tensor);
  Model take();

  /// Layers; each is one operation. `stride` halves and `channels` sets what they say.
  TensorIndex conv(TensorIndex input, int channels, int stride = 1);
  TensorIndex depthwise(TensorIndex input, int stride = 1);
  TensorIndex same(const std::string& type, const std::vector<TensorIndex>& inputs);
  TensorIndex concat(const std::vector<TensorIndex>& inputs);
  TensorIndex pool(TensorIndex input, int stride);
  TensorIndex enlarge(TensorIndex input);
  TensorIndex dense(TensorIndex input, int units);

  const std::vector<std::int32_t>& shape(TensorIndex tensor) const;

 private:
  TensorIndex add_tensor(std::vector<std::int32_t> shape);

  Model model_;
};

Model mobilenet_v2();
Model resnet_50();
Model inception_v3();
/// Blocks of twelve layers, each of which reads all before it: through a concatenation that grows
/// by one (cumulative), or through one of all outputs so far (flat).
Model densenet_cumulative();
Model densenet_flat(int layers = 12, int blocks = 3);
Model u_net();
Model bifpn(int repeats = 3);
Model transformer(int layers = 6);
Model chain(int operations);

/// A model with the name that a failed test shows.
struct NamedModel {
  std::string name;
  Model model;
};

/// All of the above, the chain of 10,000 operations last.
std::vector<NamedModel> well_known_models();

/// Made-up times, the same for each seed: backends run what they can in reality (ruy and xnnpack
/// their few types; any other name nearly all), heavy operations faster than cpu and light ones
/// slower, with some spread.
OpTimes made_up_times(const Model& model, std::span<const std::string> backends, unsigned seed);

/// A time without rounds.
OpTiming time_of(OpId op, const std::string& backend, double us);

}  // namespace stab::test
