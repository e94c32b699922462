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
  Nodes behind; ///< what it depends on; of its graph, under Graph::mutex
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

  mutable std::mutex mutex;
  Nodes all; // under mutex
};

class GraphWork;

/// A graph as it was when it was instantiated.
class GraphExec {
public:
  static constexpr unsigned kHandleKind = 9;
  std::shared_ptr<GraphWork> work;
};

/// All of a graph as one piece of work: a launch, or a child's node.
class GraphWork final : public Work {
public:
  explicit GraphWork(std::vector<std::shared_ptr<Work>> steps) : Work(kNodeGraph), steps(std::move(steps)) {}
  Result run(Context& context) override;
  std::vector<std::shared_ptr<Work>> steps;
};

/// The work of a graph in order. kInvalidValue: it has a circle.
Result workOf(const Graph& graph, std::shared_ptr<GraphWork>& work);

} // namespace tiletwin::driver
