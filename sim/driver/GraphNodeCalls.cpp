// sim/driver/GraphNodeCalls.cpp -- the driver's functions that make nodes, tell what they do, and change it.
// Each kind of node has the same three: it is made, changed in a graph, changed in what is ready to run. What differs is how its
// work comes from parameters (NodeWork.h).
#include "sim/driver/GraphApi.h"
#include "sim/driver/GraphExec.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/GraphNodes.h"
#include "sim/driver/NodeWork.h"
#include <cstring>

namespace tiletwin::driver {
namespace {

/// Adds a node whose work make(context, graph, work) makes.
template <class Make>
Result addNode(NodeHandle* handle, GraphHandle graphHandle, const NodeHandle* behind, const EdgeData* edges,
               size_t count, const Make& make) noexcept {
  return inContext([&](Context& context) {
    const std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    Nodes nodes;
    if (!graph || !handle || !readNodes(behind, count, nodes)) return cuda::kInvalidValue;
    std::shared_ptr<Work> work;
    if (const Result result = make(context, *graph, work)) return result;
    std::shared_ptr<GraphNode> node;
    if (const Result result = graph->add(std::move(work), nodes, node, edges)) return result;
    *handle = node->handle;
    return cuda::kSuccess;
  });
}

std::shared_ptr<Work> workOfNode(const GraphNode& node, const Graph& graph) {
  const std::lock_guard lock(graph.mutex);
  return node.work;
}

/// The new work of a node: of the old one's kind, a launch with the old one's attributes.
template <class Make>
Result remake(Context& context, const Graph& graph, const Work& before, const Make& make, std::shared_ptr<Work>& work) {
  if (const Result result = make(context, graph, work)) return result;
  if (work->type != before.type) return cuda::kInvalidValue;
  return before.type == kNodeKernel ? withAttributesOf(*work, before, work) : cuda::kSuccess;
}

template <class Make> Result setNode(NodeHandle handle, const Make& make) noexcept {
  return inContext([&](Context& context) {
    return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
      std::shared_ptr<Work> work = workOfNode(*node, *graph);
      if (const Result result = remake(context, *graph, *work, make, work)) return result;
      const std::lock_guard lock(graph->mutex);
      node->work.swap(work);
      return cuda::kSuccess;
    });
  });
}

template <class Make> Result setExec(GraphExecHandle handle, NodeHandle nodeHandle, const Make& make) noexcept {
  return inContext([&](Context& context) {
    const std::shared_ptr<GraphExec> exec = find<GraphExec>(handle);
    if (!exec) return cuda::kInvalidValue;
    return onNode(nodeHandle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
      return exec->edit(node, [&](Step& step) { return remake(context, *graph, *step.work, make, step.work); });
    });
  });
}

template <class Params> Result getParams(NodeHandle handle, Params* params) noexcept {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    return params ? paramsOf(*workOfNode(*node, *graph), *params) : cuda::kInvalidValue;
  });
}

// ---- One function a kind, from its parameters to make(context, graph, work)

template <class Params> auto from(Params* params) {
  return [params](Context& context, const Graph&, std::shared_ptr<Work>& work) {
    return makeNodeWork(context, params, work);
  };
}
auto fromEvent(NodeType type, EventHandle event) {
  return [=](Context&, const Graph&, std::shared_ptr<Work>& work) { return makeEventWork(type, event, work); };
}
auto fromChild(GraphHandle child) {
  return [=](Context&, const Graph& graph, std::shared_ptr<Work>& work) {
    return makeChildWork(&graph, {child, 0}, work);
  };
}
auto fromAny(GraphNodeParams* params) {
  return [=](Context& context, const Graph& graph, std::shared_ptr<Work>& work) {
    return params ? makeAnyWork(context, graph, *params, work) : cuda::kInvalidValue;
  };
}

Result getEvent(NodeType type, NodeHandle handle, EventHandle* event) noexcept {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    return event ? eventOf(type, *workOfNode(*node, *graph), *event) : cuda::kInvalidValue;
  });
}

} // namespace

extern "C" {

// ---- Kernels
Result cuGraphAddKernelNode_v2(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                               const KernelNodeParams* params) {
  return addNode(node, graph, behind, nullptr, count, from(params));
}
Result cuGraphKernelNodeGetParams_v2(NodeHandle node, KernelNodeParams* params) { return getParams(node, params); }
Result cuGraphKernelNodeSetParams_v2(NodeHandle node, const KernelNodeParams* params) {
  return setNode(node, from(params));
}
Result cuGraphExecKernelNodeSetParams_v2(GraphExecHandle exec, NodeHandle node, const KernelNodeParams* params) {
  return setExec(exec, node, from(params));
}
Result cuGraphKernelNodeGetAttribute(NodeHandle handle, int id, void* value) {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    if (!value) return cuda::kInvalidValue;
    LaunchAttribute attribute{cuda::LaunchAttributeId(id), {}, {}};
    const Result result = attributeOf(*workOfNode(*node, *graph), attribute);
    if (!result) std::memcpy(value, attribute.room, sizeof attribute.room);
    return result;
  });
}
Result cuGraphKernelNodeSetAttribute(NodeHandle handle, int id, const void* value) {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    if (!value) return cuda::kInvalidValue;
    LaunchAttribute attribute{cuda::LaunchAttributeId(id), {}, {}};
    std::memcpy(attribute.room, value, sizeof attribute.room);
    std::shared_ptr<Work> work;
    if (const Result result = withAttribute(*workOfNode(*node, *graph), attribute, work)) return result;
    const std::lock_guard lock(graph->mutex);
    node->work = std::move(work);
    return cuda::kSuccess;
  });
}
Result cuGraphKernelNodeCopyAttributes(NodeHandle to, NodeHandle from) {
  return onNode(to, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    return onNode(from, [&](const std::shared_ptr<GraphNode>& other, const std::shared_ptr<Graph>& otherGraph) {
      std::shared_ptr<Work> work;
      if (const Result result = withAttributesOf(*workOfNode(*node, *graph), *workOfNode(*other, *otherGraph), work))
        return result;
      const std::lock_guard lock(graph->mutex);
      node->work = std::move(work);
      return cuda::kSuccess;
    });
  });
}

// ---- Copies
Result cuGraphAddMemcpyNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                            const Copy3D* copy, ContextHandle context) {
  return addNode(node, graph, behind, nullptr, count, from(copy));
}
Result cuGraphMemcpyNodeGetParams(NodeHandle node, Copy3D* copy) { return getParams(node, copy); }
Result cuGraphMemcpyNodeSetParams(NodeHandle node, const Copy3D* copy) { return setNode(node, from(copy)); }
Result cuGraphExecMemcpyNodeSetParams(GraphExecHandle exec, NodeHandle node, const Copy3D* copy,
                                      ContextHandle context) {
  return setExec(exec, node, from(copy));
}

// ---- Fills
Result cuGraphAddMemsetNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                            const MemsetNodeParams* params, ContextHandle context) {
  return addNode(node, graph, behind, nullptr, count, from(params));
}
Result cuGraphMemsetNodeGetParams(NodeHandle node, MemsetNodeParams* params) { return getParams(node, params); }
Result cuGraphMemsetNodeSetParams(NodeHandle node, const MemsetNodeParams* params) {
  return setNode(node, from(params));
}
Result cuGraphExecMemsetNodeSetParams(GraphExecHandle exec, NodeHandle node, const MemsetNodeParams* params,
                                      ContextHandle context) {
  return setExec(exec, node, from(params));
}

// ---- Host functions
Result cuGraphAddHostNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                          const HostNodeParams* params) {
  return addNode(node, graph, behind, nullptr, count, from(params));
}
Result cuGraphHostNodeGetParams(NodeHandle node, HostNodeParams* params) { return getParams(node, params); }
Result cuGraphHostNodeSetParams(NodeHandle node, const HostNodeParams* params) { return setNode(node, from(params)); }
Result cuGraphExecHostNodeSetParams(GraphExecHandle exec, NodeHandle node, const HostNodeParams* params) {
  return setExec(exec, node, from(params));
}

// ---- Events
Result cuGraphAddEventRecordNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                                 EventHandle event) {
  return addNode(node, graph, behind, nullptr, count, fromEvent(kNodeRecordEvent, event));
}
Result cuGraphEventRecordNodeGetEvent(NodeHandle node, EventHandle* event) {
  return getEvent(kNodeRecordEvent, node, event);
}
Result cuGraphEventRecordNodeSetEvent(NodeHandle node, EventHandle event) {
  return setNode(node, fromEvent(kNodeRecordEvent, event));
}
Result cuGraphExecEventRecordNodeSetEvent(GraphExecHandle exec, NodeHandle node, EventHandle event) {
  return setExec(exec, node, fromEvent(kNodeRecordEvent, event));
}
Result cuGraphAddEventWaitNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                               EventHandle event) {
  return addNode(node, graph, behind, nullptr, count, fromEvent(kNodeWaitEvent, event));
}
Result cuGraphEventWaitNodeGetEvent(NodeHandle node, EventHandle* event) {
  return getEvent(kNodeWaitEvent, node, event);
}
Result cuGraphEventWaitNodeSetEvent(NodeHandle node, EventHandle event) {
  return setNode(node, fromEvent(kNodeWaitEvent, event));
}
Result cuGraphExecEventWaitNodeSetEvent(GraphExecHandle exec, NodeHandle node, EventHandle event) {
  return setExec(exec, node, fromEvent(kNodeWaitEvent, event));
}

// ---- Empty nodes, memory, graphs within graphs
Result cuGraphAddEmptyNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count) {
  GraphNodeParams params{};
  params.type = kNodeEmpty;
  return addNode(node, graph, behind, nullptr, count, fromAny(&params));
}
Result cuGraphAddMemAllocNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                              GraphAllocParams* params) {
  return addNode(node, graph, behind, nullptr, count, from(params));
}
Result cuGraphMemAllocNodeGetParams(NodeHandle node, GraphAllocParams* params) { return getParams(node, params); }
Result cuGraphAddMemFreeNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                             DevicePointer address) {
  GraphNodeParams params{};
  params.type = kNodeMemoryFree;
  params.free = address;
  return addNode(node, graph, behind, nullptr, count, fromAny(&params));
}
Result cuGraphMemFreeNodeGetParams(NodeHandle node, DevicePointer* address) { return getParams(node, address); }
Result cuGraphAddChildGraphNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                                GraphHandle child) {
  return addNode(node, graph, behind, nullptr, count, fromChild(child));
}
Result cuGraphChildGraphNodeGetGraph(NodeHandle handle, GraphHandle* child) {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    const auto work = std::dynamic_pointer_cast<ChildWork>(workOfNode(*node, *graph));
    if (!child || !work) return cuda::kInvalidValue;
    *child = handleOf(work->graph);
    return cuda::kSuccess;
  });
}
Result cuGraphExecChildGraphNodeSetParams(GraphExecHandle handle, NodeHandle nodeHandle, GraphHandle child) {
  return onGraph(child, [&](const std::shared_ptr<Graph>& graph) {
    const std::shared_ptr<GraphExec> exec = find<GraphExec>(handle);
    return exec ? exec->updateChild(find<GraphNode>(nodeHandle), *graph) : cuda::kInvalidValue;
  });
}

// ---- Any kind
Result cuGraphAddNode_v2(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, const EdgeData* edges,
                         size_t count, GraphNodeParams* params) {
  return addNode(node, graph, behind, edges, count, fromAny(params));
}
Result cuGraphAddNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                      GraphNodeParams* params) {
  return cuGraphAddNode_v2(node, graph, behind, nullptr, count, params);
}
Result cuGraphNodeSetParams(NodeHandle node, GraphNodeParams* params) { return setNode(node, fromAny(params)); }
Result cuGraphExecNodeSetParams(GraphExecHandle exec, NodeHandle node, GraphNodeParams* params) {
  if (params && params->type == kNodeGraph) return cuGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
  return setExec(exec, node, fromAny(params));
}
Result cuGraphNodeGetType(NodeHandle handle, int* type) {
  return onNode(handle, [&](const std::shared_ptr<GraphNode>& node, const std::shared_ptr<Graph>& graph) {
    if (!type) return cuda::kInvalidValue;
    *type = workOfNode(*node, *graph)->type;
    return cuda::kSuccess;
  });
}

// Kernels, copies and fills alone can be left out.
Result cuGraphNodeSetEnabled(GraphExecHandle handle, NodeHandle nodeHandle, unsigned isEnabled) {
  return inDriver([&] {
    const std::shared_ptr<GraphExec> exec = find<GraphExec>(handle);
    const std::shared_ptr<GraphNode> node = find<GraphNode>(nodeHandle);
    if (!exec || !node) return cuda::kInvalidValue;
    return exec->edit(node, [&](Step& step) {
      if (step.work->type > kNodeMemset) return cuda::kInvalidValue;
      step.isEnabled = isEnabled != 0;
      return cuda::kSuccess;
    });
  });
}
Result cuGraphNodeGetEnabled(GraphExecHandle handle, NodeHandle nodeHandle, unsigned* isEnabled) {
  return inDriver([&] {
    const std::shared_ptr<GraphExec> exec = find<GraphExec>(handle);
    const std::shared_ptr<GraphNode> node = find<GraphNode>(nodeHandle);
    if (!exec || !node || !isEnabled) return cuda::kInvalidValue;
    return exec->edit(node, [&](const Step& step) {
      if (step.work->type > kNodeMemset) return cuda::kInvalidValue;
      *isEnabled = step.isEnabled;
      return cuda::kSuccess;
    });
  });
}

} // extern "C"
} // namespace tiletwin::driver
