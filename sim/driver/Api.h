// sim/driver/Api.h -- the functions of the CUDA driver's interface that the virtual GPU has.
// Here:      one row a function: its name for cuGetProcAddress, the CUDA version that it is given from, its symbol, parameters.
// Not here:  what they do (*Calls.cpp), what is asked for and not there (MissingNames.h).
// Source:    "CUDA Driver API", NVIDIA. A name with two rows changed its parameters in that version; a client gets the newest
//            one that is not newer than the version that it names. tests/sim_driver compares the parameters with cuda.h.
#pragma once
#include "sim/driver/Types.h"
#include <cstddef>
#include <cstdint>

// X(name, since, symbol, (parameters))
#define TILETWIN_GPU_DEVICES(X)                                                                                        \
  X(cuInit, 2000, cuInit, (unsigned flags))                                                                            \
  X(cuDriverGetVersion, 2020, cuDriverGetVersion, (int* version))                                                      \
  X(cuGetErrorName, 6000, cuGetErrorName, (Result error, const char** text))                                           \
  X(cuGetErrorString, 6000, cuGetErrorString, (Result error, const char** text))                                       \
  X(cuGetProcAddress, 11030, cuGetProcAddress, (const char* name, void** function, int version, uint64_t flags))       \
  X(cuGetProcAddress, 12000, cuGetProcAddress_v2,                                                                      \
    (const char* name, void** function, int version, uint64_t flags, int* status))                                     \
  X(cuGetExportTable, 3000, cuGetExportTable, (const void** table, const Uuid* id))                                    \
  X(cuDeviceGet, 2000, cuDeviceGet, (DeviceHandle * device, int ordinal))                                              \
  X(cuDeviceGetCount, 2000, cuDeviceGetCount, (int* count))                                                            \
  X(cuDeviceGetName, 2000, cuDeviceGetName, (char* text, int bytes, DeviceHandle device))                              \
  X(cuDeviceGetUuid, 9020, cuDeviceGetUuid, (Uuid * uuid, DeviceHandle device))                                        \
  X(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2, (Uuid * uuid, DeviceHandle device))                                    \
  X(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2, (size_t* bytes, DeviceHandle device))                                 \
  X(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute, (int* value, int attribute, DeviceHandle device))                \
  X(cuDeviceComputeCapability, 2000, cuDeviceComputeCapability, (int* major, int* minor, DeviceHandle device))         \
  X(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId, (char* text, int bytes, DeviceHandle device))                      \
  X(cuDeviceGetByPCIBusId, 4010, cuDeviceGetByPCIBusId, (DeviceHandle * device, const char* text))                     \
  X(cuDeviceGetExecAffinitySupport, 11040, cuDeviceGetExecAffinitySupport,                                             \
    (int* value, int type, DeviceHandle device))                                                                       \
  X(cuDeviceCanAccessPeer, 4000, cuDeviceCanAccessPeer, (int* can, DeviceHandle device, DeviceHandle peer))            \
  X(cuDeviceGetP2PAttribute, 8000, cuDeviceGetP2PAttribute,                                                            \
    (int* value, int attribute, DeviceHandle device, DeviceHandle peer))                                               \
  X(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain, (ContextHandle * context, DeviceHandle device))          \
  X(cuDevicePrimaryCtxRelease, 7000, cuDevicePrimaryCtxRelease, (DeviceHandle device))                                 \
  X(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2, (DeviceHandle device))                             \
  X(cuDevicePrimaryCtxReset, 7000, cuDevicePrimaryCtxReset, (DeviceHandle device))                                     \
  X(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2, (DeviceHandle device))                                 \
  X(cuDevicePrimaryCtxSetFlags, 7000, cuDevicePrimaryCtxSetFlags, (DeviceHandle device, unsigned flags))               \
  X(cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2, (DeviceHandle device, unsigned flags))           \
  X(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState, (DeviceHandle device, unsigned* flags, int* active))

#define TILETWIN_GPU_CONTEXTS(X)                                                                                       \
  X(cuCtxCreate, 3020, cuCtxCreate_v2, (ContextHandle * context, unsigned flags, DeviceHandle device))                 \
  X(cuCtxCreate, 11040, cuCtxCreate_v3,                                                                                \
    (ContextHandle * context, void* affinities, int count, unsigned flags, DeviceHandle device))                       \
  X(cuCtxCreate, 12050, cuCtxCreate_v4,                                                                                \
    (ContextHandle * context, void* parameters, unsigned flags, DeviceHandle device))                                  \
  X(cuCtxDestroy, 4000, cuCtxDestroy_v2, (ContextHandle context))                                                      \
  X(cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2, (ContextHandle context))                                              \
  X(cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2, (ContextHandle * context))                                              \
  X(cuCtxSetCurrent, 4000, cuCtxSetCurrent, (ContextHandle context))                                                   \
  X(cuCtxGetCurrent, 4000, cuCtxGetCurrent, (ContextHandle * context))                                                 \
  X(cuCtxGetDevice, 2000, cuCtxGetDevice, (DeviceHandle * device))                                                     \
  X(cuCtxGetDevice, 13000, cuCtxGetDevice_v2, (DeviceHandle * device, ContextHandle context))                          \
  X(cuCtxGetFlags, 7000, cuCtxGetFlags, (unsigned* flags))                                                             \
  X(cuCtxSetFlags, 12010, cuCtxSetFlags, (unsigned flags))                                                             \
  X(cuCtxGetId, 12000, cuCtxGetId, (ContextHandle context, unsigned long long* id))                                    \
  X(cuCtxSynchronize, 2000, cuCtxSynchronize, ())                                                                      \
  X(cuCtxSynchronize, 13000, cuCtxSynchronize_v2, (ContextHandle context))                                             \
  X(cuCtxSetLimit, 3010, cuCtxSetLimit, (int limit, size_t value))                                                     \
  X(cuCtxGetLimit, 3010, cuCtxGetLimit, (size_t* value, int limit))                                                    \
  X(cuCtxGetCacheConfig, 3020, cuCtxGetCacheConfig, (int* config))                                                     \
  X(cuCtxSetCacheConfig, 3020, cuCtxSetCacheConfig, (int config))                                                      \
  X(cuCtxGetSharedMemConfig, 4020, cuCtxGetSharedMemConfig, (int* config))                                             \
  X(cuCtxSetSharedMemConfig, 4020, cuCtxSetSharedMemConfig, (int config))                                              \
  X(cuCtxGetApiVersion, 3020, cuCtxGetApiVersion, (ContextHandle context, unsigned* version))                          \
  X(cuCtxGetStreamPriorityRange, 5050, cuCtxGetStreamPriorityRange, (int* least, int* greatest))                       \
  X(cuCtxResetPersistingL2Cache, 11000, cuCtxResetPersistingL2Cache, ())                                               \
  X(cuCtxEnablePeerAccess, 4000, cuCtxEnablePeerAccess, (ContextHandle peer, unsigned flags))                          \
  X(cuCtxDisablePeerAccess, 4000, cuCtxDisablePeerAccess, (ContextHandle peer))                                        \
  X(cuProfilerInitialize, 4000, cuProfilerInitialize, (const char* config, const char* output, int mode))              \
  X(cuProfilerStart, 4000, cuProfilerStart, ())                                                                        \
  X(cuProfilerStop, 4000, cuProfilerStop, ())

#define TILETWIN_GPU_MODULES(X)                                                                                        \
  X(cuModuleLoad, 2000, cuModuleLoad, (ModuleHandle * module, const char* path))                                       \
  X(cuModuleLoadData, 2000, cuModuleLoadData, (ModuleHandle * module, const void* image))                              \
  X(cuModuleLoadDataEx, 2010, cuModuleLoadDataEx,                                                                      \
    (ModuleHandle * module, const void* image, unsigned count, int* options, void** values))                           \
  X(cuModuleLoadFatBinary, 2000, cuModuleLoadFatBinary, (ModuleHandle * module, const void* image))                    \
  X(cuModuleUnload, 2000, cuModuleUnload, (ModuleHandle module))                                                       \
  X(cuModuleGetLoadingMode, 11070, cuModuleGetLoadingMode, (int* mode))                                                \
  X(cuModuleGetFunction, 2000, cuModuleGetFunction,                                                                    \
    (FunctionHandle * function, ModuleHandle module, const char* name))                                                \
  X(cuModuleGetFunctionCount, 12040, cuModuleGetFunctionCount, (unsigned* count, ModuleHandle module))                 \
  X(cuModuleEnumerateFunctions, 12040, cuModuleEnumerateFunctions,                                                     \
    (FunctionHandle * functions, unsigned count, ModuleHandle module))                                                 \
  X(cuModuleGetGlobal, 3020, cuModuleGetGlobal_v2,                                                                     \
    (DevicePointer * address, size_t* bytes, ModuleHandle module, const char* name))                                   \
  X(cuLibraryLoadData, 12000, cuLibraryLoadData,                                                                       \
    (LibraryHandle * library, const void* image, int* options, void** values, unsigned count, int* libraryOptions,     \
     void** libraryValues, unsigned libraryCount))                                                                     \
  X(cuLibraryLoadFromFile, 12000, cuLibraryLoadFromFile,                                                               \
    (LibraryHandle * library, const char* path, int* options, void** values, unsigned count, int* libraryOptions,      \
     void** libraryValues, unsigned libraryCount))                                                                     \
  X(cuLibraryUnload, 12000, cuLibraryUnload, (LibraryHandle library))                                                  \
  X(cuLibraryGetKernel, 12000, cuLibraryGetKernel, (KernelHandle * kernel, LibraryHandle library, const char* name))   \
  X(cuLibraryGetKernelCount, 12040, cuLibraryGetKernelCount, (unsigned* count, LibraryHandle library))                 \
  X(cuLibraryEnumerateKernels, 12040, cuLibraryEnumerateKernels,                                                       \
    (KernelHandle * kernels, unsigned count, LibraryHandle library))                                                   \
  X(cuLibraryGetModule, 12000, cuLibraryGetModule, (ModuleHandle * module, LibraryHandle library))                     \
  X(cuLibraryGetGlobal, 12000, cuLibraryGetGlobal,                                                                     \
    (DevicePointer * address, size_t* bytes, LibraryHandle library, const char* name))                                 \
  X(cuLibraryGetManaged, 12000, cuLibraryGetManaged,                                                                   \
    (DevicePointer * address, size_t* bytes, LibraryHandle library, const char* name))                                 \
  X(cuKernelGetFunction, 12000, cuKernelGetFunction, (FunctionHandle * function, KernelHandle kernel))                 \
  X(cuKernelGetLibrary, 12050, cuKernelGetLibrary, (LibraryHandle * library, KernelHandle kernel))                     \
  X(cuKernelGetName, 12030, cuKernelGetName, (const char** name, KernelHandle kernel))                                 \
  X(cuKernelGetAttribute, 12000, cuKernelGetAttribute,                                                                 \
    (int* value, int attribute, KernelHandle kernel, DeviceHandle device))                                             \
  X(cuKernelSetAttribute, 12000, cuKernelSetAttribute,                                                                 \
    (int attribute, int value, KernelHandle kernel, DeviceHandle device))                                              \
  X(cuKernelSetCacheConfig, 12000, cuKernelSetCacheConfig, (KernelHandle kernel, int config, DeviceHandle device))     \
  X(cuKernelGetParamInfo, 12040, cuKernelGetParamInfo,                                                                 \
    (KernelHandle kernel, size_t index, size_t* offset, size_t* bytes))                                                \
  X(cuLinkCreate, 6050, cuLinkCreate_v2, (unsigned count, int* options, void** values, LinkHandle* link))              \
  X(cuLinkAddData, 6050, cuLinkAddData_v2,                                                                             \
    (LinkHandle link, int type, void* data, size_t bytes, const char* name, unsigned count, int* options,              \
     void** values))                                                                                                   \
  X(cuLinkAddFile, 6050, cuLinkAddFile_v2,                                                                             \
    (LinkHandle link, int type, const char* path, unsigned count, int* options, void** values))                        \
  X(cuLinkComplete, 5050, cuLinkComplete, (LinkHandle link, void** image, size_t* bytes))                              \
  X(cuLinkDestroy, 5050, cuLinkDestroy, (LinkHandle link))

#define TILETWIN_GPU_LAUNCHES(X)                                                                                       \
  X(cuFuncGetAttribute, 2020, cuFuncGetAttribute, (int* value, int attribute, FunctionHandle function))                \
  X(cuFuncSetAttribute, 9000, cuFuncSetAttribute, (FunctionHandle function, int attribute, int value))                 \
  X(cuFuncSetCacheConfig, 3000, cuFuncSetCacheConfig, (FunctionHandle function, int config))                           \
  X(cuFuncSetSharedMemConfig, 4020, cuFuncSetSharedMemConfig, (FunctionHandle function, int config))                   \
  X(cuFuncGetModule, 11000, cuFuncGetModule, (ModuleHandle * module, FunctionHandle function))                         \
  X(cuFuncGetName, 12030, cuFuncGetName, (const char** name, FunctionHandle function))                                 \
  X(cuFuncGetParamInfo, 12040, cuFuncGetParamInfo,                                                                     \
    (FunctionHandle function, size_t index, size_t* offset, size_t* bytes))                                            \
  X(cuFuncIsLoaded, 12040, cuFuncIsLoaded, (int* state, FunctionHandle function))                                      \
  X(cuFuncLoad, 12040, cuFuncLoad, (FunctionHandle function))                                                          \
  X(cuLaunchKernel, 4000, cuLaunchKernel,                                                                              \
    (FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,        \
     unsigned blockZ, unsigned sharedBytes, StreamHandle stream, void** parameters, void** extra))                     \
  X(cuLaunchKernelEx, 11060, cuLaunchKernelEx,                                                                         \
    (const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra))                            \
  X(cuLaunchCooperativeKernel, 9000, cuLaunchCooperativeKernel,                                                        \
    (FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,        \
     unsigned blockZ, unsigned sharedBytes, StreamHandle stream, void** parameters))                                   \
  X(cuLaunchHostFunc, 10000, cuLaunchHostFunc, (StreamHandle stream, HostFunction function, void* data))               \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, cuOccupancyMaxActiveBlocksPerMultiprocessor,                    \
    (int* blocks, FunctionHandle function, int threads, size_t sharedBytes))                                           \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,  \
    (int* blocks, FunctionHandle function, int threads, size_t sharedBytes, unsigned flags))                           \
  X(cuOccupancyMaxPotentialBlockSize, 6050, cuOccupancyMaxPotentialBlockSize,                                          \
    (int* grid, int* block, FunctionHandle function, SharedBytesOfBlock sharedOfBlock, size_t sharedBytes, int limit)) \
  X(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, cuOccupancyMaxPotentialBlockSizeWithFlags,                        \
    (int* grid, int* block, FunctionHandle function, SharedBytesOfBlock sharedOfBlock, size_t sharedBytes, int limit,  \
     unsigned flags))                                                                                                  \
  X(cuOccupancyAvailableDynamicSMemPerBlock, 10020, cuOccupancyAvailableDynamicSMemPerBlock,                           \
    (size_t* bytes, FunctionHandle function, int blocks, int threads))                                                 \
  X(cuOccupancyMaxPotentialClusterSize, 11070, cuOccupancyMaxPotentialClusterSize,                                     \
    (int* size, FunctionHandle function, const LaunchConfig* config))                                                  \
  X(cuOccupancyMaxActiveClusters, 11070, cuOccupancyMaxActiveClusters,                                                 \
    (int* count, FunctionHandle function, const LaunchConfig* config))                                                 \
  X(cuTensorMapEncodeTiled, 12000, cuTensorMapEncodeTiled,                                                             \
    (void* map, int type, uint32_t rank, void* address, const uint64_t* sizes, const uint64_t* strides,                \
     const uint32_t* box, const uint32_t* steps, int interleave, int swizzle, int promotion, int fill))                \
  X(cuTensorMapReplaceAddress, 12000, cuTensorMapReplaceAddress, (void* map, void* address))                           \
  X(cuTensorMapEncodeIm2col, 12000, cuTensorMapEncodeIm2col,                                                           \
    (void* map, int type, uint32_t rank, void* address, const uint64_t* sizes, const uint64_t* strides,                \
     const int* lower, const int* upper, uint32_t channels, uint32_t pixels, const uint32_t* steps, int interleave,    \
     int swizzle, int promotion, int fill))                                                                            \
  X(cuFuncSetBlockShape, 2000, cuFuncSetBlockShape, (FunctionHandle function, int x, int y, int z))                    \
  X(cuCtxAttach, 2000, cuCtxAttach, (ContextHandle * context, unsigned flags))                                         \
  X(cuCtxDetach, 2000, cuCtxDetach, (ContextHandle context))                                                           \
  X(cuFuncSetSharedSize, 2000, cuFuncSetSharedSize, (FunctionHandle function, unsigned bytes))                         \
  X(cuParamSetSize, 2000, cuParamSetSize, (FunctionHandle function, unsigned bytes))                                   \
  X(cuParamSeti, 2000, cuParamSeti, (FunctionHandle function, int offset, unsigned value))                             \
  X(cuParamSetf, 2000, cuParamSetf, (FunctionHandle function, int offset, float value))                                \
  X(cuParamSetv, 2000, cuParamSetv, (FunctionHandle function, int offset, void* value, unsigned bytes))                \
  X(cuLaunch, 2000, cuLaunch, (FunctionHandle function))                                                               \
  X(cuLaunchGrid, 2000, cuLaunchGrid, (FunctionHandle function, int width, int height))                                \
  X(cuLaunchGridAsync, 2000, cuLaunchGridAsync, (FunctionHandle function, int width, int height, StreamHandle stream))

namespace tiletwin::driver {

#define TILETWIN_GPU_DECLARE(name, since, symbol, parameters)                                                          \
  extern "C" [[gnu::visibility("default")]] Result symbol parameters;
TILETWIN_GPU_DEVICES(TILETWIN_GPU_DECLARE)
TILETWIN_GPU_CONTEXTS(TILETWIN_GPU_DECLARE)
TILETWIN_GPU_MODULES(TILETWIN_GPU_DECLARE)
TILETWIN_GPU_LAUNCHES(TILETWIN_GPU_DECLARE)

} // namespace tiletwin::driver
