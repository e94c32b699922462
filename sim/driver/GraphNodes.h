// sim/driver/GraphNodes.h -- graphs and nodes from a client's handles.
#pragma once
#include "sim/driver/Call.h"
#include "sim/driver/Graph.h"
#include "sim/driver/Handles.h"

namespace tiletwin::driver {

/// False: one of the handles is no node's.
inline bool readNodes(const NodeHandle* handles, size_t count, Nodes& nodes) {
  if (count && !handles) return false;
  for (size_t i = 0; i < count; ++i) {
    std::shared_ptr<GraphNode> node = find<GraphNode>(handles[i]);
    if (!node) return false;
    nodes.push_back(std::move(node));
  }
  return true;
}

template <class Body> Result onGraph(GraphHandle handle, const Body& body) noexcept {
  return inDriver([&] {
    const std::shared_ptr<Graph> graph = find<Graph>(handle);
    return graph ? body(graph) : cuda::kInvalidValue;
  });
}

/// body(a node, its graph).
template <class Body> Result onNode(NodeHandle handle, const Body& body) noexcept {
  return inDriver([&] {
    const std::shared_ptr<GraphNode> node = find<GraphNode>(handle);
    const std::shared_ptr<Graph> graph = node ? node->graph.lock() : nullptr;
    return graph ? body(node, graph) : cuda::kInvalidValue;
  });
}

} // namespace tiletwin::driver
