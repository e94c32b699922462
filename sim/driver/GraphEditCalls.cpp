// sim/driver/GraphEditCalls.cpp -- the driver's functions on the nodes and edges of a graph: lists, changes, clones, a picture.
#include "sim/driver/GraphApi.h"
#include "sim/driver/GraphNodes.h"
#include "sim/driver/Launch.h"
#include <algorithm>
#include <fstream>

namespace tiletwin::driver {
namespace {

struct Edge {
  NodeHandle from, to;
  EdgeData data;
};

std::vector<Edge> edgesOf(const Graph& graph) {
  const std::lock_guard lock(graph.mutex);
  std::vector<Edge> edges;
  for (const std::shared_ptr<GraphNode>& node : graph.all)
    for (size_t i = 0; i < node->behind.size(); ++i)
      edges.push_back({node->behind[i]->handle, node->handle, node->edges[i]});
  return edges;
}

bool isPlain(const EdgeData& data) { return data.fromPort == 0 && data.toPort == 0 && data.type == 0; }

/// Fills a client's lists, of which each may be missing. Without any, `count` gets how many there are; with one, what is left
/// of it is null. kLossyQuery: the client cannot be told of an edge's data.
Result tellEdges(const std::vector<Edge>& edges, NodeHandle* from, NodeHandle* to, EdgeData* data, size_t* count) {
  if (!count) return cuda::kInvalidValue;
  if (!from && !to && !data) {
    *count = edges.size();
    return cuda::kSuccess;
  }
  for (size_t i = 0; i < *count; ++i) {
    const Edge edge = i < edges.size() ? edges[i] : Edge{};
    if (!data && !isPlain(edge.data)) return kLossyQuery;
    if (from) from[i] = edge.from;
    if (to) to[i] = edge.to;
    if (data) data[i] = edge.data;
  }
  *count = std::min(*count, edges.size());
  return cuda::kSuccess;
}

Result tellNodes(const Nodes& all, NodeHandle* nodes, size_t* count) {
  std::vector<Edge> edges;
  for (const std::shared_ptr<GraphNode>& node : all) edges.push_back({node->handle, nullptr, {}});
  return tellEdges(edges, nodes, nullptr, nullptr, count);
}

/// change(graph, from, to, data) for each pair, up to the first that fails.
template <class Change>
Result changeEdges(GraphHandle handle, const NodeHandle* from, const NodeHandle* to, const EdgeData* data, size_t count,
                   const Change& change) noexcept {
  return onGraph(handle, [&](const std::shared_ptr<Graph>& graph) {
    Nodes sources, targets;
    if (!readNodes(from, count, sources) || !readNodes(to, count, targets)) return cuda::kInvalidValue;
    for (size_t i = 0; i < count; ++i)
      if (const Result result = change(*graph, sources[i], targets[i], data ? data[i] : EdgeData{})) return result;
    return cuda::kSuccess;
  });
}

Result connectOne(Graph& graph, const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to,
                  const EdgeData& data) {
  return graph.connect(from, to, data);
}
Result disconnectOne(Graph& graph, const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to,
                     const EdgeData&) {
  return graph.holdsMemory() ? cuda::kNotSupported : graph.disconnect(from, to);
}

const char* wordOf(const Work& work) {
  static constexpr const char* kWords[] = {"KERNEL",    "MEMCPY",     "MEMSET",       "HOST",       "GRAPH",
                                           "EMPTY",     "WAIT_EVENT", "EVENT_RECORD", "EXT_SIGNAL", "EXT_WAIT",
                                           "MEM_ALLOC", "MEM_FREE",   "BATCH_MEM_OP", "CONDITIONAL"};
  return kWords[work.type];
}

void draw(std::ostream& out, const Graph& graph, const std::string& prefix) {
  const std::lock_guard lock(graph.mutex);
  out << "subgraph \"cluster_" << prefix << "\" {\nlabel=\"" << prefix << "\"\n";
  const auto name = [&](const GraphNode* node) {
    const auto at = std::ranges::find(graph.all, node, &std::shared_ptr<GraphNode>::get);
    return '"' + prefix + "_node_" + std::to_string(at - graph.all.begin()) + '"';
  };
  for (const std::shared_ptr<GraphNode>& node : graph.all) {
    out << name(node.get()) << " [shape=\"record\" label=\"" << wordOf(*node->work);
    if (const auto* launch = dynamic_cast<const LaunchWork*>(node->work.get()))
      out << "\\n" << launch->function->kernel->name();
    out << "\"]\n";
    for (const std::shared_ptr<GraphNode>& other : node->behind)
      out << name(other.get()) << " -> " << name(node.get()) << "\n";
    if (const auto* child = dynamic_cast<const ChildWork*>(node->work.get()))
      draw(out, *child->graph, prefix + "_" + std::to_string(&node - graph.all.data()));
    if (const auto* conditional = dynamic_cast<const ConditionalWork*>(node->work.get()))
      for (size_t i = 0; i < conditional->bodies.size(); ++i)
        draw(out, *conditional->bodies[i],
             prefix + "_" + std::to_string(&node - graph.all.data()) + "_" + std::to_string(i));
  }
  out << "}\n";
}

} // namespace

extern "C" {

Result cuGraphGetNodes(GraphHandle handle, NodeHandle* nodes, size_t* count) {
  return onGraph(handle, [&](const std::shared_ptr<Graph>& graph) { return tellNodes(graph->nodes(), nodes, count); });
}

Result cuGraphGetRootNodes(GraphHandle handle, NodeHandle* nodes, size_t* count) {
  return onGraph(handle, [&](const std::shared_ptr<Graph>& graph) {
    Nodes roots;
    {
      const std::lock_guard lock(graph->mutex);
      std::ranges::copy_if(graph->all, std::back_inserter(roots),
                           [](const auto& node) { return node->behind.empty(); });
    }
    return tellNodes(roots, nodes, count);
  });
}

Result cuGraphGetEdges_v2(GraphHandle handle, NodeHandle* from, NodeHandle* to, EdgeData* data, size_t* count) {
  return onGraph(handle, [&](const std::shared_ptr<Graph>& graph) {
    if (!from != !to) return cuda::kInvalidValue;
    return tellEdges(edgesOf(*graph), from, to, data, count);
  });
}
Result cuGraphGetEdges(GraphHandle graph, NodeHandle* from, NodeHandle* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

Result cuGraphNodeGetDependencies_v2(NodeHandle handle, NodeHandle* nodes, EdgeData* data, size_t* count) {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    std::vector<Edge> edges = edgesOf(*graph);
    std::erase_if(edges, [&](const Edge& edge) { return edge.to != node->handle; });
    return tellEdges(edges, nodes, nullptr, data, count);
  });
}
Result cuGraphNodeGetDependencies(NodeHandle node, NodeHandle* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

Result cuGraphNodeGetDependentNodes_v2(NodeHandle handle, NodeHandle* nodes, EdgeData* data, size_t* count) {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    std::vector<Edge> edges = edgesOf(*graph);
    std::erase_if(edges, [&](const Edge& edge) { return edge.from != node->handle; });
    return tellEdges(edges, nullptr, nodes, data, count);
  });
}
Result cuGraphNodeGetDependentNodes(NodeHandle node, NodeHandle* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

Result cuGraphAddDependencies_v2(GraphHandle graph, const NodeHandle* from, const NodeHandle* to, const EdgeData* data,
                                 size_t count) {
  return changeEdges(graph, from, to, data, count, connectOne);
}
Result cuGraphAddDependencies(GraphHandle graph, const NodeHandle* from, const NodeHandle* to, size_t count) {
  return changeEdges(graph, from, to, nullptr, count, connectOne);
}
Result cuGraphRemoveDependencies_v2(GraphHandle graph, const NodeHandle* from, const NodeHandle* to,
                                    const EdgeData* data, size_t count) {
  return changeEdges(graph, from, to, data, count, disconnectOne);
}
Result cuGraphRemoveDependencies(GraphHandle graph, const NodeHandle* from, const NodeHandle* to, size_t count) {
  return changeEdges(graph, from, to, nullptr, count, disconnectOne);
}

Result cuGraphDestroyNode(NodeHandle handle) {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    if (graph->holdsMemory()) return cuda::kNotSupported;
    graph->remove(node);
    return cuda::kSuccess;
  });
}

Result cuGraphNodeFindInClone(NodeHandle* found, NodeHandle handle, GraphHandle clone) {
  return onGraph(clone, [&](const std::shared_ptr<Graph>& graph) {
    const std::shared_ptr<GraphNode> original = find<GraphNode>(handle);
    if (!found || !original) return cuda::kInvalidValue;
    for (const std::shared_ptr<GraphNode>& node : graph->nodes())
      if (node->original.lock() == original) {
        *found = node->handle;
        return cuda::kSuccess;
      }
    return cuda::kInvalidValue;
  });
}

Result cuGraphDebugDotPrint(GraphHandle handle, const char* path, unsigned flags) {
  return onGraph(handle, [&](const std::shared_ptr<Graph>& graph) {
    if (!path) return cuda::kInvalidValue;
    std::ofstream out(path);
    out << "digraph dot {\n";
    draw(out, *graph, "graph");
    out << "}\n";
    out.close();
    return out ? cuda::kSuccess : kOperatingSystem;
  });
}

} // extern "C"
} // namespace tiletwin::driver
