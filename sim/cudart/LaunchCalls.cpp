// sim/cudart/LaunchCalls.cpp -- the runtime's launches and what it tells of kernels; what nvcc's code calls.
// Source:    the header host_runtime of the CUDA toolkit, which declares the functions with two underscores.
#include "sim/cudart/Binaries.h"
#include "sim/cudart/Runtime.h"
#include "sim/driver/Api.h"
#include <algorithm>
#include <vector>

namespace tiletwin::cudart {
namespace {

/// Of kernel<<<grid, block, sharedBytes, stream>>>, between the brackets and the call. The innermost is the last.
thread_local std::vector<LaunchConfiguration> waiting;

/// A kernel as functions take it: the host's name of one, or a handle that cudaGetKernel gave.
Error functionOf(const void* function, FunctionHandle& found) {
  KernelHandle kernel = nullptr;
  const Error error = Binaries::instance().kernel(function, kernel);
  if (error == kInvalidDeviceFunction) {
    const char* name = nullptr;
    kernel = static_cast<KernelHandle>(const_cast<void*>(function)); // NOLINT: a handle
    if (cuKernelGetName(&name, kernel)) return kInvalidDeviceFunction;
  } else if (error) {
    return error;
  }
  return cuKernelGetFunction(&found, kernel);
}

template <class Body> Error onFunction(const void* function, const Body& body) noexcept {
  return inRuntime([&]() -> Error {
    FunctionHandle found = nullptr;
    if (const Error error = functionOf(function, found)) return error;
    return body(found);
  });
}

/// Shapes that no kernel can have are an error of their own, of the runtime's.
bool isPossible(const Dim3& grid, const Dim3& block) {
  constexpr unsigned kMostOfGrid = 65535, kMostThreads = 1024, kMostOfBlockZ = 64;
  return grid.x && grid.y && grid.z && block.x && block.y && block.z && grid.x <= 0x7FFFFFFFU &&
         grid.y <= kMostOfGrid && grid.z <= kMostOfGrid && block.x <= kMostThreads && block.y <= kMostThreads &&
         block.z <= kMostOfBlockZ && size_t(block.x) * block.y * block.z <= kMostThreads;
}

LaunchConfig plain(const LaunchConfiguration& c) {
  return {c.grid.x, c.grid.y,     c.grid.z,        c.block.x, c.block.y, c.block.z, unsigned(c.sharedBytes),
          c.stream, c.attributes, c.attributeCount};
}

Error launch(const void* function, const LaunchConfiguration& configuration, void** parameters, bool cooperative) {
  return onFunction(function, [&](FunctionHandle found) -> Error {
    if (!isPossible(configuration.grid, configuration.block)) return kInvalidConfiguration;
    if (configuration.sharedBytes > 0xFFFFFFFFU) return cuda::kInvalidValue;
    const LaunchConfig c = plain(configuration);
    if (cooperative)
      return cuLaunchCooperativeKernel(found, c.gridX, c.gridY, c.gridZ, c.blockX, c.blockY, c.blockZ, c.sharedBytes,
                                       c.stream, parameters);
    return cuLaunchKernelEx(&c, found, parameters, nullptr);
  });
}

} // namespace

extern "C" {

Error cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** parameters, size_t sharedBytes,
                       StreamHandle stream) {
  return launch(function, {grid, block, sharedBytes, stream, nullptr, 0}, parameters, false);
}

Error cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block, void** parameters, size_t sharedBytes,
                                  StreamHandle stream) {
  return launch(function, {grid, block, sharedBytes, stream, nullptr, 0}, parameters, true);
}

Error cudaLaunchKernelExC(const LaunchConfiguration* configuration, const void* function, void** parameters) {
  return configuration ? launch(function, *configuration, parameters, false) : record(cuda::kInvalidValue);
}

Error cudaFuncGetAttributes(FunctionAttributes* attributes, const void* function) {
  return onFunction(function, [&](FunctionHandle found) -> Error {
    if (!attributes) return cuda::kInvalidValue;
    *attributes = {};
    const auto of = [&](int number) {
      int value = 0;
      (void)cuFuncGetAttribute(&value, number, found);
      return value;
    };
    attributes->sharedBytes = size_t(of(kFunctionSharedSize));
    attributes->constBytes = size_t(of(kFunctionConstSize));
    attributes->localBytes = size_t(of(kFunctionLocalSize));
    attributes->maxThreads = of(kFunctionMaxThreadsPerBlock);
    attributes->registers = of(kFunctionNumRegisters);
    attributes->ptxVersion = of(kFunctionPtx);
    attributes->binaryVersion = of(kFunctionBinary);
    attributes->cacheModeCa = of(kFunctionCacheModeCa);
    attributes->maxDynamicShared = of(kFunctionMaxDynamicSharedSize);
    attributes->carveout = of(kFunctionCarveout);
    attributes->clusterMustBeSet = of(kFunctionClusterMustBeSet);
    attributes->clusterWidth = of(kFunctionClusterWidth);
    attributes->clusterHeight = of(kFunctionClusterHeight);
    attributes->clusterDepth = of(kFunctionClusterDepth);
    attributes->clusterPolicy = of(kFunctionClusterPolicy);
    attributes->nonPortable = of(kFunctionNonPortable);
    return cuda::kSuccess;
  });
}

Error cudaFuncSetAttribute(const void* function, int attribute, int value) {
  return onFunction(function, [&](FunctionHandle found) { return cuFuncSetAttribute(found, attribute, value); });
}

Error cudaFuncSetCacheConfig(const void* function, int config) {
  return onFunction(function, [&](FunctionHandle found) { return cuFuncSetCacheConfig(found, config); });
}

Error cudaFuncGetName(const char** name, const void* function) {
  return onFunction(function, [&](FunctionHandle found) { return cuFuncGetName(name, found); });
}

Error cudaGetFuncBySymbol(FunctionHandle* made, const void* function) {
  return onFunction(function, [&](FunctionHandle found) -> Error {
    if (!made) return cuda::kInvalidValue;
    *made = found;
    return cuda::kSuccess;
  });
}

Error cudaGetKernel(KernelHandle* kernel, const void* function) {
  return inRuntime(
      [&]() -> Error { return kernel ? Binaries::instance().kernel(function, *kernel) : Error(cuda::kInvalidValue); });
}

Error cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                    size_t sharedBytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, sharedBytes, 0);
}

Error cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                             size_t sharedBytes, unsigned flags) {
  return onFunction(function, [&](FunctionHandle found) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, found, threads, sharedBytes, flags);
  });
}

Error cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int threads) {
  return onFunction(function, [&](FunctionHandle found) {
    return cuOccupancyAvailableDynamicSMemPerBlock(bytes, found, blocks, threads);
  });
}

Error cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const LaunchConfiguration* configuration) {
  return onFunction(function, [&](FunctionHandle found) -> Error {
    if (!configuration) return cuda::kInvalidValue;
    const LaunchConfig c = plain(*configuration);
    return cuOccupancyMaxPotentialClusterSize(size, found, &c);
  });
}

Error cudaOccupancyMaxActiveClusters(int* count, const void* function, const LaunchConfiguration* configuration) {
  return onFunction(function, [&](FunctionHandle found) -> Error {
    if (!configuration) return cuda::kInvalidValue;
    const LaunchConfig c = plain(*configuration);
    return cuOccupancyMaxActiveClusters(count, found, &c);
  });
}

// ---- What nvcc's code calls -----------------------------------------------------------------------------------------------------
// NOLINTBEGIN(bugprone-reserved-identifier): the names are nvcc's
#define TILETWIN_NVCC [[gnu::visibility("default")]]

TILETWIN_NVCC void** __cudaRegisterFatBinary(void* image) {
  return reinterpret_cast<void**>(Binaries::instance().add(image));
}
TILETWIN_NVCC void __cudaRegisterFatBinaryEnd(void**) {}
TILETWIN_NVCC void __cudaUnregisterFatBinary(void**) {} // destructors of the program may still use it

TILETWIN_NVCC void __cudaRegisterFunction(void** binary, const char* host, char*, const char* name, int, void*, void*,
                                          void*, void*, int*) {
  Binaries::instance().addKernel(host, reinterpret_cast<Binary*>(binary), name);
}

TILETWIN_NVCC void __cudaRegisterVar(void** binary, char* host, char*, const char* name, int, size_t, int, int) {
  Binaries::instance().addVariable(host, reinterpret_cast<Binary*>(binary), name);
}

TILETWIN_NVCC void __cudaRegisterManagedVar(void** binary, void** place, char*, const char* name, int, size_t, int,
                                            int) {
  auto* const own = reinterpret_cast<Binary*>(binary);
  own->addManaged(place, name);
  Binaries::instance().addVariable(static_cast<const void*>(place), own, name);
}

TILETWIN_NVCC char __cudaInitModule(void** binary) {
  return inRuntime([&] { return reinterpret_cast<Binary*>(binary)->setManaged(); }) == cuda::kSuccess;
}

TILETWIN_NVCC unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t sharedBytes, StreamHandle stream) {
  waiting.push_back({grid, block, sharedBytes, stream, nullptr, 0});
  return 0;
}

TILETWIN_NVCC Error __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* sharedBytes, void* stream) {
  if (waiting.empty()) return record(kMissingConfiguration);
  const LaunchConfiguration& last = waiting.back();
  *grid = last.grid;
  *block = last.block;
  *sharedBytes = last.sharedBytes;
  *static_cast<StreamHandle*>(stream) = last.stream;
  waiting.pop_back();
  return cuda::kSuccess;
}

// The handle is the host's name, so that a binary that cannot be read is the launch's error, each time.
TILETWIN_NVCC Error __cudaGetKernel(const void** kernel, const void* function) {
  *kernel = function;
  return cuda::kSuccess;
}

TILETWIN_NVCC Error __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block, void** parameters, size_t sharedBytes,
                                       StreamHandle stream) {
  return cudaLaunchKernel(kernel, grid, block, parameters, sharedBytes, stream);
}
// NOLINTEND(bugprone-reserved-identifier)

} // extern "C"
} // namespace tiletwin::cudart
