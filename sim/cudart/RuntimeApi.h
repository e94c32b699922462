// sim/cudart/RuntimeApi.h -- the functions of the CUDA runtime that the virtual GPU has.
// Here:      TILETWIN_RUNTIME_FORWARDS: X(name, parameters, driver's function, its arguments), those that are the driver's under another
//            name; TILETWIN_RUNTIME_FUNCTIONS: X(name, parameters), the others. Both are declared.
// Not here:  what nvcc's code calls (LaunchCalls.cpp), what is not there (MissingNames.h).
// Source:    "CUDA Runtime API", NVIDIA, version 13. tests/sim_driver compares each row with cuda_runtime_api.h.
#pragma once
#include "sim/cudart/RuntimeTypes.h"

// clang-format off
#define TILETWIN_RUNTIME_FORWARDS(X) \
  X(cudaDeviceSynchronize, (), cuCtxSynchronize, ()) \
  X(cudaDeviceSetLimit, (int limit, size_t value), cuCtxSetLimit, (limit, value)) \
  X(cudaDeviceGetLimit, (size_t * value, int limit), cuCtxGetLimit, (value, limit)) \
  X(cudaDeviceGetCacheConfig, (int* config), cuCtxGetCacheConfig, (config)) \
  X(cudaDeviceSetCacheConfig, (int config), cuCtxSetCacheConfig, (config)) \
  X(cudaDeviceGetSharedMemConfig, (int* config), cuCtxGetSharedMemConfig, (config)) \
  X(cudaDeviceSetSharedMemConfig, (int config), cuCtxSetSharedMemConfig, (config)) \
  X(cudaDeviceGetStreamPriorityRange, (int* least, int* greatest), cuCtxGetStreamPriorityRange, (least, greatest)) \
  X(cudaCtxResetPersistingL2Cache, (), cuCtxResetPersistingL2Cache, ()) \
  X(cudaDeviceGetAttribute, (int* value, int attribute, int device), cuDeviceGetAttribute, (value, attribute, \
    device)) \
  X(cudaDeviceCanAccessPeer, (int* can, int device, int peer), cuDeviceCanAccessPeer, (can, device, peer)) \
  X(cudaDeviceGetP2PAttribute, (int* value, int attribute, int device, int peer), cuDeviceGetP2PAttribute, \
    (value, attribute, device, peer)) \
  X(cudaDeviceGetPCIBusId, (char* text, int length, int device), cuDeviceGetPCIBusId, (text, length, device)) \
  X(cudaDeviceGetByPCIBusId, (int* device, const char* text), cuDeviceGetByPCIBusId, (device, text)) \
  X(cudaDeviceGetDefaultMemPool, (PoolHandle * pool, int device), cuDeviceGetDefaultMemPool, (pool, device)) \
  X(cudaDeviceGetMemPool, (PoolHandle * pool, int device), cuDeviceGetMemPool, (pool, device)) \
  X(cudaDeviceSetMemPool, (int device, PoolHandle pool), cuDeviceSetMemPool, (device, pool)) \
  X(cudaProfilerStart, (), cuProfilerStart, ()) \
  X(cudaProfilerStop, (), cuProfilerStop, ()) \
  X(cudaMemGetInfo, (size_t * free, size_t* total), cuMemGetInfo_v2, (free, total)) \
  X(cudaHostUnregister, (void* address), cuMemHostUnregister, (address)) \
  X(cudaHostGetFlags, (unsigned* flags, void* host), cuMemHostGetFlags, (flags, host)) \
  X(cudaMemPoolCreate, (PoolHandle * pool, const PoolProperties* properties), cuMemPoolCreate, (pool, properties)) \
  X(cudaMemPoolDestroy, (PoolHandle pool), cuMemPoolDestroy, (pool)) \
  X(cudaMemPoolTrimTo, (PoolHandle pool, size_t bytes), cuMemPoolTrimTo, (pool, bytes)) \
  X(cudaMemPoolSetAttribute, (PoolHandle pool, int attribute, void* value), cuMemPoolSetAttribute, (pool, \
    attribute, value)) \
  X(cudaMemPoolGetAttribute, (PoolHandle pool, int attribute, void* value), cuMemPoolGetAttribute, (pool, \
    attribute, value)) \
  X(cudaMemPoolSetAccess, (PoolHandle pool, const AccessDescription* access, size_t count), cuMemPoolSetAccess, \
    (pool, access, count)) \
  X(cudaMemPoolGetAccess, (int* flags, PoolHandle pool, Location* location), cuMemPoolGetAccess, (flags, pool, \
    location)) \
  X(cudaMemPoolExportToShareableHandle, (void* handle, PoolHandle pool, int type, unsigned flags), \
    cuMemPoolExportToShareableHandle, (handle, pool, type, flags)) \
  X(cudaMemPoolImportFromShareableHandle, (PoolHandle * pool, void* handle, int type, unsigned flags), \
    cuMemPoolImportFromShareableHandle, (pool, handle, type, flags)) \
  X(cudaMemPoolExportPointer, (IpcHandle * handle, void* address), cuMemPoolExportPointer, \
    (handle, reinterpret_cast<DevicePointer>(address))) \
  X(cudaMemPoolImportPointer, (void** address, PoolHandle pool, IpcHandle* handle), cuMemPoolImportPointer, \
    (reinterpret_cast<DevicePointer*>(address), pool, handle)) \
  X(cudaStreamCreate, (StreamHandle * stream), cuStreamCreate, (stream, 0)) \
  X(cudaStreamCreateWithFlags, (StreamHandle * stream, unsigned flags), cuStreamCreate, (stream, flags)) \
  X(cudaStreamCreateWithPriority, (StreamHandle * stream, unsigned flags, int priority), \
    cuStreamCreateWithPriority, (stream, flags, priority)) \
  X(cudaStreamDestroy, (StreamHandle stream), cuStreamDestroy_v2, (stream)) \
  X(cudaStreamSynchronize, (StreamHandle stream), cuStreamSynchronize, (stream)) \
  X(cudaStreamQuery, (StreamHandle stream), cuStreamQuery, (stream)) \
  X(cudaStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags), cuStreamWaitEvent, (stream, \
    event, flags)) \
  X(cudaStreamGetFlags, (StreamHandle stream, unsigned* flags), cuStreamGetFlags, (stream, flags)) \
  X(cudaStreamGetPriority, (StreamHandle stream, int* priority), cuStreamGetPriority, (stream, priority)) \
  X(cudaStreamGetId, (StreamHandle stream, unsigned long long* id), cuStreamGetId, (stream, id)) \
  X(cudaStreamGetDevice, (StreamHandle stream, int* device), cuStreamGetDevice, (stream, device)) \
  X(cudaStreamBeginCapture, (StreamHandle stream, int mode), cuStreamBeginCapture_v2, (stream, mode)) \
  X(cudaStreamEndCapture, (StreamHandle stream, GraphHandle* graph), cuStreamEndCapture, (stream, graph)) \
  X(cudaStreamIsCapturing, (StreamHandle stream, int* status), cuStreamIsCapturing, (stream, status)) \
  X(cudaThreadExchangeStreamCaptureMode, (int* mode), cuThreadExchangeStreamCaptureMode, (mode)) \
  X(cudaLaunchHostFunc, (StreamHandle stream, HostFunction function, void* data), cuLaunchHostFunc, (stream, \
    function, data)) \
  X(cudaEventCreate, (EventHandle * event), cuEventCreate, (event, 0)) \
  X(cudaEventCreateWithFlags, (EventHandle * event, unsigned flags), cuEventCreate, (event, flags)) \
  X(cudaEventRecord, (EventHandle event, StreamHandle stream), cuEventRecord, (event, stream)) \
  X(cudaEventRecordWithFlags, (EventHandle event, StreamHandle stream, unsigned flags), cuEventRecordWithFlags, \
    (event, stream, flags)) \
  X(cudaEventQuery, (EventHandle event), cuEventQuery, (event)) \
  X(cudaEventSynchronize, (EventHandle event), cuEventSynchronize, (event)) \
  X(cudaEventDestroy, (EventHandle event), cuEventDestroy_v2, (event)) \
  X(cudaEventElapsedTime, (float* milliseconds, EventHandle begin, EventHandle end), cuEventElapsedTime_v2, \
    (milliseconds, begin, end)) \
  X(cudaGraphCreate, (GraphHandle * graph, unsigned flags), cuGraphCreate, (graph, flags)) \
  X(cudaGraphDestroy, (GraphHandle graph), cuGraphDestroy, (graph)) \
  X(cudaGraphInstantiate, (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags), \
    cuGraphInstantiateWithFlags, (exec, graph, flags)) \
  X(cudaGraphInstantiateWithFlags, (GraphExecHandle * exec, GraphHandle graph, unsigned long long flags), \
    cuGraphInstantiateWithFlags, (exec, graph, flags)) \
  X(cudaGraphLaunch, (GraphExecHandle exec, StreamHandle stream), cuGraphLaunch, (exec, stream)) \
  X(cudaGraphUpload, (GraphExecHandle exec, StreamHandle stream), cuGraphUpload, (exec, stream)) \
  X(cudaGraphExecDestroy, (GraphExecHandle exec), cuGraphExecDestroy, (exec)) \
  X(cudaGraphGetNodes, (GraphHandle graph, NodeHandle* nodes, size_t* count), cuGraphGetNodes, (graph, nodes, \
    count)) \
  X(cudaGraphAddEmptyNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count), \
    cuGraphAddEmptyNode, (node, graph, behind, count)) \
  X(cudaGraphAddHostNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    const HostNodeParams* params), cuGraphAddHostNode, (node, graph, behind, count, params)) \
  X(cudaGraphAddChildGraphNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    GraphHandle child), cuGraphAddChildGraphNode, (node, graph, behind, count, child)) \
  X(cudaGraphNodeGetType, (NodeHandle node, int* type), cuGraphNodeGetType, (node, type)) \
  X(cudaGraphClone, (GraphHandle * clone, GraphHandle original), cuGraphClone, (clone, original)) \
  X(cudaGraphDestroyNode, (NodeHandle node), cuGraphDestroyNode, (node)) \
  X(cudaGraphNodeFindInClone, (NodeHandle * found, NodeHandle node, GraphHandle clone), cuGraphNodeFindInClone, \
    (found, node, clone)) \
  X(cudaGraphGetRootNodes, (GraphHandle graph, NodeHandle* nodes, size_t* count), cuGraphGetRootNodes, (graph, \
    nodes, count)) \
  X(cudaGraphGetEdges, (GraphHandle graph, NodeHandle* from, NodeHandle* to, EdgeData* edges, size_t* count), \
    cuGraphGetEdges_v2, (graph, from, to, edges, count)) \
  X(cudaGraphNodeGetDependencies, (NodeHandle node, NodeHandle* nodes, EdgeData* edges, size_t* count), \
    cuGraphNodeGetDependencies_v2, (node, nodes, edges, count)) \
  X(cudaGraphNodeGetDependentNodes, (NodeHandle node, NodeHandle* nodes, EdgeData* edges, size_t* count), \
    cuGraphNodeGetDependentNodes_v2, (node, nodes, edges, count)) \
  X(cudaGraphAddDependencies, (GraphHandle graph, const NodeHandle* from, const NodeHandle* to, \
    const EdgeData* edges, size_t count), cuGraphAddDependencies_v2, (graph, from, to, edges, count)) \
  X(cudaGraphRemoveDependencies, (GraphHandle graph, const NodeHandle* from, const NodeHandle* to, \
    const EdgeData* edges, size_t count), cuGraphRemoveDependencies_v2, (graph, from, to, edges, count)) \
  X(cudaGraphChildGraphNodeGetGraph, (NodeHandle node, GraphHandle* child), cuGraphChildGraphNodeGetGraph, (node, \
    child)) \
  X(cudaGraphExecChildGraphNodeSetParams, (GraphExecHandle exec, NodeHandle node, GraphHandle child), \
    cuGraphExecChildGraphNodeSetParams, (exec, node, child)) \
  X(cudaGraphAddEventRecordNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    EventHandle event), cuGraphAddEventRecordNode, (node, graph, behind, count, event)) \
  X(cudaGraphAddEventWaitNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    EventHandle event), cuGraphAddEventWaitNode, (node, graph, behind, count, event)) \
  X(cudaGraphEventRecordNodeGetEvent, (NodeHandle node, EventHandle* event), cuGraphEventRecordNodeGetEvent, (node, \
    event)) \
  X(cudaGraphEventRecordNodeSetEvent, (NodeHandle node, EventHandle event), cuGraphEventRecordNodeSetEvent, (node, \
    event)) \
  X(cudaGraphEventWaitNodeGetEvent, (NodeHandle node, EventHandle* event), cuGraphEventWaitNodeGetEvent, (node, \
    event)) \
  X(cudaGraphEventWaitNodeSetEvent, (NodeHandle node, EventHandle event), cuGraphEventWaitNodeSetEvent, (node, \
    event)) \
  X(cudaGraphExecEventRecordNodeSetEvent, (GraphExecHandle exec, NodeHandle node, EventHandle event), \
    cuGraphExecEventRecordNodeSetEvent, (exec, node, event)) \
  X(cudaGraphExecEventWaitNodeSetEvent, (GraphExecHandle exec, NodeHandle node, EventHandle event), \
    cuGraphExecEventWaitNodeSetEvent, (exec, node, event)) \
  X(cudaGraphAddMemAllocNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    GraphAllocParams* params), cuGraphAddMemAllocNode, (node, graph, behind, count, params)) \
  X(cudaGraphAddMemFreeNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    void* address), cuGraphAddMemFreeNode, (node, graph, behind, count, reinterpret_cast<DevicePointer>(address))) \
  X(cudaGraphMemAllocNodeGetParams, (NodeHandle node, GraphAllocParams* params), cuGraphMemAllocNodeGetParams, \
    (node, params)) \
  X(cudaGraphMemFreeNodeGetParams, (NodeHandle node, void* address), cuGraphMemFreeNodeGetParams, (node, \
    static_cast<DevicePointer*>(address))) \
  X(cudaGraphHostNodeGetParams, (NodeHandle node, HostNodeParams* params), cuGraphHostNodeGetParams, (node, params)) \
  X(cudaGraphHostNodeSetParams, (NodeHandle node, const HostNodeParams* params), cuGraphHostNodeSetParams, (node, \
    params)) \
  X(cudaGraphExecHostNodeSetParams, (GraphExecHandle exec, NodeHandle node, const HostNodeParams* params), \
    cuGraphExecHostNodeSetParams, (exec, node, params)) \
  X(cudaGraphMemsetNodeGetParams, (NodeHandle node, MemsetNodeParams* params), cuGraphMemsetNodeGetParams, (node, \
    params)) \
  X(cudaGraphMemsetNodeSetParams, (NodeHandle node, const MemsetNodeParams* params), cuGraphMemsetNodeSetParams, \
    (node, params)) \
  X(cudaGraphExecMemsetNodeSetParams, (GraphExecHandle exec, NodeHandle node, const MemsetNodeParams* params), \
    cuGraphExecMemsetNodeSetParams, (exec, node, params, nullptr)) \
  X(cudaGraphKernelNodeGetAttribute, (NodeHandle node, int id, void* value), cuGraphKernelNodeGetAttribute, (node, \
    id, value)) \
  X(cudaGraphKernelNodeSetAttribute, (NodeHandle node, int id, const void* value), cuGraphKernelNodeSetAttribute, \
    (node, id, value)) \
  X(cudaGraphKernelNodeCopyAttributes, (NodeHandle to, NodeHandle from), cuGraphKernelNodeCopyAttributes, (to, \
    from)) \
  X(cudaGraphNodeSetEnabled, (GraphExecHandle exec, NodeHandle node, unsigned isEnabled), cuGraphNodeSetEnabled, \
    (exec, node, isEnabled)) \
  X(cudaGraphNodeGetEnabled, (GraphExecHandle exec, NodeHandle node, unsigned* isEnabled), cuGraphNodeGetEnabled, \
    (exec, node, isEnabled)) \
  X(cudaGraphExecUpdate, (GraphExecHandle exec, GraphHandle graph, UpdateInfo* info), cuGraphExecUpdate_v2, (exec, \
    graph, info)) \
  X(cudaGraphExecGetFlags, (GraphExecHandle exec, unsigned long long* flags), cuGraphExecGetFlags, (exec, \
    reinterpret_cast<uint64_t*>(flags))) \
  X(cudaGraphInstantiateWithParams, (GraphExecHandle * exec, GraphHandle graph, GraphInstantiateParams* params), \
    cuGraphInstantiateWithParams, (exec, graph, params)) \
  X(cudaGraphDebugDotPrint, (GraphHandle graph, const char* path, unsigned flags), cuGraphDebugDotPrint, (graph, \
    path, flags)) \
  X(cudaGraphConditionalHandleCreate, (uint64_t * handle, GraphHandle graph, unsigned initial, unsigned flags), \
    cuGraphConditionalHandleCreate, (handle, graph, nullptr, initial, flags)) \
  X(cudaUserObjectCreate, (UserObjectHandle * object, void* data, HostFunction destroy, unsigned count, \
    unsigned flags), cuUserObjectCreate, (object, data, destroy, count, flags)) \
  X(cudaUserObjectRetain, (UserObjectHandle object, unsigned count), cuUserObjectRetain, (object, count)) \
  X(cudaUserObjectRelease, (UserObjectHandle object, unsigned count), cuUserObjectRelease, (object, count)) \
  X(cudaGraphRetainUserObject, (GraphHandle graph, UserObjectHandle object, unsigned count, unsigned flags), \
    cuGraphRetainUserObject, (graph, object, count, flags)) \
  X(cudaGraphReleaseUserObject, (GraphHandle graph, UserObjectHandle object, unsigned count), \
    cuGraphReleaseUserObject, (graph, object, count)) \
  X(cudaDeviceGetGraphMemAttribute, (int device, int attribute, void* value), cuDeviceGetGraphMemAttribute, \
    (device, attribute, value)) \
  X(cudaDeviceSetGraphMemAttribute, (int device, int attribute, void* value), cuDeviceSetGraphMemAttribute, \
    (device, attribute, value)) \
  X(cudaDeviceGraphMemTrim, (int device), cuDeviceGraphMemTrim, (device)) \
  X(cudaStreamBeginCaptureToGraph, (StreamHandle stream, GraphHandle graph, const NodeHandle* behind, \
    const EdgeData* edges, size_t count, int mode), cuStreamBeginCaptureToGraph, (stream, graph, behind, edges, \
    count, mode)) \
  X(cudaStreamGetCaptureInfo, (StreamHandle stream, int* status, uint64_t* id, GraphHandle* graph, \
    const NodeHandle** nodes, const EdgeData** edges, size_t* count), cuStreamGetCaptureInfo_v3, (stream, status, \
    id, graph, nodes, edges, count)) \
  X(cudaStreamUpdateCaptureDependencies, (StreamHandle stream, const NodeHandle* nodes, const EdgeData* edges, \
    size_t count, unsigned flags), cuStreamUpdateCaptureDependencies_v2, (stream, nodes, edges, count, flags)) \
  X(cudaGetMipmappedArrayLevel, (ArrayHandle * array, MipmappedHandle mipmapped, unsigned level), \
    cuMipmappedArrayGetLevel, (array, mipmapped, level)) \
  X(cudaDestroyTextureObject, (unsigned long long texture), cuTexObjectDestroy, (texture)) \
  X(cudaDestroySurfaceObject, (unsigned long long surface), cuSurfObjectDestroy, (surface)) \
  X(cudaGetTextureObjectResourceViewDesc, (ViewDescription * view, unsigned long long texture), \
    cuTexObjectGetResourceViewDesc, (view, texture)) \
  X(cudaIpcGetMemHandle, (IpcHandle * handle, void* address), cuIpcGetMemHandle, (handle, \
    reinterpret_cast<DevicePointer>(address))) \
  X(cudaIpcOpenMemHandle, (void** address, IpcHandle handle, unsigned flags), cuIpcOpenMemHandle_v2, \
    (reinterpret_cast<DevicePointer*>(address), handle, flags)) \
  X(cudaIpcCloseMemHandle, (void* address), cuIpcCloseMemHandle, (reinterpret_cast<DevicePointer>(address))) \
  X(cudaIpcGetEventHandle, (IpcHandle * handle, EventHandle event), cuIpcGetEventHandle, (handle, event)) \
  X(cudaIpcOpenEventHandle, (EventHandle * event, IpcHandle handle), cuIpcOpenEventHandle, (event, handle))

#define TILETWIN_RUNTIME_FUNCTIONS(X) \
  X(cudaGetLastError, ()) \
  X(cudaPeekAtLastError, ()) \
  X(cudaGetDeviceCount, (int* count)) \
  X(cudaGetDevice, (int* device)) \
  X(cudaSetDevice, (int device)) \
  X(cudaInitDevice, (int device, unsigned deviceFlags, unsigned flags)) \
  X(cudaSetDeviceFlags, (unsigned flags)) \
  X(cudaGetDeviceFlags, (unsigned* flags)) \
  X(cudaDeviceReset, ()) \
  X(cudaDeviceEnablePeerAccess, (int peer, unsigned flags)) \
  X(cudaDeviceDisablePeerAccess, (int peer)) \
  X(cudaGetDeviceProperties, (DeviceProperties * properties, int device)) \
  X(cudaChooseDevice, (int* device, const DeviceProperties* properties)) \
  X(cudaDriverGetVersion, (int* version)) \
  X(cudaRuntimeGetVersion, (int* version)) \
  X(cudaGetDriverEntryPoint, (const char* name, void** function, unsigned long long flags, int* status)) \
  X(cudaGetDriverEntryPointByVersion, (const char* name, void** function, unsigned version, \
    unsigned long long flags, int* status)) \
  X(cudaMalloc, (void** address, size_t bytes)) \
  X(cudaFree, (void* address)) \
  X(cudaMallocHost, (void** address, size_t bytes)) \
  X(cudaHostAlloc, (void** address, size_t bytes, unsigned flags)) \
  X(cudaFreeHost, (void* address)) \
  X(cudaMallocManaged, (void** address, size_t bytes, unsigned flags)) \
  X(cudaMallocPitch, (void** address, size_t* pitch, size_t width, size_t height)) \
  X(cudaMalloc3D, (PitchedPointer * made, Extent extent)) \
  X(cudaMallocAsync, (void** address, size_t bytes, StreamHandle stream)) \
  X(cudaMallocFromPoolAsync, (void** address, size_t bytes, PoolHandle pool, StreamHandle stream)) \
  X(cudaFreeAsync, (void* address, StreamHandle stream)) \
  X(cudaHostRegister, (void* address, size_t bytes, unsigned flags)) \
  X(cudaHostGetDevicePointer, (void** address, void* host, unsigned flags)) \
  X(cudaPointerGetAttributes, (PointerAttributes * attributes, const void* address)) \
  X(cudaMemAdvise, (const void* address, size_t bytes, int advice, Location location)) \
  X(cudaMemPrefetchAsync, (const void* address, size_t bytes, Location location, unsigned flags, \
    StreamHandle stream)) \
  X(cudaStreamAttachMemAsync, (StreamHandle stream, void* address, size_t bytes, unsigned flags)) \
  X(cudaStreamAddCallback, (StreamHandle stream, StreamCallback callback, void* data, unsigned flags)) \
  X(cudaMemcpy, (void* to, const void* from, size_t bytes, int kind)) \
  X(cudaMemcpyAsync, (void* to, const void* from, size_t bytes, int kind, StreamHandle stream)) \
  X(cudaMemcpyPeer, (void* to, int toDevice, const void* from, int fromDevice, size_t bytes)) \
  X(cudaMemcpyPeerAsync, (void* to, int toDevice, const void* from, int fromDevice, size_t bytes, \
    StreamHandle stream)) \
  X(cudaMemcpy2D, (void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height, \
    int kind)) \
  X(cudaMemcpy2DAsync, (void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, \
    size_t height, int kind, StreamHandle stream)) \
  X(cudaMemcpy3D, (const Copy3DParameters* copy)) \
  X(cudaMemcpy3DAsync, (const Copy3DParameters* copy, StreamHandle stream)) \
  X(cudaMemset, (void* to, int value, size_t bytes)) \
  X(cudaMemsetAsync, (void* to, int value, size_t bytes, StreamHandle stream)) \
  X(cudaMemset2D, (void* to, size_t pitch, int value, size_t width, size_t height)) \
  X(cudaMemset2DAsync, (void* to, size_t pitch, int value, size_t width, size_t height, StreamHandle stream)) \
  X(cudaMemset3D, (PitchedPointer to, int value, Extent extent)) \
  X(cudaMemset3DAsync, (PitchedPointer to, int value, Extent extent, StreamHandle stream)) \
  X(cudaGetSymbolAddress, (void** address, const void* symbol)) \
  X(cudaGetSymbolSize, (size_t * bytes, const void* symbol)) \
  X(cudaMemcpyToSymbol, (const void* symbol, const void* from, size_t bytes, size_t offset, int kind)) \
  X(cudaMemcpyToSymbolAsync, (const void* symbol, const void* from, size_t bytes, size_t offset, int kind, \
    StreamHandle stream)) \
  X(cudaMemcpyFromSymbol, (void* to, const void* symbol, size_t bytes, size_t offset, int kind)) \
  X(cudaMemcpyFromSymbolAsync, (void* to, const void* symbol, size_t bytes, size_t offset, int kind, \
    StreamHandle stream)) \
  X(cudaLaunchKernel, (const void* function, Dim3 grid, Dim3 block, void** parameters, size_t sharedBytes, \
    StreamHandle stream)) \
  X(cudaLaunchCooperativeKernel, (const void* function, Dim3 grid, Dim3 block, void** parameters, \
    size_t sharedBytes, StreamHandle stream)) \
  X(cudaLaunchKernelExC, (const LaunchConfiguration* configuration, const void* function, void** parameters)) \
  X(cudaFuncGetAttributes, (FunctionAttributes * attributes, const void* function)) \
  X(cudaFuncSetAttribute, (const void* function, int attribute, int value)) \
  X(cudaFuncSetCacheConfig, (const void* function, int config)) \
  X(cudaFuncGetName, (const char** name, const void* function)) \
  X(cudaGetFuncBySymbol, (FunctionHandle * found, const void* function)) \
  X(cudaGetKernel, (KernelHandle * kernel, const void* function)) \
  X(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int* blocks, const void* function, int threads, \
    size_t sharedBytes)) \
  X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int* blocks, const void* function, int threads, \
    size_t sharedBytes, unsigned flags)) \
  X(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t * bytes, const void* function, int blocks, int threads)) \
  X(cudaOccupancyMaxPotentialClusterSize, (int* size, const void* function, \
    const LaunchConfiguration* configuration)) \
  X(cudaOccupancyMaxActiveClusters, (int* count, const void* function, const LaunchConfiguration* configuration)) \
  X(cudaGraphAddKernelNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    const KernelParameters* params)) \
  X(cudaGraphAddMemsetNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    const MemsetNodeParams* params)) \
  X(cudaGraphAddMemcpyNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    const Copy3DParameters* copy)) \
  X(cudaGraphAddMemcpyNode1D, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, size_t count, \
    void* to, const void* from, size_t bytes, int kind)) \
  X(cudaGraphKernelNodeGetParams, (NodeHandle node, KernelParameters* params)) \
  X(cudaGraphKernelNodeSetParams, (NodeHandle node, const KernelParameters* params)) \
  X(cudaGraphExecKernelNodeSetParams, (GraphExecHandle exec, NodeHandle node, const KernelParameters* params)) \
  X(cudaGraphMemcpyNodeGetParams, (NodeHandle node, Copy3DParameters* copy)) \
  X(cudaGraphMemcpyNodeSetParams, (NodeHandle node, const Copy3DParameters* copy)) \
  X(cudaGraphExecMemcpyNodeSetParams, (GraphExecHandle exec, NodeHandle node, const Copy3DParameters* copy)) \
  X(cudaGraphMemcpyNodeSetParams1D, (NodeHandle node, void* to, const void* from, size_t bytes, int kind)) \
  X(cudaGraphExecMemcpyNodeSetParams1D, (GraphExecHandle exec, NodeHandle node, void* to, const void* from, \
    size_t bytes, int kind)) \
  X(cudaGraphAddNode, (NodeHandle * node, GraphHandle graph, const NodeHandle* behind, const EdgeData* edges, \
    size_t count, RuntimeNodeParams* params)) \
  X(cudaMallocArray, (ArrayHandle* array, const ChannelFormat* channels, size_t width, size_t height, \
    unsigned flags)) \
  X(cudaMalloc3DArray, (ArrayHandle* array, const ChannelFormat* channels, Extent extent, unsigned flags)) \
  X(cudaMallocMipmappedArray, (MipmappedHandle* array, const ChannelFormat* channels, Extent extent, \
    unsigned levels, unsigned flags)) \
  X(cudaFreeArray, (ArrayHandle array)) \
  X(cudaFreeMipmappedArray, (MipmappedHandle array)) \
  X(cudaArrayGetInfo, (ChannelFormat* channels, Extent* extent, unsigned* flags, ArrayHandle array)) \
  X(cudaGetChannelDesc, (ChannelFormat* channels, ArrayHandle array)) \
  X(cudaMemcpy2DToArray, (ArrayHandle to, size_t x, size_t y, const void* from, size_t pitch, size_t width, \
    size_t height, int kind)) \
  X(cudaMemcpy2DToArrayAsync, (ArrayHandle to, size_t x, size_t y, const void* from, size_t pitch, size_t width, \
    size_t height, int kind, StreamHandle stream)) \
  X(cudaMemcpy2DFromArray, (void* to, size_t pitch, ArrayHandle from, size_t x, size_t y, size_t width, \
    size_t height, int kind)) \
  X(cudaMemcpy2DFromArrayAsync, (void* to, size_t pitch, ArrayHandle from, size_t x, size_t y, size_t width, \
    size_t height, int kind, StreamHandle stream)) \
  X(cudaMemcpy2DArrayToArray, (ArrayHandle to, size_t toX, size_t toY, ArrayHandle from, size_t fromX, \
    size_t fromY, size_t width, size_t height, int kind)) \
  X(cudaMemcpyToArray, (ArrayHandle to, size_t x, size_t y, const void* from, size_t bytes, int kind)) \
  X(cudaMemcpyToArrayAsync, (ArrayHandle to, size_t x, size_t y, const void* from, size_t bytes, int kind, \
    StreamHandle stream)) \
  X(cudaMemcpyFromArray, (void* to, ArrayHandle from, size_t x, size_t y, size_t bytes, int kind)) \
  X(cudaMemcpyFromArrayAsync, (void* to, ArrayHandle from, size_t x, size_t y, size_t bytes, int kind, \
    StreamHandle stream)) \
  X(cudaCreateTextureObject, (unsigned long long* texture, const RuntimeResource* resource, \
    const RuntimeTexture* asked, const ViewDescription* view)) \
  X(cudaCreateSurfaceObject, (unsigned long long* surface, const RuntimeResource* resource))
// clang-format on

namespace tiletwin::cudart {

#define TILETWIN_RUNTIME_DECLARE_FORWARD(name, parameters, driver, arguments)                                          \
  extern "C" [[gnu::visibility("default")]] Error name parameters;
#define TILETWIN_RUNTIME_DECLARE(name, parameters) extern "C" [[gnu::visibility("default")]] Error name parameters;
TILETWIN_RUNTIME_FORWARDS(TILETWIN_RUNTIME_DECLARE_FORWARD)
TILETWIN_RUNTIME_FUNCTIONS(TILETWIN_RUNTIME_DECLARE)

} // namespace tiletwin::cudart
