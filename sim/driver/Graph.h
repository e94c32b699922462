// sim/driver/Graph.h -- graphs: work and what it comes behind; and what a stream's capture makes.
// Here:      Graph, GraphNode, GraphExec.
// Not here:  capture (StreamCapture.cpp), the driver's functions (GraphCalls.cpp).
// Idea:      an instantiated graph is its work in an order in which each piece comes behind what it depends on; a launch does
//            one piece after the other.
#pragma once
#include "sim/driver/Stream.h"
#include <memory>
#include <mutex>
#include <vector>

namespace tiletwin::driver {

class GraphNode {
public:
  static constexpr unsigned kHandleKind = 8;
  std::weak_ptr<Graph> graph;
  NodeHandle handle = nullptr;
  std::shared_ptr<Work> work;
  Nodes behind;                      ///< what it depends on; of its graph, under Graph::mutex
  std::weak_ptr<GraphNode> original; ///< of a clone's
};

class Graph : public std::enable_shared_from_this<Graph> {
public:
  static constexpr unsigned kHandleKind = 7;
  ~Graph();
  GraphHandle handle = nullptr;
  /// kInvalidValue: a dependency is no node of this graph, or is named twice.
  Result add(std::shared_ptr<Work> work, const Nodes& behind, std::shared_ptr<GraphNode>& node);
  Nodes nodes() const;
  /// The nodes so that each comes behind those that it depends on; empty with `isCyclic` set if there is no such order.
  Nodes ordered(bool& isCyclic) const;
  void remove(const GraphNode& node);

  mutable std::mutex mutex;
  Nodes all; // under mutex
};

/// A graph as it was when it was instantiated; its work may be exchanged.
class GraphExec {
public:
  static constexpr unsigned kHandleKind = 9;
  struct Step {
    std::weak_ptr<GraphNode> node;
    std::shared_ptr<Work> work;
    bool isEnabled = true;
  };
  uint64_t flags = 0;
  std::mutex mutex;
  std::vector<Step> steps; // under mutex
};

/// All of a graph as one piece of work: a launch, or a child's node.
class GraphWork final : public Work {
public:
  explicit GraphWork(std::vector<std::shared_ptr<Work>> steps) : Work(kNodeGraph), steps(std::move(steps)) {}
  Result run(Context& context) override;
  std::vector<std::shared_ptr<Work>> steps;
  std::shared_ptr<Graph> graph; ///< of a child's node
};

} // namespace tiletwin::driver
