// sim/driver/GraphApi.h -- the driver's functions on graphs and captures, as Api.h has the others.
#pragma once
#include "sim/driver/Api.h"

#define TILETWIN_GPU_GRAPHS(X)                                                                                         \
  X(cuStreamBeginCapture, 10010, cuStreamBeginCapture_v2, (StreamHandle stream, int mode))                             \
  X(cuStreamEndCapture, 10000, cuStreamEndCapture, (StreamHandle stream, GraphHandle * graph))                         \
  X(cuStreamBeginCaptureToGraph, 12030, cuStreamBeginCaptureToGraph,                                                   \
    (StreamHandle stream, GraphHandle graph, const NodeHandle* behind, const void* edges, size_t count, int mode))     \
  X(cuStreamGetCaptureInfo, 11030, cuStreamGetCaptureInfo_v2,                                                          \
    (StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph, const NodeHandle** nodes, size_t* count))     \
  X(cuStreamGetCaptureInfo, 12030, cuStreamGetCaptureInfo_v3,                                                          \
    (StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph, const NodeHandle** nodes, const void** edges, \
     size_t* count))                                                                                                   \
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
  X(cuGraphExecDestroy, 10000, cuGraphExecDestroy, (GraphExecHandle exec))

namespace tiletwin::driver {

TILETWIN_GPU_GRAPHS(TILETWIN_GPU_DECLARE)

} // namespace tiletwin::driver
