// sim/driver/Types.h -- types and numbers of the CUDA driver's interface that the virtual GPU takes and gives.
// Here:      what runtime/cuda/DriverTypes.h, which is what we call, does not have: handles, structures, error codes.
// Not here:  the functions (Api.h).
// Source:    "CUDA Driver API", NVIDIA. Numbers and layouts keep their meaning in later drivers; tests/sim_driver compares all
//            of this with cuda.h where that is installed.
#pragma once
#include "runtime/cuda/DriverTypes.h"
#include <array>
#include <cstddef>
#include <cstdint>

namespace tiletwin::driver {

using cuda::ContextHandle;
using cuda::DeviceHandle;
using cuda::DevicePointer;
using cuda::FunctionHandle;
using cuda::LaunchAttribute;
using cuda::LaunchConfig;
using cuda::LinkHandle;
using cuda::ModuleHandle;
using cuda::Result;
using cuda::StreamHandle;
using EventHandle = struct EventTag*;
using GraphHandle = struct GraphTag*;
using GraphExecHandle = struct GraphExecTag*;
using NodeHandle = struct NodeTag*;
using LibraryHandle = struct LibraryTag*;
using KernelHandle = struct KernelTag*;
using PoolHandle = struct PoolTag*;
using UserObjectHandle = struct UserObjectTag*;
using ArrayHandle = struct ArrayTag*;
using MipmappedHandle = struct MipmappedTag*;

// ---- Results that only a driver gives -----------------------------------------------------------------------------------------
inline constexpr Result kUnsupportedLimit = Result(215), kPeerAccessUnsupported = Result(217),
                        kFileNotFound = Result(301), kInvalidHandle = Result(400), kIllegalState = Result(401),
                        kPeerAccessAlreadyEnabled = Result(704), kPeerAccessNotEnabled = Result(705),
                        kPrimaryContextActive = Result(708), kContextIsDestroyed = Result(709),
                        kHostMemoryAlreadyRegistered = Result(712), kHostMemoryNotRegistered = Result(713),
                        kNotPermitted = Result(800), kCaptureInvalidated = Result(901), kCaptureUnmatched = Result(903),
                        kCaptureUnjoined = Result(904), kCaptureIsolation = Result(905), kCaptureImplicit = Result(906),
                        kCapturedEvent = Result(907), kGraphUpdateFailure = Result(910), kOperatingSystem = Result(304),
                        kLossyQuery = Result(920);

// ---- Streams, events, memory ----------------------------------------------------------------------------------------------------
/// Streams that exist without being made.
inline const StreamHandle kLegacyStream = reinterpret_cast<StreamHandle>(1),
                          kPerThreadStream = reinterpret_cast<StreamHandle>(2);
inline constexpr unsigned kEventBlockingSync = 1, kEventDisableTiming = 2, kEventInterprocess = 4;

enum MemoryType : unsigned { kNoMemory, kHostMemory = 1, kDeviceMemory = 2, kArrayMemory = 3, kUnifiedMemory = 4 };
inline constexpr unsigned kHostPortable = 1, kHostDeviceMap = 2, kHostWriteCombined = 4;
inline constexpr unsigned kAttachGlobal = 1, kAttachHost = 2, kAttachSingle = 4;

/// What cuMemcpy2D takes: places in bytes, a width in bytes and a height in rows.
struct Copy2D {
  size_t fromX, fromY;
  MemoryType fromType;
  const void* fromHost;
  DevicePointer fromDevice;
  void* fromArray;
  size_t fromPitch;
  size_t toX, toY;
  MemoryType toType;
  void* toHost;
  DevicePointer toDevice;
  void* toArray;
  size_t toPitch;
  size_t width, height;
};
struct Copy3D {
  size_t fromX, fromY, fromZ, fromLevel;
  MemoryType fromType;
  const void* fromHost;
  DevicePointer fromDevice;
  void* fromArray;
  void* reserved0;
  size_t fromPitch, fromHeight;
  size_t toX, toY, toZ, toLevel;
  MemoryType toType;
  void* toHost;
  DevicePointer toDevice;
  void* toArray;
  void* reserved1;
  size_t toPitch, toHeight;
  size_t width, height, depth;
};
static_assert(sizeof(Copy2D) == 128 && sizeof(Copy3D) == 200);

/// CUipcMemHandle, CUipcEventHandle, CUmemPoolPtrExportData.
struct IpcHandle {
  std::array<unsigned char, 64> bytes;
};
struct Uuid {
  std::array<unsigned char, 16> bytes;
};
struct Location {
  int type; ///< 1: a device, 2: the host
  int id;
};
struct PoolProperties {
  int allocationType, handleTypes;
  Location location;
  void* securityAttributes;
  size_t largest;
  unsigned short usage;
  unsigned char reserved[54];
};
struct AccessDescription {
  Location location;
  int flags; ///< 0: none, 1: reads, 3: reads and writes
};
static_assert(sizeof(PoolProperties) == 88 && sizeof(AccessDescription) == 12);

/// CUmemAllocationHandleType: how other processes get memory; the others are not there.
inline constexpr int kFileDescriptor = 1;
/// Bits of AccessDescription::flags.
inline constexpr int kAccessRead = 1, kAccessWrite = 2;
/// CUmemAllocationProp.
struct AllocationProperties {
  int type, handleTypes;
  Location location;
  void* securityAttributes;
  unsigned char compression, isRdmaCapable;
  unsigned short usage;
  unsigned char reserved[4];
};
static_assert(sizeof(AllocationProperties) == 32);

enum PoolAttribute : int {
  kPoolReuseFollowEvents = 1,
  kPoolReuseOpportunistic,
  kPoolReuseInternalDependencies,
  kPoolReleaseThreshold,
  kPoolReservedCurrent,
  kPoolReservedHigh,
  kPoolUsedCurrent,
  kPoolUsedHigh,
};

enum PointerQuery : int {
  kPointerContext = 1,
  kPointerMemoryType,
  kPointerDevicePointer,
  kPointerHostPointer,
  kPointerTokens,
  kPointerSyncMemops,
  kPointerBufferId,
  kPointerIsManaged,
  kPointerDeviceOrdinal,
  kPointerIsLegacyIpcCapable,
  kPointerRangeStart,
  kPointerRangeSize,
  kPointerMapped,
  kPointerAllowedHandleTypes,
  kPointerIsRdmaCapable,
  kPointerAccessFlags,
  kPointerMempool,
};

enum Limit : int {
  kLimitStack,
  kLimitPrintf,
  kLimitHeap,
  kLimitSyncDepth,
  kLimitPending,
  kLimitFetch,
  kLimitPersisting,
  kLimitCount
};

// ---- Launches -------------------------------------------------------------------------------------------------------------------
using HostFunction = void (*)(void* data);
using StreamCallback = void (*)(StreamHandle stream, Result status, void* data);
using SharedBytesOfBlock = size_t (*)(int blockSize);

inline constexpr unsigned kLaunchPriority = 8; ///< attribute of a launch that changes no result

enum FunctionQuery : int {
  kFunctionMaxThreadsPerBlock,
  kFunctionSharedSize,
  kFunctionConstSize,
  kFunctionLocalSize,
  kFunctionNumRegisters,
  kFunctionPtx,
  kFunctionBinary,
  kFunctionCacheModeCa,
  kFunctionMaxDynamicSharedSize,
  kFunctionCarveout,
  kFunctionClusterMustBeSet,
  kFunctionClusterWidth,
  kFunctionClusterHeight,
  kFunctionClusterDepth,
  kFunctionNonPortable,
  kFunctionClusterPolicy,
  kFunctionQueryCount,
};

/// Kinds of what cuLink* takes.
enum LinkInput : int { kInputCubin, kInputPtx, kInputFatBinary, kInputObject, kInputLibrary, kInputNvvm };

// ---- Graphs ---------------------------------------------------------------------------------------------------------------------
enum NodeType : int {
  kNodeKernel,
  kNodeMemcpy,
  kNodeMemset,
  kNodeHost,
  kNodeGraph,
  kNodeEmpty,
  kNodeWaitEvent,
  kNodeRecordEvent,
  kNodeExternalSignal,
  kNodeExternalWait,
  kNodeMemoryAlloc,
  kNodeMemoryFree,
  kNodeBatchMemory,
  kNodeConditional,
};
struct KernelNodeParams {
  FunctionHandle function;
  unsigned gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes;
  void** parameters;
  void** extra;
  KernelHandle kernel;
  ContextHandle context;
};
struct MemsetNodeParams {
  DevicePointer to;
  size_t pitch;
  unsigned value, elementBytes;
  size_t width, height;
};
struct HostNodeParams {
  HostFunction function;
  void* data;
};
/// CUDA_MEM_ALLOC_NODE_PARAMS.
struct GraphAllocParams {
  PoolProperties properties;
  const AccessDescription* access;
  size_t accessCount, bytes;
  DevicePointer address; ///< given by the driver
};
/// CUgraphEdgeData: of launches that overlap. What overlaps on a GPU is done one after the other here.
struct EdgeData {
  unsigned char fromPort, toPort, type;
  std::array<unsigned char, 5> reserved;
};
struct GraphInstantiateParams {
  uint64_t flags;
  StreamHandle uploadStream;
  NodeHandle wrongNode;
  int result; ///< CUgraphInstantiateResult: 0 is success
};
struct MemcpyNodeParams {
  int flags, reserved;
  ContextHandle context;
  Copy3D copy;
};
struct ChildNodeParams {
  GraphHandle graph;
  int isMoved; ///< 1: the node takes the graph itself, not a clone
};
struct ConditionalNodeParams {
  uint64_t condition;
  int kind;
  unsigned count;
  const GraphHandle* graphs; ///< given by the driver
  ContextHandle context;
};
/// CUgraphNodeParams.
struct GraphNodeParams {
  int type;
  std::array<int, 3> reserved0;
  union {
    std::array<long long, 29> reserved1;
    KernelNodeParams kernel;
    MemcpyNodeParams memcpy;
    MemsetNodeParams memset;
    HostNodeParams host;
    ChildNodeParams graph;
    EventHandle event;
    GraphAllocParams alloc;
    DevicePointer free;
    ConditionalNodeParams conditional;
  };
  long long reserved2;
};
static_assert(sizeof(GraphNodeParams) == 256);
/// CUgraphExecUpdateResultInfo.
struct UpdateInfo {
  int result;
  NodeHandle node, from;
};
static_assert(sizeof(KernelNodeParams) == 72 && sizeof(MemsetNodeParams) == 40 && sizeof(GraphAllocParams) == 120 &&
              sizeof(EdgeData) == 8);

} // namespace tiletwin::driver
