// runtime/cuda/DriverTypes.h -- the part of the CUDA driver's interface that we call, declared by ourselves.
// Here:      types, numbers and the list of functions, so that no CUDA header is needed to build.
// Not here:  the library that has them (Driver.h).
// Source:    "CUDA Driver API", NVIDIA. The interface is stable: numbers and layouts keep their meaning in later drivers.
//            tests/cuda compares all of this with cuda.h where that is installed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tiletwin::cuda {

using DeviceHandle = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct ContextTag*;
using ModuleHandle = struct ModuleTag*;
using FunctionHandle = struct FunctionTag*;
using StreamHandle = struct StreamTag*;
using LinkHandle = struct LinkTag*;

/// What every function returns. Others have no name here: the driver tells theirs.
enum Result : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kInvalidPtx = 218,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kInvalidSource = 300,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidPc = 718,
  kLaunchFailed = 719,
  kCooperativeLaunchTooLarge = 720,
  kTensorMemoryLeak = 721,
  kNotSupported = 801,
  kSystemDriverMismatch = 803,
  kCompatNotSupported = 804,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureWrongThread = 908,
  kInvalidClusterSize = 912,
  kUnknown = 999,
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxBlockX = 2,
  kMaxBlockY = 3,
  kMaxBlockZ = 4,
  kMaxGridX = 5,
  kMaxGridY = 6,
  kMaxGridZ = 7,
  kMaxSharedPerBlock = 8,
  kWarpSize = 10,
  kMaxRegistersPerBlock = 12,
  kClockRate = 13,
  kMultiprocessorCount = 16,
  kMemoryClockRate = 36,
  kMemoryBusWidth = 37,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kMaxSharedPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kCooperativeLaunch = 95,
  kMaxSharedPerBlockOptin = 97,
  kClusterLaunch = 120,
};

enum FunctionAttribute : int {
  kFunctionMaxThreads = 0,
  kFunctionSharedBytes = 1,
  kFunctionConstBytes = 2,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
  kFunctionPtxVersion = 5,
  kFunctionBinaryVersion = 6,
  kFunctionMaxDynamicShared = 8,
  kFunctionNonPortableCluster = 14,
};

enum PointerAttribute : int {
  kPointerMemoryType = 2,
  kPointerIsManaged = 8,
  kPointerDeviceOrdinal = 9,
  kPointerRangeStart = 11,
  kPointerRangeSize = 12,
};
inline constexpr unsigned kMemoryTypeHost = 1, kMemoryTypeDevice = 2;

enum JitOption : int {
  kJitMaxRegisters = 0,
  kJitInfoLog = 3,
  kJitInfoLogBytes = 4,
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6,
  kJitOptimizationLevel = 7,
  kJitTarget = 9,
  kJitLogVerbose = 12,
  kJitLineInfo = 13,
};
inline constexpr int kJitInputPtx = 1;

inline constexpr int kCaptureModeRelaxed = 2, kCaptureStatusNone = 0;
inline constexpr unsigned kStreamNonBlocking = 1;
/// In `extra` of a launch: what follows is the address, or the size, of a block of parameters.
inline void* const kLaunchBufferPointer = reinterpret_cast<void*>(1);
inline void* const kLaunchBufferSize = reinterpret_cast<void*>(2);

enum LaunchAttributeId : int { kLaunchCooperative = 2, kLaunchClusterDimension = 4, kLaunchProgrammatic = 6 };
struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[8 - sizeof(LaunchAttributeId)];
  union {
    char room[64];
    int flag;
    struct {
      unsigned x, y, z;
    } cluster;
  };
};
struct LaunchConfig {
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attributeCount;
};
static_assert(sizeof(LaunchAttribute) == 72 && sizeof(LaunchConfig) == 56);

// X(symbol, parameters): every driver that we work with has it (CUDA 11.4 and later).
#define TILETWIN_CUDA_REQUIRED(X)                                                                                      \
  X(cuInit, (unsigned flags))                                                                                          \
  X(cuDriverGetVersion, (int* version))                                                                                \
  X(cuGetErrorName, (Result error, const char** text))                                                                 \
  X(cuGetErrorString, (Result error, const char** text))                                                               \
  X(cuDeviceGetCount, (int* count))                                                                                    \
  X(cuDeviceGet, (DeviceHandle * device, int ordinal))                                                                 \
  X(cuDeviceGetName, (char* name, int bytes, DeviceHandle device))                                                     \
  X(cuDeviceGetAttribute, (int* value, DeviceAttribute attribute, DeviceHandle device))                                \
  X(cuDeviceTotalMem_v2, (size_t* bytes, DeviceHandle device))                                                         \
  X(cuDevicePrimaryCtxRetain, (ContextHandle * context, DeviceHandle device))                                          \
  X(cuCtxGetCurrent, (ContextHandle * context))                                                                        \
  X(cuCtxPushCurrent_v2, (ContextHandle context))                                                                      \
  X(cuCtxPopCurrent_v2, (ContextHandle * context))                                                                     \
  X(cuCtxGetDevice, (DeviceHandle * device))                                                                           \
  X(cuCtxSynchronize, ())                                                                                              \
  X(cuModuleLoadDataEx, (ModuleHandle * module, const void* image, unsigned count, JitOption* options, void** values)) \
  X(cuModuleUnload, (ModuleHandle module))                                                                             \
  X(cuModuleGetFunction, (FunctionHandle * function, ModuleHandle module, const char* name))                           \
  X(cuModuleGetGlobal_v2, (DevicePointer * address, size_t* bytes, ModuleHandle module, const char* name))             \
  X(cuFuncGetAttribute, (int* value, FunctionAttribute attribute, FunctionHandle function))                            \
  X(cuFuncSetAttribute, (FunctionHandle function, FunctionAttribute attribute, int value))                             \
  X(cuLaunchKernel,                                                                                                    \
    (FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,        \
     unsigned blockZ, unsigned sharedBytes, StreamHandle stream, void** parameters, void** extra))                     \
  X(cuLinkCreate_v2, (unsigned count, JitOption* options, void** values, LinkHandle* link))                            \
  X(cuLinkAddData_v2, (LinkHandle link, int type, void* data, size_t bytes, const char* name, unsigned count,          \
                       JitOption* options, void** values))                                                             \
  X(cuLinkComplete, (LinkHandle link, void** cubin, size_t* bytes))                                                    \
  X(cuLinkDestroy, (LinkHandle link))                                                                                  \
  X(cuMemAlloc_v2, (DevicePointer * address, size_t bytes))                                                            \
  X(cuMemFree_v2, (DevicePointer address))                                                                             \
  X(cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, size_t bytes, StreamHandle stream))                     \
  X(cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, size_t bytes, StreamHandle stream))                           \
  X(cuPointerGetAttributes, (unsigned count, PointerAttribute* attributes, void** values, DevicePointer address))      \
  X(cuStreamCreate, (StreamHandle * stream, unsigned flags))                                                           \
  X(cuStreamDestroy_v2, (StreamHandle stream))                                                                         \
  X(cuStreamSynchronize, (StreamHandle stream))                                                                        \
  X(cuStreamIsCapturing, (StreamHandle stream, int* status))                                                           \
  X(cuThreadExchangeStreamCaptureMode, (int* mode))                                                                    \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                       \
    (int* blocks, FunctionHandle function, int threads, size_t sharedBytes))

// Null in older drivers. X(symbol, parameters, the CUDA version that brought it)
#define TILETWIN_CUDA_OPTIONAL(X)                                                                                      \
  X(cuLaunchKernelEx, (const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra), "11.8")  \
  X(cuTensorMapEncodeTiled,                                                                                            \
    (void* map, int type, uint32_t rank, void* address, const uint64_t* sizes, const uint64_t* strides,                \
     const uint32_t* box, const uint32_t* elementStrides, int interleave, int swizzle, int promotion, int fill),       \
    "12.0")                                                                                                            \
  X(cuFuncGetName, (const char** name, FunctionHandle function), "12.3")                                               \
  X(cuFuncLoad, (FunctionHandle function), "12.4")                                                                     \
  X(cuModuleGetFunctionCount, (unsigned* count, ModuleHandle module), "12.4")                                          \
  X(cuModuleEnumerateFunctions, (FunctionHandle * functions, unsigned count, ModuleHandle module), "12.4")

/// The driver's functions, under their own names; null: not looked up, or this driver has none.
struct DriverFunctions {
#define TILETWIN_MEMBER(symbol, parameters, ...) Result(*symbol) parameters = nullptr;
  TILETWIN_CUDA_REQUIRED(TILETWIN_MEMBER)
  TILETWIN_CUDA_OPTIONAL(TILETWIN_MEMBER)
#undef TILETWIN_MEMBER
};

} // namespace tiletwin::cuda
