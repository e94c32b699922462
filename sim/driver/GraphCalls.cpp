// sim/driver/GraphCalls.cpp -- the driver's functions on captures, whole graphs, and graphs that are ready to run.
// Not here:  nodes and edges (GraphNodeCalls.cpp, GraphEditCalls.cpp).
#include "sim/driver/Call.h"
#include "sim/driver/GraphApi.h"
#include "sim/driver/GraphExec.h"
#include "sim/driver/GraphMemory.h"
#include "sim/driver/GraphNodes.h"
#include "sim/driver/Handles.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>

namespace tiletwin::driver {
namespace {

Result instantiate(GraphExecHandle* handle, GraphHandle graphHandle, uint64_t flags) noexcept {
  return inContext([&](Context&) {
    constexpr uint64_t kKnown = 15;
    const std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    if (!handle || !graph || flags & ~kKnown) return cuda::kInvalidValue;
    auto exec = std::make_shared<GraphExec>();
    std::shared_ptr<GraphWork> work;
    if (const Result result = workOf(*graph, work)) return result;
    exec->begin(std::move(work));
    exec->flags = flags;
    *handle = static_cast<GraphExecHandle>(Handles<GraphExec>::instance().add(std::move(exec)));
    return cuda::kSuccess;
  });
}

template <class Body> Result onUserObject(UserObjectHandle handle, unsigned count, const Body& body) noexcept {
  return inDriver([&] {
    const std::shared_ptr<UserObject> object = find<UserObject>(handle);
    return object && count ? body(object) : cuda::kInvalidValue;
  });
}

} // namespace

extern "C" {

// ---- Captures -----------------------------------------------------------------------------------------------------------------------

Result cuStreamBeginCaptureToGraph(StreamHandle handle, GraphHandle graphHandle, const NodeHandle* behind,
                                   const EdgeData* edges, size_t count, int mode) {
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
    const std::shared_ptr<Capture> capture = stream->capture();
    const bool hasHandle = capture && capture->graph->handle; // the client gave the graph, or has asked for it
    if (!graphHandle && !hasHandle) return cuda::kInvalidValue;
    if (graphHandle) *graphHandle = nullptr;
    std::shared_ptr<Graph> graph;
    if (const Result result = stream->endCapture(graph)) return result;
    if (graphHandle) *graphHandle = handleOf(graph);
    return cuda::kSuccess;
  });
}

Result cuStreamGetCaptureInfo_v3(StreamHandle handle, int* status, uint64_t* id, GraphHandle* graph,
                                 const NodeHandle** nodes, const EdgeData** edges, size_t* count) {
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
    thread_local std::vector<NodeHandle> last; // a client reads it before it calls again
    thread_local std::vector<EdgeData> lastEdges;
    last.clear();
    for (const std::shared_ptr<GraphNode>& node : stream->lastNodes()) last.push_back(node->handle);
    lastEdges.assign(last.size(), EdgeData{});
    if (edges) *edges = lastEdges.data();
    if (nodes) *nodes = last.data();
    if (count) *count = last.size();
    return cuda::kSuccess;
  });
}
Result cuStreamGetCaptureInfo_v2(StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph,
                                 const NodeHandle** nodes, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}

Result cuStreamUpdateCaptureDependencies_v2(StreamHandle handle, const NodeHandle* behind, const EdgeData* edges,
                                            size_t count, unsigned flags) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    Nodes nodes;
    if (!stream) return kInvalidHandle;
    if (flags > 1 || !readNodes(behind, count, nodes)) return cuda::kInvalidValue;
    return stream->setLastNodes(nodes, flags == 0);
  });
}

// ---- Graphs -------------------------------------------------------------------------------------------------------------------------

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

Result cuGraphClone(GraphHandle* handle, GraphHandle original) {
  return onGraph(original, [&](const std::shared_ptr<Graph>& graph) {
    if (!handle) return cuda::kInvalidValue;
    const std::shared_ptr<Graph> clone = graph->clone();
    if (!clone) return cuda::kNotSupported;
    *handle = handleOf(clone);
    return cuda::kSuccess;
  });
}

Result cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long flags) {
  return instantiate(exec, graph, flags);
}
Result cuGraphInstantiateWithParams(GraphExecHandle* exec, GraphHandle graph, GraphInstantiateParams* params) {
  const Result result = params ? instantiate(exec, graph, params->flags) : cuda::kInvalidValue;
  constexpr int kError = 1, kInvalidStructure = 2;
  if (params) params->result = !result ? 0 : result == cuda::kInvalidValue ? kInvalidStructure : kError;
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
    return stream ? stream->give(exec->work()) : kInvalidHandle;
  });
}

Result cuGraphExecGetFlags(GraphExecHandle handle, uint64_t* flags) {
  return inDriver([&] {
    const std::shared_ptr<GraphExec> exec = find<GraphExec>(handle);
    if (!exec || !flags) return cuda::kInvalidValue;
    *flags = exec->flags;
    return cuda::kSuccess;
  });
}

Result cuGraphExecUpdate_v2(GraphExecHandle handle, GraphHandle graphHandle, UpdateInfo* info) {
  return onGraph(graphHandle, [&](const std::shared_ptr<Graph>& graph) {
    const std::shared_ptr<GraphExec> exec = find<GraphExec>(handle);
    return exec && info ? exec->update(*graph, *info) : cuda::kInvalidValue;
  });
}
Result cuGraphExecUpdate(GraphExecHandle handle, GraphHandle graph, NodeHandle* wrongNode, int* result) {
  UpdateInfo info{};
  const Result code = cuGraphExecUpdate_v2(handle, graph, &info);
  if (wrongNode) *wrongNode = info.node;
  if (result) *result = info.result;
  return code;
}

Result cuGraphExecDestroy(GraphExecHandle handle) {
  return inDriver([&] { return Handles<GraphExec>::instance().take(handle) ? cuda::kSuccess : cuda::kInvalidValue; });
}

// ---- What a graph keeps ----------------------------------------------------------------------------------------------------------

Result cuGraphConditionalHandleCreate(uint64_t* handle, GraphHandle graphHandle, ContextHandle contextHandle,
                                      unsigned initial, unsigned flags) {
  return inContext([&](Context& current) {
    const std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    const std::shared_ptr<Context> named = find<Context>(contextHandle);
    if (!handle || !graph || flags > 1 || (contextHandle && !named)) return cuda::kInvalidValue;
    std::shared_ptr<Condition> condition = Condition::make(named ? *named : current, initial, flags == 1);
    if (!condition) return cuda::kOutOfMemory;
    *handle = condition->address();
    const std::lock_guard lock(graph->mutex);
    graph->conditions[*handle] = std::move(condition);
    return cuda::kSuccess;
  });
}

Result cuUserObjectCreate(UserObjectHandle* handle, void* data, HostFunction destroy, unsigned count, unsigned flags) {
  return inDriver([&] {
    constexpr unsigned kNoDestructorSync = 1;
    if (!handle || !destroy || !count || flags != kNoDestructorSync) return cuda::kInvalidValue;
    auto object = std::make_shared<UserObject>(data, destroy, count);
    *handle = object->handle = static_cast<UserObjectHandle>(Handles<UserObject>::instance().add(object));
    return cuda::kSuccess;
  });
}
Result cuUserObjectRetain(UserObjectHandle handle, unsigned count) {
  return onUserObject(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    object->retain(count);
    return cuda::kSuccess;
  });
}
Result cuUserObjectRelease(UserObjectHandle handle, unsigned count) {
  return onUserObject(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    return object->release(count) ? cuda::kSuccess : cuda::kInvalidValue;
  });
}

Result cuGraphRetainUserObject(GraphHandle graphHandle, UserObjectHandle handle, unsigned count, unsigned flags) {
  return onUserObject(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    constexpr unsigned kMove = 1;
    const std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    if (!graph || flags > kMove) return cuda::kInvalidValue;
    if (flags != kMove) object->retain(count);
    const std::lock_guard lock(graph->mutex);
    graph->held.add(object, count);
    return cuda::kSuccess;
  });
}
Result cuGraphReleaseUserObject(GraphHandle graphHandle, UserObjectHandle handle, unsigned count) {
  return onUserObject(handle, count, [&](const std::shared_ptr<UserObject>& object) {
    const std::shared_ptr<Graph> graph = find<Graph>(graphHandle);
    if (!graph) return cuda::kInvalidValue;
    {
      const std::lock_guard lock(graph->mutex);
      if (!graph->held.remove(object, count)) return cuda::kInvalidValue;
    }
    return object->release(count) ? cuda::kSuccess : cuda::kInvalidValue;
  });
}

Result cuDeviceGetGraphMemAttribute(DeviceHandle device, int attribute, void* value) {
  return inDriver([&] {
    if (!VirtualDevice::find(device)) return cuda::kInvalidDevice;
    if (!value || attribute < 0 || attribute > 3) return cuda::kInvalidValue;
    *static_cast<uint64_t*>(value) = graphMemoryOf(device)[size_t(attribute)];
    return cuda::kSuccess;
  });
}
// What was the most may be set to 0, which means to what is now.
Result cuDeviceSetGraphMemAttribute(DeviceHandle device, int attribute, void* value) {
  return inDriver([&] {
    if (!VirtualDevice::find(device)) return cuda::kInvalidDevice;
    if (!value || (attribute != 1 && attribute != 3) || *static_cast<uint64_t*>(value)) return cuda::kInvalidValue;
    auto& counts = graphMemoryOf(device);
    counts[size_t(attribute)] = counts[size_t(attribute) - 1].load();
    return cuda::kSuccess;
  });
}
Result cuDeviceGraphMemTrim(DeviceHandle device) {
  return inDriver([&] {
    if (!VirtualDevice::find(device)) return cuda::kInvalidDevice;
    trimGraphMemory(device);
    return cuda::kSuccess;
  });
}

} // extern "C"
} // namespace tiletwin::driver
