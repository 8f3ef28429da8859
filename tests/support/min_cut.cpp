// SPDX-License-Identifier: Apache-2.0
#include "support/min_cut.h"

#include <algorithm>
#include <queue>
#include <vector>

namespace stab::test {
namespace {

constexpr Ticks k_uncuttable = Ticks{1} << 50;

/// Maximum flow by shortest augmenting paths in layers (Dinic 1970).
class Network {
 public:
  explicit Network(int nodes) : first_(nodes, -1) {}

  int add_node() {
    first_.push_back(-1);
    return static_cast<int>(first_.size()) - 1;
  }

  void add_edge(int from, int to, Ticks capacity) {
    capacity = std::min(capacity, k_uncuttable);
    edges_.push_back({to, first_[from], capacity});
    first_[from] = static_cast<int>(edges_.size()) - 1;
    edges_.push_back({from, first_[to], 0});
    first_[to] = static_cast<int>(edges_.size()) - 1;
  }

  Ticks maximum_flow(int source, int sink) {
    Ticks flow = 0;
    while (layer(source, sink)) {
      next_ = first_;
      while (const Ticks pushed = push(source, sink, k_uncuttable * 4)) flow += pushed;
    }
    return flow;
  }

 private:
  struct Edge {
    int to, following;
    Ticks left;
  };

  bool layer(int source, int sink) {
    depth_.assign(first_.size(), -1);
    depth_[source] = 0;
    std::queue<int> queue({source});
    while (!queue.empty()) {
      const int node = queue.front();
      queue.pop();
      for (int e = first_[node]; e >= 0; e = edges_[e].following) {
        if (edges_[e].left == 0 || depth_[edges_[e].to] >= 0) continue;
        depth_[edges_[e].to] = depth_[node] + 1;
        queue.push(edges_[e].to);
      }
    }
    return depth_[sink] >= 0;
  }

  Ticks push(int node, int sink, Ticks most) {
    if (node == sink) return most;
    for (int& e = next_[node]; e >= 0; e = edges_[e].following) {
      Edge& edge = edges_[e];
      if (edge.left == 0 || depth_[edge.to] != depth_[node] + 1) continue;
      const Ticks pushed = push(edge.to, sink, std::min(most, edge.left));
      if (pushed == 0) continue;
      edge.left -= pushed;
      edges_[e ^ 1].left += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<int> first_, next_, depth_;
  std::vector<Edge> edges_;
};

}  // namespace

// Operations on the source's side are on backend 0. Each tensor has a node between its producer and
// its readers for either direction, which makes the readers on that side pay once.
Ticks min_cut_cost(const PlacementProblem& problem) {
  const int ops = static_cast<int>(problem.ops.size());
  const int source = ops, sink = ops + 1, builtin = problem.builtin();
  Network network(ops + 2);
  for (int i = 0; i < ops; ++i) {
    network.add_edge(source, i, problem.ops[i].cost[1]);
    network.add_edge(i, sink, problem.ops[i].cost[0]);
  }
  for (int t = 0; t < std::ssize(problem.tensors); ++t) {
    const PlacementTensor& tensor = problem.tensors[t];
    const int producer = tensor.producer;
    const int to_one = network.add_node(), to_zero = network.add_node();
    const bool inside = producer != k_builtin;
    network.add_edge(inside ? producer : source, to_one,
                     problem.copy_cost(t, inside ? 0 : builtin, 1));
    network.add_edge(to_zero, inside ? producer : sink,
                     problem.copy_cost(t, inside ? 1 : builtin, 0));
    for (const int reader : tensor.readers) {
      network.add_edge(to_one, reader, k_uncuttable);
      network.add_edge(reader, to_zero, k_uncuttable);
    }
    if (!tensor.graph_output || !inside) continue;
    network.add_edge(producer, sink, problem.copy_cost(t, 0, builtin));
    network.add_edge(source, producer, problem.copy_cost(t, 1, builtin));
  }
  const Ticks flow = network.maximum_flow(source, sink);
  return flow >= k_uncuttable ? k_impossible : flow;
}

}  // namespace stab::test
