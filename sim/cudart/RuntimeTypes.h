// sim/cudart/RuntimeTypes.h -- structures of the CUDA runtime's interface that differ from the driver's.
// Not here:  handles and structures that are the driver's own (sim/driver/Types.h), the functions (RuntimeApi.h).
// Source:    "CUDA Runtime API", NVIDIA, version 13. tests/sim_driver compares sizes and numbers with driver_types.h where that
//            is installed.
#pragma once
#include "sim/driver/Arrays.h"
#include "sim/driver/Types.h"
#include <array>
#include <cstddef>
#include <cstdint>

namespace tiletwin::cudart {

using namespace tiletwin::driver;

/// cudaError_t. What the driver returns has the same number in both.
using Error = int;
inline constexpr Error kInvalidConfiguration = 9, kInvalidChannel = 20, kInvalidPitch = 12, kInvalidSymbol = 13,
                       kInvalidCopyDirection = 21, kInvalidDeviceFunction = 98, kMissingConfiguration = 52;

/// cudaChannelFormatDesc: bits of each part of an element, and whether they are signed, unsigned, or floats.
struct ChannelFormat {
  int x, y, z, w, kind;
};
struct Dim3 {
  unsigned x, y, z;
};
struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
struct PitchedPointer {
  void* address;
  size_t pitch, width, height;
};
/// cudaResourceDesc and cudaTextureDesc.
struct RuntimeResource {
  int type;
  union {
    ArrayHandle array;
    MipmappedHandle mipmapped;
    struct {
      void* address;
      ChannelFormat channels;
      size_t bytes;
    } linear;
    struct {
      void* address;
      ChannelFormat channels;
      size_t width, height, pitch;
    } pitched;
    std::array<int, 32> reserved;
  };
  unsigned flags;
};
struct RuntimeTexture {
  std::array<int, 3> addressing;
  int filter, readMode, isSrgb;
  std::array<float, 4> border;
  int isNormalized;
  unsigned anisotropy;
  int levelFilter;
  float levelBias, leastLevel, mostLevel;
  int withoutTrilinear, isSeamless;
};
struct Copy3DParameters {
  void* fromArray;
  Position fromPosition;
  PitchedPointer from;
  void* toArray;
  Position toPosition;
  PitchedPointer to;
  Extent extent;
  int kind;
};
enum CopyKind : int { kHostToHost, kHostToDevice, kDeviceToHost, kDeviceToDevice, kCopyDefault };

struct LaunchConfiguration {
  Dim3 grid, block;
  size_t sharedBytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attributeCount;
};
struct KernelParameters {
  void* function;
  Dim3 grid, block;
  unsigned sharedBytes;
  void** parameters;
  void** extra;
};
/// cudaGraphNodeParams, as far as it differs from the driver's.
struct RuntimeNodeParams {
  int type;
  std::array<int, 3> reserved0;
  union {
    std::array<long long, 29> reserved1;
    KernelParameters kernel;
    struct {
      int flags;
      std::array<int, 3> reserved;
      Copy3DParameters copy;
    } memcpy;
  };
  long long reserved2;
};
static_assert(sizeof(RuntimeNodeParams) == 256);
struct FunctionAttributes {
  size_t sharedBytes, constBytes, localBytes;
  int maxThreads, registers, ptxVersion, binaryVersion, cacheModeCa, maxDynamicShared, carveout, clusterMustBeSet;
  int clusterWidth, clusterHeight, clusterDepth, clusterPolicy, nonPortable;
  std::array<int, 16> reserved;
};
struct PointerAttributes {
  int type; ///< 0: not known, 1: host, 2: device, 3: managed
  int device;
  void *devicePointer, *hostPointer;
  std::array<long, 8> reserved;
};

struct DeviceProperties {
  std::array<char, 256> name;
  Uuid uuid;
  std::array<char, 8> luid;
  unsigned luidDeviceNodeMask;
  size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  size_t memPitch;
  int maxThreadsPerBlock;
  std::array<int, 3> maxThreadsDim, maxGridSize;
  size_t totalConstMem;
  int major, minor;
  size_t textureAlignment, texturePitchAlignment;
  int multiProcessorCount, integrated, canMapHostMemory;
  std::array<int, 39> textures; ///< sizes of textures and surfaces
  size_t surfaceAlignment;
  int concurrentKernels, eccEnabled, pciBusId, pciDeviceId, pciDomainId, tccDriver, asyncEngineCount, unifiedAddressing;
  int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  int globalL1CacheSupported, localL1CacheSupported;
  size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupId, hostNativeAtomicSupported;
  int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem;
  int cooperativeLaunch;
  size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost, maxBlocksPerMultiProcessor;
  int accessPolicyMaxWindowSize;
  size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported, timelineSemaphoreInteropSupported;
  int memoryPoolsSupported, gpuDirectRdmaSupported;
  unsigned gpuDirectRdmaFlushWritesOptions;
  int gpuDirectRdmaWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch, unifiedFunctionPointers, deviceNumaConfig;
  int deviceNumaId, mpsEnabled, hostNumaId;
  unsigned gpuPciDeviceId, gpuPciSubsystemId;
  int hostNumaMultinodeIpcSupported;
  std::array<int, 56> reserved;
};

} // namespace tiletwin::cudart
