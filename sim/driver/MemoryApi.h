// sim/driver/MemoryApi.h -- the driver's functions on memory, streams, events and graphs, as Api.h has the others.
#pragma once
#include "sim/driver/Api.h"

#define TILETWIN_GPU_MEMORY(X)                                                                                         \
  X(cuMemGetInfo, 3020, cuMemGetInfo_v2, (size_t* free, size_t* total))                                                \
  X(cuMemAlloc, 3020, cuMemAlloc_v2, (DevicePointer * address, size_t bytes))                                          \
  X(cuMemAllocPitch, 3020, cuMemAllocPitch_v2,                                                                         \
    (DevicePointer * address, size_t* pitch, size_t width, size_t height, unsigned elementBytes))                      \
  X(cuMemFree, 3020, cuMemFree_v2, (DevicePointer address))                                                            \
  X(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2,                                                               \
    (DevicePointer * begin, size_t* bytes, DevicePointer address))                                                     \
  X(cuMemAllocHost, 3020, cuMemAllocHost_v2, (void** address, size_t bytes))                                           \
  X(cuMemFreeHost, 2000, cuMemFreeHost, (void* address))                                                               \
  X(cuMemHostAlloc, 2020, cuMemHostAlloc, (void** address, size_t bytes, unsigned flags))                              \
  X(cuMemHostGetDevicePointer, 3020, cuMemHostGetDevicePointer_v2,                                                     \
    (DevicePointer * address, void* host, unsigned flags))                                                             \
  X(cuMemHostGetFlags, 2030, cuMemHostGetFlags, (unsigned* flags, void* host))                                         \
  X(cuMemHostRegister, 6050, cuMemHostRegister_v2, (void* address, size_t bytes, unsigned flags))                      \
  X(cuMemHostUnregister, 4000, cuMemHostUnregister, (void* address))                                                   \
  X(cuMemAllocManaged, 6000, cuMemAllocManaged, (DevicePointer * address, size_t bytes, unsigned flags))               \
  X(cuMemPrefetchAsync, 8000, cuMemPrefetchAsync,                                                                      \
    (DevicePointer address, size_t bytes, DeviceHandle device, StreamHandle stream))                                   \
  X(cuMemPrefetchAsync, 12020, cuMemPrefetchAsync_v2,                                                                  \
    (DevicePointer address, size_t bytes, Location location, unsigned flags, StreamHandle stream))                     \
  X(cuMemPrefetchBatchAsync, 13000, cuMemPrefetchBatchAsync,                                                           \
    (DevicePointer * addresses, size_t* bytes, size_t count, Location* locations, size_t* firsts, size_t places,       \
     unsigned long long flags, StreamHandle stream))                                                                   \
  X(cuMemDiscardBatchAsync, 13000, cuMemDiscardBatchAsync,                                                             \
    (DevicePointer * addresses, size_t* bytes, size_t count, unsigned long long flags, StreamHandle stream))           \
  X(cuMemDiscardAndPrefetchBatchAsync, 13000, cuMemDiscardAndPrefetchBatchAsync,                                       \
    (DevicePointer * addresses, size_t* bytes, size_t count, Location* locations, size_t* firsts, size_t places,       \
     unsigned long long flags, StreamHandle stream))                                                                   \
  X(cuMemAdvise, 8000, cuMemAdvise, (DevicePointer address, size_t bytes, int advice, DeviceHandle device))            \
  X(cuMemAdvise, 12020, cuMemAdvise_v2, (DevicePointer address, size_t bytes, int advice, Location location))          \
  X(cuMemRangeGetAttribute, 8000, cuMemRangeGetAttribute,                                                              \
    (void* data, size_t dataBytes, int query, DevicePointer address, size_t bytes))                                    \
  X(cuMemRangeGetAttributes, 8000, cuMemRangeGetAttributes,                                                            \
    (void** data, size_t* dataBytes, int* queries, size_t count, DevicePointer address, size_t bytes))                 \
  X(cuPointerGetAttribute, 4000, cuPointerGetAttribute, (void* value, int attribute, DevicePointer address))           \
  X(cuPointerGetAttributes, 7000, cuPointerGetAttributes,                                                              \
    (unsigned count, int* attributes, void** values, DevicePointer address))                                           \
  X(cuPointerSetAttribute, 6000, cuPointerSetAttribute, (const void* value, int attribute, DevicePointer address))     \
  X(cuMemAllocAsync, 11020, cuMemAllocAsync, (DevicePointer * address, size_t bytes, StreamHandle stream))             \
  X(cuMemAllocFromPoolAsync, 11020, cuMemAllocFromPoolAsync,                                                           \
    (DevicePointer * address, size_t bytes, PoolHandle pool, StreamHandle stream))                                     \
  X(cuMemFreeAsync, 11020, cuMemFreeAsync, (DevicePointer address, StreamHandle stream))                               \
  X(cuDeviceGetDefaultMemPool, 11020, cuDeviceGetDefaultMemPool, (PoolHandle * pool, DeviceHandle device))             \
  X(cuDeviceGetMemPool, 11020, cuDeviceGetMemPool, (PoolHandle * pool, DeviceHandle device))                           \
  X(cuDeviceSetMemPool, 11020, cuDeviceSetMemPool, (DeviceHandle device, PoolHandle pool))                             \
  X(cuMemGetDefaultMemPool, 13000, cuMemGetDefaultMemPool, (PoolHandle * pool, Location * location, int type))         \
  X(cuMemGetMemPool, 13000, cuMemGetMemPool, (PoolHandle * pool, Location * location, int type))                       \
  X(cuMemSetMemPool, 13000, cuMemSetMemPool, (Location * location, int type, PoolHandle pool))                         \
  X(cuMemPoolCreate, 11020, cuMemPoolCreate, (PoolHandle * pool, const PoolProperties* properties))                    \
  X(cuMemPoolDestroy, 11020, cuMemPoolDestroy, (PoolHandle pool))                                                      \
  X(cuMemPoolTrimTo, 11020, cuMemPoolTrimTo, (PoolHandle pool, size_t bytes))                                          \
  X(cuMemPoolSetAttribute, 11020, cuMemPoolSetAttribute, (PoolHandle pool, int attribute, void* value))                \
  X(cuMemPoolGetAttribute, 11020, cuMemPoolGetAttribute, (PoolHandle pool, int attribute, void* value))                \
  X(cuMemPoolSetAccess, 11020, cuMemPoolSetAccess, (PoolHandle pool, const AccessDescription* access, size_t count))   \
  X(cuMemPoolGetAccess, 11020, cuMemPoolGetAccess, (int* flags, PoolHandle pool, Location* location))                  \
  X(cuMemPoolExportToShareableHandle, 11020, cuMemPoolExportToShareableHandle,                                         \
    (void* handle, PoolHandle pool, int type, unsigned long long flags))                                               \
  X(cuMemPoolImportFromShareableHandle, 11020, cuMemPoolImportFromShareableHandle,                                     \
    (PoolHandle * pool, void* handle, int type, unsigned long long flags))                                             \
  X(cuMemPoolExportPointer, 11020, cuMemPoolExportPointer, (IpcHandle * handle, DevicePointer address))                \
  X(cuMemPoolImportPointer, 11020, cuMemPoolImportPointer,                                                             \
    (DevicePointer * address, PoolHandle pool, IpcHandle * handle))                                                    \
  X(cuMemGetAllocationGranularity, 10020, cuMemGetAllocationGranularity,                                               \
    (size_t* bytes, const AllocationProperties* properties, int option))                                               \
  X(cuMemAddressReserve, 10020, cuMemAddressReserve,                                                                   \
    (DevicePointer * address, size_t bytes, size_t alignment, DevicePointer wanted, unsigned long long flags))         \
  X(cuMemAddressFree, 10020, cuMemAddressFree, (DevicePointer address, size_t bytes))                                  \
  X(cuMemCreate, 10020, cuMemCreate,                                                                                   \
    (unsigned long long* handle, size_t bytes, const AllocationProperties* properties, unsigned long long flags))      \
  X(cuMemRelease, 10020, cuMemRelease, (unsigned long long handle))                                                    \
  X(cuMemMap, 10020, cuMemMap,                                                                                         \
    (DevicePointer address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags))         \
  X(cuMemUnmap, 10020, cuMemUnmap, (DevicePointer address, size_t bytes))                                              \
  X(cuMemSetAccess, 10020, cuMemSetAccess,                                                                             \
    (DevicePointer address, size_t bytes, const AccessDescription* access, size_t count))                              \
  X(cuMemGetAccess, 10020, cuMemGetAccess,                                                                             \
    (unsigned long long* flags, const Location* location, DevicePointer address))                                      \
  X(cuMemRetainAllocationHandle, 11000, cuMemRetainAllocationHandle, (unsigned long long* handle, void* address))      \
  X(cuMemExportToShareableHandle, 10020, cuMemExportToShareableHandle,                                                 \
    (void* shared, unsigned long long handle, int type, unsigned long long flags))                                     \
  X(cuMemImportFromShareableHandle, 10020, cuMemImportFromShareableHandle,                                             \
    (unsigned long long* handle, void* shared, int type))                                                              \
  X(cuMemGetAllocationPropertiesFromHandle, 10020, cuMemGetAllocationPropertiesFromHandle,                             \
    (AllocationProperties * properties, unsigned long long handle))                                                    \
  X(cuIpcGetMemHandle, 4010, cuIpcGetMemHandle, (IpcHandle * handle, DevicePointer address))                           \
  X(cuIpcOpenMemHandle, 11000, cuIpcOpenMemHandle_v2, (DevicePointer * address, IpcHandle handle, unsigned flags))     \
  X(cuIpcCloseMemHandle, 4010, cuIpcCloseMemHandle, (DevicePointer address))                                           \
  X(cuIpcGetEventHandle, 4010, cuIpcGetEventHandle, (IpcHandle * handle, EventHandle event))                           \
  X(cuIpcOpenEventHandle, 4010, cuIpcOpenEventHandle, (EventHandle * event, IpcHandle handle))

// X(name, since, symbol, (parameters)); `since` of a copy is that of its version with sizes of 64 bits
#define TILETWIN_GPU_COPIES(X)                                                                                         \
  X(cuMemcpy, 4000, cuMemcpy, (DevicePointer to, DevicePointer from, size_t bytes))                                    \
  X(cuMemcpyAsync, 4000, cuMemcpyAsync, (DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream))     \
  X(cuMemcpyHtoD, 3020, cuMemcpyHtoD_v2, (DevicePointer to, const void* from, size_t bytes))                           \
  X(cuMemcpyDtoH, 3020, cuMemcpyDtoH_v2, (void* to, DevicePointer from, size_t bytes))                                 \
  X(cuMemcpyDtoD, 3020, cuMemcpyDtoD_v2, (DevicePointer to, DevicePointer from, size_t bytes))                         \
  X(cuMemcpyHtoDAsync, 3020, cuMemcpyHtoDAsync_v2,                                                                     \
    (DevicePointer to, const void* from, size_t bytes, StreamHandle stream))                                           \
  X(cuMemcpyDtoHAsync, 3020, cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, size_t bytes, StreamHandle stream))  \
  X(cuMemcpyDtoDAsync, 3020, cuMemcpyDtoDAsync_v2,                                                                     \
    (DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream))                                         \
  X(cuMemcpyPeer, 4000, cuMemcpyPeer,                                                                                  \
    (DevicePointer to, ContextHandle toContext, DevicePointer from, ContextHandle fromContext, size_t bytes))          \
  X(cuMemcpyPeerAsync, 4000, cuMemcpyPeerAsync,                                                                        \
    (DevicePointer to, ContextHandle toContext, DevicePointer from, ContextHandle fromContext, size_t bytes,           \
     StreamHandle stream))                                                                                             \
  X(cuMemcpy2D, 3020, cuMemcpy2D_v2, (const Copy2D* copy))                                                             \
  X(cuMemcpy2DUnaligned, 3020, cuMemcpy2DUnaligned_v2, (const Copy2D* copy))                                           \
  X(cuMemcpy2DAsync, 3020, cuMemcpy2DAsync_v2, (const Copy2D* copy, StreamHandle stream))                              \
  X(cuMemcpy3D, 3020, cuMemcpy3D_v2, (const Copy3D* copy))                                                             \
  X(cuMemcpy3DAsync, 3020, cuMemcpy3DAsync_v2, (const Copy3D* copy, StreamHandle stream))                              \
  X(cuMemsetD8, 3020, cuMemsetD8_v2, (DevicePointer to, unsigned char value, size_t count))                            \
  X(cuMemsetD16, 3020, cuMemsetD16_v2, (DevicePointer to, unsigned short value, size_t count))                         \
  X(cuMemsetD32, 3020, cuMemsetD32_v2, (DevicePointer to, unsigned value, size_t count))                               \
  X(cuMemsetD2D8, 3020, cuMemsetD2D8_v2,                                                                               \
    (DevicePointer to, size_t pitch, unsigned char value, size_t width, size_t height))                                \
  X(cuMemsetD2D16, 3020, cuMemsetD2D16_v2,                                                                             \
    (DevicePointer to, size_t pitch, unsigned short value, size_t width, size_t height))                               \
  X(cuMemsetD2D32, 3020, cuMemsetD2D32_v2,                                                                             \
    (DevicePointer to, size_t pitch, unsigned value, size_t width, size_t height))                                     \
  X(cuMemsetD8Async, 3020, cuMemsetD8Async,                                                                            \
    (DevicePointer to, unsigned char value, size_t count, StreamHandle stream))                                        \
  X(cuMemsetD16Async, 3020, cuMemsetD16Async,                                                                          \
    (DevicePointer to, unsigned short value, size_t count, StreamHandle stream))                                       \
  X(cuMemsetD32Async, 3020, cuMemsetD32Async, (DevicePointer to, unsigned value, size_t count, StreamHandle stream))   \
  X(cuMemsetD2D8Async, 3020, cuMemsetD2D8Async,                                                                        \
    (DevicePointer to, size_t pitch, unsigned char value, size_t width, size_t height, StreamHandle stream))           \
  X(cuMemsetD2D16Async, 3020, cuMemsetD2D16Async,                                                                      \
    (DevicePointer to, size_t pitch, unsigned short value, size_t width, size_t height, StreamHandle stream))          \
  X(cuMemsetD2D32Async, 3020, cuMemsetD2D32Async,                                                                      \
    (DevicePointer to, size_t pitch, unsigned value, size_t width, size_t height, StreamHandle stream))                \
  X(cuMemcpyHtoA, 3020, cuMemcpyHtoA_v2, (ArrayHandle to, size_t offset, const void* from, size_t bytes))              \
  X(cuMemcpyHtoAAsync, 3020, cuMemcpyHtoAAsync_v2,                                                                     \
    (ArrayHandle to, size_t offset, const void* from, size_t bytes, StreamHandle stream))                              \
  X(cuMemcpyAtoH, 3020, cuMemcpyAtoH_v2, (void* to, ArrayHandle from, size_t offset, size_t bytes))                    \
  X(cuMemcpyAtoHAsync, 3020, cuMemcpyAtoHAsync_v2,                                                                     \
    (void* to, ArrayHandle from, size_t offset, size_t bytes, StreamHandle stream))                                    \
  X(cuMemcpyDtoA, 3020, cuMemcpyDtoA_v2, (ArrayHandle to, size_t offset, DevicePointer from, size_t bytes))            \
  X(cuMemcpyAtoD, 3020, cuMemcpyAtoD_v2, (DevicePointer to, ArrayHandle from, size_t offset, size_t bytes))            \
  X(cuMemcpyAtoA, 3020, cuMemcpyAtoA_v2,                                                                               \
    (ArrayHandle to, size_t toOffset, ArrayHandle from, size_t fromOffset, size_t bytes))

#define TILETWIN_GPU_STREAMS(X)                                                                                        \
  X(cuStreamCreate, 2000, cuStreamCreate, (StreamHandle * stream, unsigned flags))                                     \
  X(cuStreamCreateWithPriority, 5050, cuStreamCreateWithPriority,                                                      \
    (StreamHandle * stream, unsigned flags, int priority))                                                             \
  X(cuStreamDestroy, 4000, cuStreamDestroy_v2, (StreamHandle stream))                                                  \
  X(cuStreamGetPriority, 5050, cuStreamGetPriority, (StreamHandle stream, int* priority))                              \
  X(cuStreamGetFlags, 5050, cuStreamGetFlags, (StreamHandle stream, unsigned* flags))                                  \
  X(cuStreamGetId, 12000, cuStreamGetId, (StreamHandle stream, unsigned long long* id))                                \
  X(cuStreamGetCtx, 9020, cuStreamGetCtx, (StreamHandle stream, ContextHandle * context))                              \
  X(cuStreamGetDevice, 12080, cuStreamGetDevice, (StreamHandle stream, DeviceHandle * device))                         \
  X(cuStreamWaitEvent, 3020, cuStreamWaitEvent, (StreamHandle stream, EventHandle event, unsigned flags))              \
  X(cuStreamAddCallback, 5000, cuStreamAddCallback,                                                                    \
    (StreamHandle stream, StreamCallback callback, void* data, unsigned flags))                                        \
  X(cuStreamAttachMemAsync, 6000, cuStreamAttachMemAsync,                                                              \
    (StreamHandle stream, DevicePointer address, size_t bytes, unsigned flags))                                        \
  X(cuStreamQuery, 2000, cuStreamQuery, (StreamHandle stream))                                                         \
  X(cuStreamSynchronize, 2000, cuStreamSynchronize, (StreamHandle stream))                                             \
  X(cuStreamIsCapturing, 10000, cuStreamIsCapturing, (StreamHandle stream, int* status))                               \
  X(cuThreadExchangeStreamCaptureMode, 10010, cuThreadExchangeStreamCaptureMode, (int* mode))                          \
  X(cuEventCreate, 2000, cuEventCreate, (EventHandle * event, unsigned flags))                                         \
  X(cuEventRecord, 2000, cuEventRecord, (EventHandle event, StreamHandle stream))                                      \
  X(cuEventRecordWithFlags, 11010, cuEventRecordWithFlags, (EventHandle event, StreamHandle stream, unsigned flags))   \
  X(cuEventQuery, 2000, cuEventQuery, (EventHandle event))                                                             \
  X(cuEventSynchronize, 2000, cuEventSynchronize, (EventHandle event))                                                 \
  X(cuEventDestroy, 4000, cuEventDestroy_v2, (EventHandle event))                                                      \
  X(cuEventElapsedTime, 2000, cuEventElapsedTime, (float* milliseconds, EventHandle begin, EventHandle end))           \
  X(cuEventElapsedTime, 12080, cuEventElapsedTime_v2, (float* milliseconds, EventHandle begin, EventHandle end))

namespace tiletwin::driver {

TILETWIN_GPU_MEMORY(TILETWIN_GPU_DECLARE)
TILETWIN_GPU_COPIES(TILETWIN_GPU_DECLARE)
TILETWIN_GPU_STREAMS(TILETWIN_GPU_DECLARE)

} // namespace tiletwin::driver
