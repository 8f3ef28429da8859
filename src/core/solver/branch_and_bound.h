// SPDX-License-Identifier: Apache-2.0
// The answer for a component that is too wide for elimination: branch and bound under a dual bound.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "core/solver/dual_bound.h"
#include "core/solver/factor_graph.h"
#include "core/solver/local_search.h"
#include "core/solver/reduction.h"
#include "stab/core/placement_problem.h"

namespace stab::solver {

struct SearchResult {
  std::vector<int> placement;  ///< per operation of the component
  Ticks cost = k_infinite;     ///< k_infinite when nothing possible was found
  Ticks bound = 0;             ///< equals cost when the answer is proven
  std::uint64_t states = 0;    ///< table entries looked at
  std::uint64_t nodes = 0;
};

/// Searches for the cheapest placement of a component. A node is what is left to choose, and a dual
/// bound of it; choices with which the bound is not below the best answer are left out (fixing by
/// reduced costs). Where the bound is close to the best answer, a search over partial assignments
/// (find_least_slack) mostly finishes the node; else it branches on the operation that is most in
/// doubt, whose choices go on from the node's bound. Best first, but goes on below a node before it
/// returns to older ones.
class BranchAndBound {
 public:
  /// All must outlive it.
  BranchAndBound(const Reduction& reduction, const Component& component, std::uint64_t most_states);

  /// Bounds the root.
  void start();

  bool is_solved() const { return result_.bound == result_.cost; }

  /// How many choices there are, and how many of them neither the best answer of start() nor a
  /// better one makes.
  int choices() const { return choices_; }
  int left_out() const { return left_out_; }

  /// The component without these, as a problem of its own (Reduction::extract); right after
  /// start().
  PlacementProblem narrowed() const;

  /// Searches until the bound meets the cost, or so many table entries are looked at in all.
  void go_on(std::uint64_t most_states);

  const SearchResult& result() const { return result_; }

 private:
  struct Node {
    Ticks bound = 0;
    int depth = 0;
    std::uint64_t number = 0;
    DualBound::Position position;
    Ticks tried = k_infinite;  ///< how much was missing when partial assignments were searched last
    int branch_op = -1;

    /// Least bound first, then the deepest, then the oldest.
    bool operator>(const Node& other) const;
  };

  std::optional<Node> expand(const Node& node);
  std::optional<Node> examine(const Node& parent, int passes);
  void tighten(Node& node, int passes);
  bool search_partial_assignments(Node& node);
  void choose_branch(Node& node);
  void leave_out_dear_choices();
  bool is_in_answer(int op, int backend) const;
  std::vector<int> placement_of(const std::vector<int>& states) const;
  void offer_improved(const std::vector<int>& states);
  void offer_simple_placements();
  void offer(FoundPlacement found);
  bool spent() const { return result_.states >= most_states_; }
  Ticks missing() const { return result_.cost - dual_.bound(); }

  const PlacementProblem problem_;
  const FactorGraph graph_;
  DualBound dual_;
  const LocalSearch local_search_;
  std::uint64_t most_states_;
  std::vector<int> guess_;
  std::vector<int> last_pushed_;  ///< placement that the local search started from
  int choices_ = 0;
  int left_out_ = 0;
  std::optional<Node> next_;
  std::priority_queue<Node, std::vector<Node>, std::greater<>> open_;
  SearchResult result_;
};

}  // namespace stab::solver
