// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "support/graph_builder.h"

namespace stab::test {
namespace {

TensorIndex inverted_residual(GraphBuilder& graph, TensorIndex input, int channels, int stride,
                              int expand) {
  const int before = graph.shape(input).back();
  TensorIndex inner = expand == 1 ? input : graph.conv(input, before * expand);
  inner = graph.conv(graph.depthwise(inner, stride), channels);
  return stride == 1 && before == channels ? graph.same("Add", {input, inner}) : inner;
}

TensorIndex bottleneck(GraphBuilder& graph, TensorIndex input, int channels, int stride,
                       bool project) {
  const TensorIndex inner =
      graph.conv(graph.conv(graph.conv(input, channels), channels, stride), channels * 4);
  const TensorIndex shortcut = project ? graph.conv(input, channels * 4, stride) : input;
  return graph.same("ReLU", {graph.same("Add", {inner, shortcut})});
}

TensorIndex inception_block(GraphBuilder& graph, TensorIndex input, int channels) {
  const TensorIndex one = graph.conv(input, channels);
  const TensorIndex two = graph.conv(graph.conv(input, channels / 2), channels);
  const TensorIndex three =
      graph.conv(graph.conv(graph.conv(input, channels / 2), channels), channels);
  const TensorIndex four = graph.conv(graph.pool(input, 1), channels / 2);
  return graph.concat({one, two, three, four});
}

TensorIndex dense_layer(GraphBuilder& graph, TensorIndex input) {
  return graph.conv(graph.conv(graph.same("ReLU", {graph.same("Mul", {input})}), 128), 32);
}

TensorIndex transition(GraphBuilder& graph, TensorIndex input) {
  return graph.pool(graph.conv(input, graph.shape(input).back() / 2), 2);
}

void finish(GraphBuilder& graph, TensorIndex features, int classes) {
  const int channels = graph.shape(features).back();
  const TensorIndex pooled = graph.op("AvgPool2D", {features}, {1, 1, 1, channels});
  const TensorIndex flat = graph.op("Reshape", {pooled}, {1, channels});
  graph.output(graph.same("Softmax", {graph.dense(flat, classes)}));
}

std::pair<TensorIndex, TensorIndex> two_convs(GraphBuilder& graph, TensorIndex input,
                                              int channels) {
  const TensorIndex out = graph.conv(graph.conv(input, channels), channels);
  return {out, out};
}

TensorIndex fuse(GraphBuilder& graph, const std::vector<TensorIndex>& inputs) {
  TensorIndex sum = inputs.front();
  for (std::size_t k = 1; k < inputs.size(); ++k) sum = graph.same("Add", {sum, inputs[k]});
  return graph.conv(graph.depthwise(sum), graph.shape(sum).back());
}

TensorIndex attention(GraphBuilder& graph, TensorIndex input) {
  const int width = graph.shape(input).back(), length = graph.shape(input)[1];
  const TensorIndex query = graph.dense(input, width), key = graph.dense(input, width);
  const TensorIndex value = graph.dense(input, width);
  const TensorIndex scores =
      graph.op("BatchMatMul", {query, graph.same("Transpose", {key})}, {1, length, length});
  const TensorIndex weights = graph.same("Softmax", {graph.same("Mul", {scores})});
  return graph.dense(graph.op("BatchMatMul", {weights, value}, {1, length, width}), width);
}

TensorIndex normalise(GraphBuilder& graph, TensorIndex input) {
  const TensorIndex mean = graph.same("Mean", {input});
  const TensorIndex centred = graph.same("Sub", {input, mean});
  const TensorIndex spread =
      graph.same("Rsqrt", {graph.same("Mean", {graph.same("SquaredDifference", {input, mean})})});
  return graph.same("Mul", {centred, spread});
}

}  // namespace

Model mobilenet_v2() {
  GraphBuilder graph;
  TensorIndex t = graph.conv(graph.input({1, 224, 224, 3}), 32, 2);
  const int settings[7][4] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
  for (const auto& [expand, channels, repeats, stride] : settings) {
    for (int k = 0; k < repeats; ++k)
      t = inverted_residual(graph, t, channels, k == 0 ? stride : 1, expand);
  }
  finish(graph, graph.conv(t, 1280), 1000);
  return graph.take();
}

Model resnet_50() {
  GraphBuilder graph;
  TensorIndex t = graph.pool(graph.conv(graph.input({1, 224, 224, 3}), 64, 2), 2);
  const int settings[4][3] = {{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}};
  for (const auto& [channels, repeats, stride] : settings) {
    for (int k = 0; k < repeats; ++k)
      t = bottleneck(graph, t, channels, k == 0 ? stride : 1, k == 0);
  }
  finish(graph, t, 1000);
  return graph.take();
}

Model inception_v3() {
  GraphBuilder graph;
  TensorIndex t = graph.conv(graph.conv(graph.conv(graph.input({1, 299, 299, 3}), 32, 2), 32), 64);
  t = graph.pool(graph.conv(graph.conv(graph.pool(t, 2), 80), 192), 2);
  for (int k = 0; k < 3; ++k) t = inception_block(graph, t, 64);
  t = graph.concat({graph.conv(t, 384, 2), graph.conv(graph.conv(t, 64), 96, 2), graph.pool(t, 2)});
  for (int k = 0; k < 4; ++k) t = inception_block(graph, t, 192);
  t = graph.concat(
      {graph.conv(t, 320, 2), graph.conv(graph.conv(t, 192), 192, 2), graph.pool(t, 2)});
  for (int k = 0; k < 2; ++k) t = inception_block(graph, t, 320);
  finish(graph, t, 1000);
  return graph.take();
}

Model densenet_cumulative() {
  GraphBuilder graph;
  TensorIndex t = graph.pool(graph.conv(graph.input({1, 224, 224, 3}), 64, 2), 2);
  for (const int layers : {6, 12, 24, 16}) {
    for (int k = 0; k < layers; ++k) t = graph.concat({t, dense_layer(graph, t)});
    if (layers != 16) t = transition(graph, t);
  }
  finish(graph, t, 1000);
  return graph.take();
}

Model densenet_flat(int layers, int blocks) {
  GraphBuilder graph;
  TensorIndex t = graph.pool(graph.conv(graph.input({1, 224, 224, 3}), 64, 2), 2);
  for (int block = 0; block < blocks; ++block) {
    std::vector<TensorIndex> outputs = {t};
    for (int k = 0; k < layers; ++k) {
      outputs.push_back(dense_layer(graph, outputs.size() == 1 ? t : graph.concat(outputs)));
    }
    t = transition(graph, graph.concat(outputs));
  }
  finish(graph, t, 1000);
  return graph.take();
}

Model u_net() {
  GraphBuilder graph;
  TensorIndex t = graph.input({1, 256, 256, 3});
  std::vector<TensorIndex> skips;
  for (const int channels : {32, 64, 128, 256}) {
    const auto [out, skip] = two_convs(graph, t, channels);
    skips.push_back(skip);
    t = graph.pool(out, 2);
  }
  t = two_convs(graph, t, 512).first;
  for (const int channels : {256, 128, 64, 32}) {
    t = graph.concat({graph.conv(graph.enlarge(t), channels), skips.back()});
    skips.pop_back();
    t = two_convs(graph, t, channels).first;
  }
  graph.output(graph.same("Logistic", {graph.conv(t, 1)}));
  return graph.take();
}

// Tan, Pang and Le, "EfficientDet", 2020: five levels, down then up, with the level's own input
// again on the way up.
Model bifpn(int repeats) {
  GraphBuilder graph;
  TensorIndex t = graph.conv(graph.input({1, 256, 256, 3}), 16, 2);
  std::vector<TensorIndex> levels;
  for (const int channels : {24, 40, 80, 160, 320}) {
    t = graph.conv(t, channels, 2);
    levels.push_back(graph.conv(t, 64));
  }
  for (int k = 0; k < repeats; ++k) {
    std::vector<TensorIndex> down = levels;
    for (int level = 3; level >= 0; --level) {
      down[level] = fuse(graph, {levels[level], graph.enlarge(down[level + 1])});
    }
    std::vector<TensorIndex> up = down;
    for (int level = 1; level < 5; ++level) {
      std::vector<TensorIndex> inputs = {levels[level], graph.pool(up[level - 1], 2)};
      if (level < 4) inputs.push_back(down[level]);
      up[level] = fuse(graph, inputs);
    }
    levels = up;
  }
  for (const TensorIndex level : levels) graph.output(graph.conv(level, 36));
  return graph.take();
}

Model transformer(int layers) {
  GraphBuilder graph;
  TensorIndex t = graph.input({1, 128, 256});
  for (int layer = 0; layer < layers; ++layer) {
    t = normalise(graph, graph.same("Add", {t, attention(graph, t)}));
    const TensorIndex inner = graph.dense(graph.same("GELU", {graph.dense(t, 1024)}), 256);
    t = normalise(graph, graph.same("Add", {t, inner}));
  }
  graph.output(graph.dense(t, 256));
  return graph.take();
}

Model chain(int operations) {
  GraphBuilder graph;
  TensorIndex t = graph.input({1, 16, 16, 32});
  for (int k = 0; k < operations; ++k) {
    t = k % 3 == 0 ? graph.conv(t, 32) : k % 3 == 1 ? graph.depthwise(t) : graph.same("ReLU", {t});
  }
  graph.output(t);
  return graph.take();
}

std::vector<NamedModel> well_known_models() {
  return {{"MobileNetV2", mobilenet_v2()},
          {"ResNet-50", resnet_50()},
          {"Inception v3", inception_v3()},
          {"DenseNet, cumulative", densenet_cumulative()},
          {"DenseNet, flat", densenet_flat()},
          {"U-Net", u_net()},
          {"BiFPN x3", bifpn()},
          {"transformer x6", transformer()},
          {"chain of 10,000", chain(10'000)}};
}

}  // namespace stab::test
