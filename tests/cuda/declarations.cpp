// tests/cuda/declarations.cpp -- our declarations of the driver's interface against cuda.h. Compiled, never linked or run
// (test_cuda_declarations.py).
#include "runtime/cuda/DriverTypes.h"
#define __CUDA_API_VERSION_INTERNAL // declares the older versions of functions too
#include <cuda.h>
#include <type_traits>
namespace ours = tiletwin::cuda;

// Parameters are the same if they are of the same size, and pointers where the others are; names of types may differ.
template <class A, class B>
constexpr bool isSame = sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;
template <class A, class B> struct SameFunction : std::false_type {};
template <class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
struct SameFunction<CUresult (*)(A...), ours::Result (*)(B...)> : std::bool_constant<(isSame<A, B> && ...)> {};

namespace tiletwin::cuda { // the parameters' types are written as in DriverTypes.h
#define CHECK(symbol, parameters, ...)                                                                                 \
  static_assert(SameFunction<decltype(&::symbol), Result(*) parameters>::value, #symbol);
TILETWIN_CUDA_REQUIRED(CHECK)
TILETWIN_CUDA_OPTIONAL(CHECK)
} // namespace tiletwin::cuda

#define SAME(a, b) static_assert(int(ours::a) == int(b), #a)
SAME(kSuccess, CUDA_SUCCESS);
SAME(kInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kNotInitialized, CUDA_ERROR_NOT_INITIALIZED);
SAME(kDeinitialized, CUDA_ERROR_DEINITIALIZED);
SAME(kStubLibrary, CUDA_ERROR_STUB_LIBRARY);
SAME(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(kInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(kInvalidImage, CUDA_ERROR_INVALID_IMAGE);
SAME(kInvalidContext, CUDA_ERROR_INVALID_CONTEXT);
SAME(kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
SAME(kInvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(kJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
SAME(kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(kInvalidSource, CUDA_ERROR_INVALID_SOURCE);
SAME(kNotFound, CUDA_ERROR_NOT_FOUND);
SAME(kNotReady, CUDA_ERROR_NOT_READY);
SAME(kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
SAME(kAssert, CUDA_ERROR_ASSERT);
SAME(kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
SAME(kIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
SAME(kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
SAME(kInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
SAME(kInvalidPc, CUDA_ERROR_INVALID_PC);
SAME(kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED);
SAME(kCooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
SAME(kTensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
SAME(kNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
SAME(kCompatNotSupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
SAME(kStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
SAME(kStreamCaptureWrongThread, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
SAME(kInvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
SAME(kUnknown, CUDA_ERROR_UNKNOWN);

SAME(kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kMaxBlockX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
SAME(kMaxBlockY, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
SAME(kMaxBlockZ, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
SAME(kMaxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(kMaxGridY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(kMaxGridZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(kMaxSharedPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(kWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
SAME(kMaxRegistersPerBlock, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(kClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(kMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(kMemoryBusWidth, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(kL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(kMaxThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(kCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(kCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(kMaxSharedPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(kMaxRegistersPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME(kCooperativeLaunch, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME(kMaxSharedPerBlockOptin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(kClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);

SAME(kFunctionMaxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(kFunctionSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(kFunctionConstBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
SAME(kFunctionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(kFunctionPtxVersion, CU_FUNC_ATTRIBUTE_PTX_VERSION);
SAME(kFunctionBinaryVersion, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
SAME(kFunctionMaxDynamicShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(kFunctionNonPortableCluster, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);

SAME(kPointerMemoryType, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(kPointerIsManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(kPointerDeviceOrdinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(kPointerRangeStart, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME(kPointerRangeSize, CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME(kMemoryTypeHost, CU_MEMORYTYPE_HOST);
SAME(kMemoryTypeDevice, CU_MEMORYTYPE_DEVICE);

SAME(kJitMaxRegisters, CU_JIT_MAX_REGISTERS);
SAME(kJitInfoLog, CU_JIT_INFO_LOG_BUFFER);
SAME(kJitInfoLogBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
SAME(kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME(kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(kJitOptimizationLevel, CU_JIT_OPTIMIZATION_LEVEL);
SAME(kJitTarget, CU_JIT_TARGET);
SAME(kJitLogVerbose, CU_JIT_LOG_VERBOSE);
SAME(kJitLineInfo, CU_JIT_GENERATE_LINE_INFO);
SAME(kJitInputPtx, CU_JIT_INPUT_PTX);
SAME(kCaptureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(kCaptureStatusNone, CU_STREAM_CAPTURE_STATUS_NONE);
SAME(kStreamNonBlocking, CU_STREAM_NON_BLOCKING);

SAME(kLaunchCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(kLaunchClusterDimension, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(kLaunchProgrammatic, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
static_assert(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT == 1 && CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT == 2);
static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::LaunchAttribute, room) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::LaunchConfig, sharedBytes) == offsetof(CUlaunchConfig, sharedMemBytes));
static_assert(offsetof(ours::LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(offsetof(ours::LaunchConfig, attributeCount) == offsetof(CUlaunchConfig, numAttrs));
