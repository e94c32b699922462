// sim/driver/GraphCalls.cpp -- the driver's functions on captures and graphs.
#include "sim/driver/Call.h"
#include "sim/driver/Copies.h"
#include "sim/driver/Graph.h"
#include "sim/driver/GraphApi.h"
#include "sim/driver/Handles.h"
#include "sim/driver/Launch.h"
#include <algorithm>

namespace tiletwin::driver {
namespace {

/// False: one of the handles is no node's.
bool readNodes(const NodeHandle* handles, size_t count, Nodes& nodes) {
  if (count && !handles) return false;
  for (size_t i = 0; i < count; ++i) {
    std::shared_ptr<GraphNode> node = find<GraphNode>(handles[i]);
    if (!node) return false;
    nodes.push_back(std::move(node));
  }
  return true;
}

GraphHandle handleOf(const std::shared_ptr<Graph>& graph) {
  const std::lock_guard lock(graph->mutex);
  if (!graph->handle) graph->handle = static_cast<GraphHandle>(Handles<Graph>::instance().add(graph));
  return graph->handle;
}

/// Adds a node whose work make(work) makes.
template <class Make>
Result addNode(NodeHandle* handle, GraphHandle graphHandle, const NodeHandle* behind, size_t count,
               const Make& make) noexcept {
  return inContext([&](Context& context) {
    const std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    Nodes nodes;
    if (!graph || !handle || !readNodes(behind, count, nodes)) return cuda::kInvalidValue;
    std::shared_ptr<Work> work;
    if (const Result result = make(context, work)) return result;
    std::shared_ptr<GraphNode> node;
    if (const Result result = graph->add(std::move(work), nodes, node)) return result;
    *handle = node->handle;
    return cuda::kSuccess;
  });
}

Result instantiate(GraphExecHandle* handle, GraphHandle graphHandle) noexcept {
  return inContext([&](Context&) {
    const std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    if (!handle || !graph) return cuda::kInvalidValue;
    auto exec = std::make_shared<GraphExec>();
    if (const Result result = workOf(*graph, exec->work)) return result;
    *handle = static_cast<GraphExecHandle>(Handles<GraphExec>::instance().add(std::move(exec)));
    return cuda::kSuccess;
  });
}

} // namespace

extern "C" {

Result cuStreamBeginCaptureToGraph(StreamHandle handle, GraphHandle graphHandle, const NodeHandle* behind,
                                   const void* edges, size_t count, int mode) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    Nodes nodes;
    if (!stream) return kInvalidHandle;
    if ((graphHandle && !graph) || !readNodes(behind, count, nodes)) return cuda::kInvalidValue;
    return stream->beginCapture(mode, std::move(graph), nodes);
  });
}
Result cuStreamBeginCapture_v2(StreamHandle stream, int mode) {
  return cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, mode);
}

Result cuStreamEndCapture(StreamHandle handle, GraphHandle* graphHandle) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    if (!stream) return kInvalidHandle;
    if (!graphHandle) return cuda::kInvalidValue;
    *graphHandle = nullptr;
    std::shared_ptr<Graph> graph;
    if (const Result result = stream->endCapture(graph)) return result;
    *graphHandle = handleOf(graph);
    return cuda::kSuccess;
  });
}

Result cuStreamGetCaptureInfo_v3(StreamHandle handle, int* status, uint64_t* id, GraphHandle* graph,
                                 const NodeHandle** nodes, const void** edges, size_t* count) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    if (!stream) return kInvalidHandle;
    enum { kNone, kActive, kInvalidated };
    if (!status) return cuda::kInvalidValue;
    const std::shared_ptr<Capture> capture = stream->capture();
    *status = !capture ? kNone : capture->isInvalid ? kInvalidated : kActive;
    if (!capture) return cuda::kSuccess;
    if (id) *id = capture->id;
    if (graph) *graph = handleOf(capture->graph);
    if (edges) *edges = nullptr;
    thread_local std::vector<NodeHandle> last; // a client reads it before it calls again
    last.clear();
    for (const std::shared_ptr<GraphNode>& node : stream->lastNodes()) last.push_back(node->handle);
    if (nodes) *nodes = last.data();
    if (count) *count = last.size();
    return cuda::kSuccess;
  });
}
Result cuStreamGetCaptureInfo_v2(StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph,
                                 const NodeHandle** nodes, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}

Result cuGraphCreate(GraphHandle* handle, unsigned flags) {
  return inDriver([&] {
    if (!handle || flags) return cuda::kInvalidValue;
    *handle = handleOf(std::make_shared<Graph>());
    return cuda::kSuccess;
  });
}

Result cuGraphDestroy(GraphHandle handle) {
  return inDriver([&] { return Handles<Graph>::instance().take(handle) ? cuda::kSuccess : cuda::kInvalidValue; });
}

Result cuGraphAddKernelNode_v2(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                               const KernelNodeParams* params) {
  return addNode(node, graph, behind, count, [&](Context& context, std::shared_ptr<Work>& work) {
    if (!params) return cuda::kInvalidValue;
    LaunchShape shape;
    shape.grid = {params->gridX, params->gridY, params->gridZ};
    shape.block = {params->blockX, params->blockY, params->blockZ};
    shape.sharedBytes = params->sharedBytes;
    const void* function = params->function ? static_cast<const void*>(params->function) : params->kernel;
    std::shared_ptr<LaunchWork> launch;
    const Result result = prepareLaunch(context, function, shape, params->parameters, params->extra, launch);
    work = std::move(launch);
    return result;
  });
}

Result cuGraphAddMemcpyNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                            const Copy3D* copy, ContextHandle context) {
  return addNode(node, graph, behind, count, [&](Context&, std::shared_ptr<Work>& work) {
    if (!copy) return cuda::kInvalidValue;
    std::shared_ptr<CopyWork> made;
    const Result result = makeCopy(*copy, made);
    work = std::move(made);
    return result;
  });
}

Result cuGraphAddMemsetNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                            const MemsetNodeParams* params, ContextHandle context) {
  return addNode(node, graph, behind, count, [&](Context&, std::shared_ptr<Work>& work) {
    if (!params) return cuda::kInvalidValue;
    work = std::make_shared<FillWork>(*params);
    return checkFill(*params);
  });
}

Result cuGraphAddHostNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                          const HostNodeParams* params) {
  return addNode(node, graph, behind, count, [&](Context&, std::shared_ptr<Work>& work) {
    if (!params || !params->function) return cuda::kInvalidValue;
    work = std::make_shared<HostWork>(*params);
    return cuda::kSuccess;
  });
}

Result cuGraphAddEmptyNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count) {
  return addNode(node, graph, behind, count, [&](Context&, std::shared_ptr<Work>& work) {
    work = std::make_shared<EmptyWork>();
    return cuda::kSuccess;
  });
}

Result cuGraphAddChildGraphNode(NodeHandle* node, GraphHandle graph, const NodeHandle* behind, size_t count,
                                GraphHandle child) {
  return addNode(node, graph, behind, count, [&](Context&, std::shared_ptr<Work>& work) {
    const std::shared_ptr<Graph> inner = find<Graph>(child);
    std::shared_ptr<GraphWork> made;
    if (!inner) return cuda::kInvalidValue;
    const Result result = workOf(*inner, made); // as it is now
    work = std::move(made);
    return result;
  });
}

Result cuGraphNodeGetType(NodeHandle handle, int* type) {
  return inDriver([&] {
    const std::shared_ptr<GraphNode> node = find<GraphNode>(handle);
    if (!node || !type) return cuda::kInvalidValue;
    *type = node->work->type;
    return cuda::kSuccess;
  });
}

// Without a list it says how many there are; with one, what is left of it is null.
Result cuGraphGetNodes(GraphHandle handle, NodeHandle* nodes, size_t* count) {
  return inDriver([&] {
    const std::shared_ptr<Graph> graph = find<Graph>(handle);
    if (!graph || !count) return cuda::kInvalidValue;
    const Nodes all = graph->nodes();
    if (nodes)
      for (size_t i = 0; i < *count; ++i) nodes[i] = i < all.size() ? all[i]->handle : nullptr;
    *count = nodes ? std::min(*count, all.size()) : all.size();
    return cuda::kSuccess;
  });
}

Result cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags) {
  return instantiate(exec, graph);
}
Result cuGraphInstantiateWithParams(GraphExecHandle* exec, GraphHandle graph, GraphInstantiateParams* params) {
  const Result result = params ? instantiate(exec, graph) : cuda::kInvalidValue;
  if (params) params->result = result ? 1 : 0;
  return result;
}

Result cuGraphUpload(GraphExecHandle handle, StreamHandle stream) {
  return inContext([&](Context& context) {
    if (!find<GraphExec>(handle)) return cuda::kInvalidValue;
    return Stream::find(context, stream) ? cuda::kSuccess : kInvalidHandle;
  });
}

Result cuGraphLaunch(GraphExecHandle handle, StreamHandle streamHandle) {
  return inContext([&](Context& context) {
    const std::shared_ptr<GraphExec> exec = find<GraphExec>(handle);
    const std::shared_ptr<Stream> stream = Stream::find(context, streamHandle);
    if (!exec) return cuda::kInvalidValue;
    return stream ? stream->give(exec->work) : kInvalidHandle;
  });
}

Result cuGraphExecDestroy(GraphExecHandle handle) {
  return inDriver([&] { return Handles<GraphExec>::instance().take(handle) ? cuda::kSuccess : cuda::kInvalidValue; });
}

} // extern "C"
} // namespace tiletwin::driver
