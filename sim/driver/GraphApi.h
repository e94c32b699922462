// sim/driver/GraphApi.h -- the driver's functions on graphs and captures, as Api.h has the others.
#pragma once
#include "sim/driver/Api.h"

#define TILETWIN_GPU_GRAPHS(X)                                                                                         \
  X(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, (StreamHandle stream, int mode))                             \
  X(cuStreamEndCapture, 10000, cuStreamEndCapture, (StreamHandle stream, GraphHandle * graph))                         \
  X(cuStreamBeginCaptureToGraph, 12030, cuStreamBeginCaptureToGraph,                                                   \
    (StreamHandle stream, GraphHandle graph, const NodeHandle* behind, const EdgeData* edges, size_t count, int mode)) \
  X(cuStreamGetCaptureInfo, 11030, cuStreamGetCaptureInfo_v2,                                                          \
    (StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph, const NodeHandle** nodes, size_t* count))     \
  X(cuStreamGetCaptureInfo, 12030, cuStreamGetCaptureInfo_v3,                                                          \
    (StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph, const NodeHandle** nodes,                     \
     const EdgeData** edges, size_t* count))                                                                           \
  X(cuGraphCreate, 10000, cuGraphCreate, (GraphHandle * graph, unsigned flags))                                        \
  X(cuGraphDestroy, 10000, cuGraphDestroy, (GraphHandle graph))                                                        \
  X(cuGraphAddKernelNode, 12000, cuGraphAddKernelNode_v2,                                                              \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, const KernelNodeParams* params))    \
  X(cuGraphAddMemcpyNode, 10000, cuGraphAddMemcpyNode,                                                                 \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, const Copy3D* copy,                 \
     ContextHandle context))                                                                                           \
  X(cuGraphAddMemsetNode, 10000, cuGraphAddMemsetNode,                                                                 \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, const MemsetNodeParams* params,     \
     ContextHandle context))                                                                                           \
  X(cuGraphAddHostNode, 10000, cuGraphAddHostNode,                                                                     \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, const HostNodeParams* params))      \
  X(cuGraphAddEmptyNode, 10000, cuGraphAddEmptyNode,                                                                   \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count))                                    \
  X(cuGraphAddChildGraphNode, 10000, cuGraphAddChildGraphNode,                                                         \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, GraphHandle child))                 \
  X(cuGraphNodeGetType, 10000, cuGraphNodeGetType, (NodeHandle node, int* type))                                       \
  X(cuGraphGetNodes, 10000, cuGraphGetNodes, (GraphHandle graph, NodeHandle * nodes, size_t* count))                   \
  X(cuGraphInstantiate, 11000, cuGraphInstantiateWithFlags,                                                            \
    (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags))                                             \
  X(cuGraphInstantiateWithParams, 12000, cuGraphInstantiateWithParams,                                                 \
    (GraphExecHandle * exec, GraphHandle graph, GraphInstantiateParams * params))                                      \
  X(cuGraphUpload, 11010, cuGraphUpload, (GraphExecHandle exec, StreamHandle stream))                                  \
  X(cuGraphLaunch, 10000, cuGraphLaunch, (GraphExecHandle exec, StreamHandle stream))                                  \
  X(cuGraphExecDestroy, 10000, cuGraphExecDestroy, (GraphExecHandle exec))                                             \
  X(cuStreamUpdateCaptureDependencies, 12030, cuStreamUpdateCaptureDependencies_v2,                                    \
    (StreamHandle stream, const NodeHandle* behind, const EdgeData* edges, size_t count, unsigned flags))              \
  X(cuGraphClone, 10000, cuGraphClone, (GraphHandle * clone, GraphHandle original))                                    \
  X(cuGraphKernelNodeGetParams, 12000, cuGraphKernelNodeGetParams_v2, (NodeHandle node, KernelNodeParams * params))    \
  X(cuGraphKernelNodeSetParams, 12000, cuGraphKernelNodeSetParams_v2,                                                  \
    (NodeHandle node, const KernelNodeParams* params))                                                                 \
  X(cuGraphKernelNodeGetAttribute, 11000, cuGraphKernelNodeGetAttribute, (NodeHandle node, int id, void* value))       \
  X(cuGraphKernelNodeSetAttribute, 11000, cuGraphKernelNodeSetAttribute, (NodeHandle node, int id, const void* value)) \
  X(cuGraphKernelNodeCopyAttributes, 11000, cuGraphKernelNodeCopyAttributes, (NodeHandle to, NodeHandle from))         \
  X(cuGraphMemcpyNodeGetParams, 10000, cuGraphMemcpyNodeGetParams, (NodeHandle node, Copy3D * copy))                   \
  X(cuGraphMemcpyNodeSetParams, 10000, cuGraphMemcpyNodeSetParams, (NodeHandle node, const Copy3D* copy))              \
  X(cuGraphMemsetNodeGetParams, 10000, cuGraphMemsetNodeGetParams, (NodeHandle node, MemsetNodeParams * params))       \
  X(cuGraphMemsetNodeSetParams, 10000, cuGraphMemsetNodeSetParams, (NodeHandle node, const MemsetNodeParams* params))  \
  X(cuGraphHostNodeGetParams, 10000, cuGraphHostNodeGetParams, (NodeHandle node, HostNodeParams * params))             \
  X(cuGraphHostNodeSetParams, 10000, cuGraphHostNodeSetParams, (NodeHandle node, const HostNodeParams* params))        \
  X(cuGraphAddEventRecordNode, 11010, cuGraphAddEventRecordNode,                                                       \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, EventHandle event))                 \
  X(cuGraphEventRecordNodeGetEvent, 11010, cuGraphEventRecordNodeGetEvent, (NodeHandle node, EventHandle * event))     \
  X(cuGraphEventRecordNodeSetEvent, 11010, cuGraphEventRecordNodeSetEvent, (NodeHandle node, EventHandle event))       \
  X(cuGraphAddEventWaitNode, 11010, cuGraphAddEventWaitNode,                                                           \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, EventHandle event))                 \
  X(cuGraphEventWaitNodeGetEvent, 11010, cuGraphEventWaitNodeGetEvent, (NodeHandle node, EventHandle * event))         \
  X(cuGraphEventWaitNodeSetEvent, 11010, cuGraphEventWaitNodeSetEvent, (NodeHandle node, EventHandle event))           \
  X(cuGraphAddMemAllocNode, 11040, cuGraphAddMemAllocNode,                                                             \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, GraphAllocParams* params))          \
  X(cuGraphMemAllocNodeGetParams, 11040, cuGraphMemAllocNodeGetParams, (NodeHandle node, GraphAllocParams * params))   \
  X(cuGraphAddMemFreeNode, 11040, cuGraphAddMemFreeNode,                                                               \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, DevicePointer address))             \
  X(cuGraphMemFreeNodeGetParams, 11040, cuGraphMemFreeNodeGetParams, (NodeHandle node, DevicePointer * address))       \
  X(cuGraphChildGraphNodeGetGraph, 10000, cuGraphChildGraphNodeGetGraph, (NodeHandle node, GraphHandle * child))       \
  X(cuGraphAddNode, 12020, cuGraphAddNode,                                                                             \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, GraphNodeParams* params))           \
  X(cuGraphAddNode, 12030, cuGraphAddNode_v2,                                                                          \
    (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, const EdgeData* edges, size_t count,              \
     GraphNodeParams* params))                                                                                         \
  X(cuGraphNodeSetParams, 12020, cuGraphNodeSetParams, (NodeHandle node, GraphNodeParams * params))                    \
  X(cuGraphGetRootNodes, 10000, cuGraphGetRootNodes, (GraphHandle graph, NodeHandle * nodes, size_t* count))           \
  X(cuGraphGetEdges, 10000, cuGraphGetEdges, (GraphHandle graph, NodeHandle * from, NodeHandle * to, size_t* count))   \
  X(cuGraphGetEdges, 12030, cuGraphGetEdges_v2,                                                                        \
    (GraphHandle graph, NodeHandle * from, NodeHandle * to, EdgeData * data, size_t* count))                           \
  X(cuGraphNodeGetDependencies, 10000, cuGraphNodeGetDependencies,                                                     \
    (NodeHandle node, NodeHandle * nodes, size_t* count))                                                              \
  X(cuGraphNodeGetDependencies, 12030, cuGraphNodeGetDependencies_v2,                                                  \
    (NodeHandle node, NodeHandle * nodes, EdgeData * data, size_t* count))                                             \
  X(cuGraphNodeGetDependentNodes, 10000, cuGraphNodeGetDependentNodes,                                                 \
    (NodeHandle node, NodeHandle * nodes, size_t* count))                                                              \
  X(cuGraphNodeGetDependentNodes, 12030, cuGraphNodeGetDependentNodes_v2,                                              \
    (NodeHandle node, NodeHandle * nodes, EdgeData * data, size_t* count))                                             \
  X(cuGraphAddDependencies, 10000, cuGraphAddDependencies,                                                             \
    (GraphHandle graph, const NodeHandle* from, const NodeHandle* to, size_t count))                                   \
  X(cuGraphAddDependencies, 12030, cuGraphAddDependencies_v2,                                                          \
    (GraphHandle graph, const NodeHandle* from, const NodeHandle* to, const EdgeData* data, size_t count))             \
  X(cuGraphRemoveDependencies, 10000, cuGraphRemoveDependencies,                                                       \
    (GraphHandle graph, const NodeHandle* from, const NodeHandle* to, size_t count))                                   \
  X(cuGraphRemoveDependencies, 12030, cuGraphRemoveDependencies_v2,                                                    \
    (GraphHandle graph, const NodeHandle* from, const NodeHandle* to, const EdgeData* data, size_t count))             \
  X(cuGraphDestroyNode, 10000, cuGraphDestroyNode, (NodeHandle node))                                                  \
  X(cuGraphNodeFindInClone, 10000, cuGraphNodeFindInClone, (NodeHandle * found, NodeHandle node, GraphHandle clone))   \
  X(cuGraphDebugDotPrint, 11030, cuGraphDebugDotPrint, (GraphHandle graph, const char* path, unsigned flags))          \
  X(cuGraphInstantiateWithFlags, 11040, cuGraphInstantiateWithFlags,                                                   \
    (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags))                                             \
  X(cuGraphExecGetFlags, 12000, cuGraphExecGetFlags, (GraphExecHandle exec, uint64_t* flags))                          \
  X(cuGraphExecUpdate, 10020, cuGraphExecUpdate,                                                                       \
    (GraphExecHandle exec, GraphHandle graph, NodeHandle * wrongNode, int* result))                                    \
  X(cuGraphExecUpdate, 12000, cuGraphExecUpdate_v2, (GraphExecHandle exec, GraphHandle graph, UpdateInfo * info))      \
  X(cuGraphExecKernelNodeSetParams, 12000, cuGraphExecKernelNodeSetParams_v2,                                          \
    (GraphExecHandle exec, NodeHandle node, const KernelNodeParams* params))                                           \
  X(cuGraphExecMemcpyNodeSetParams, 10020, cuGraphExecMemcpyNodeSetParams,                                             \
    (GraphExecHandle exec, NodeHandle node, const Copy3D* copy, ContextHandle context))                                \
  X(cuGraphExecMemsetNodeSetParams, 10020, cuGraphExecMemsetNodeSetParams,                                             \
    (GraphExecHandle exec, NodeHandle node, const MemsetNodeParams* params, ContextHandle context))                    \
  X(cuGraphExecHostNodeSetParams, 10020, cuGraphExecHostNodeSetParams,                                                 \
    (GraphExecHandle exec, NodeHandle node, const HostNodeParams* params))                                             \
  X(cuGraphExecChildGraphNodeSetParams, 11010, cuGraphExecChildGraphNodeSetParams,                                     \
    (GraphExecHandle exec, NodeHandle node, GraphHandle child))                                                        \
  X(cuGraphExecEventRecordNodeSetEvent, 11010, cuGraphExecEventRecordNodeSetEvent,                                     \
    (GraphExecHandle exec, NodeHandle node, EventHandle event))                                                        \
  X(cuGraphExecEventWaitNodeSetEvent, 11010, cuGraphExecEventWaitNodeSetEvent,                                         \
    (GraphExecHandle exec, NodeHandle node, EventHandle event))                                                        \
  X(cuGraphExecNodeSetParams, 12020, cuGraphExecNodeSetParams,                                                         \
    (GraphExecHandle exec, NodeHandle node, GraphNodeParams * params))                                                 \
  X(cuGraphNodeSetEnabled, 11060, cuGraphNodeSetEnabled, (GraphExecHandle exec, NodeHandle node, unsigned isEnabled))  \
  X(cuGraphNodeGetEnabled, 11060, cuGraphNodeGetEnabled, (GraphExecHandle exec, NodeHandle node, unsigned* isEnabled)) \
  X(cuGraphConditionalHandleCreate, 12030, cuGraphConditionalHandleCreate,                                             \
    (uint64_t* handle, GraphHandle graph, ContextHandle context, unsigned initial, unsigned flags))                    \
  X(cuUserObjectCreate, 11030, cuUserObjectCreate,                                                                     \
    (UserObjectHandle * object, void* data, HostFunction destroy, unsigned count, unsigned flags))                     \
  X(cuUserObjectRetain, 11030, cuUserObjectRetain, (UserObjectHandle object, unsigned count))                          \
  X(cuUserObjectRelease, 11030, cuUserObjectRelease, (UserObjectHandle object, unsigned count))                        \
  X(cuGraphRetainUserObject, 11030, cuGraphRetainUserObject,                                                           \
    (GraphHandle graph, UserObjectHandle object, unsigned count, unsigned flags))                                      \
  X(cuGraphReleaseUserObject, 11030, cuGraphReleaseUserObject,                                                         \
    (GraphHandle graph, UserObjectHandle object, unsigned count))                                                      \
  X(cuDeviceGetGraphMemAttribute, 11040, cuDeviceGetGraphMemAttribute,                                                 \
    (DeviceHandle device, int attribute, void* value))                                                                 \
  X(cuDeviceSetGraphMemAttribute, 11040, cuDeviceSetGraphMemAttribute,                                                 \
    (DeviceHandle device, int attribute, void* value))                                                                 \
  X(cuDeviceGraphMemTrim, 11040, cuDeviceGraphMemTrim, (DeviceHandle device))

namespace tiletwin::driver {

TILETWIN_GPU_GRAPHS(TILETWIN_GPU_DECLARE)

} // namespace tiletwin::driver
