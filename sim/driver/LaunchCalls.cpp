// sim/driver/LaunchCalls.cpp -- the driver's functions on functions: attributes, launches, occupancy, tensor maps.
#include "sim/Tensormap.h"
#include "sim/driver/Call.h"
#include "sim/driver/Launch.h"
#include "sim/driver/Stream.h"
#include "sim/driver/VirtualDevice.h"
#include <algorithm>
#include <cstdio>

namespace tiletwin::driver {
namespace {

template <class Body> Result onFunction(const void* handle, const Body& body) noexcept {
  return inContext([&](Context& context) {
    std::shared_ptr<Function> function;
    if (const Result result = findFunction(context, handle, function)) return result;
    return body(*function);
  });
}

Result launch(const void* function, const LaunchShape& shape, StreamHandle handle, void** parameters,
              void** extra) noexcept {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    if (!stream) return kInvalidHandle;
    const std::shared_ptr<Context> owner = stream->context();
    if (!owner) return kContextIsDestroyed;
    std::shared_ptr<LaunchWork> work;
    if (const Result result = prepareLaunch(*owner, function, shape, parameters, extra, work)) return result;
    return stream->give(work);
  });
}

/// The block that fills a multiprocessor best: the largest one, if several do.
Result bestBlock(int* grid, int* block, const Function& function, SharedBytesOfBlock sharedOfBlock, size_t sharedBytes,
                 int limit) {
  if (!grid || !block) return cuda::kInvalidValue;
  constexpr int kWarp = 32;
  const int most = limit > 0 ? std::min(limit, function.maxThreads()) : function.maxThreads();
  int bestThreads = 0, blocks = 0;
  for (int threads = (most + kWarp - 1) / kWarp * kWarp; threads > 0; threads -= kWarp) {
    const int used = std::min(threads, most);
    const int held = blocksPerMultiprocessor(function, used, sharedOfBlock ? sharedOfBlock(used) : sharedBytes);
    if (held * used <= bestThreads) continue;
    bestThreads = held * used;
    blocks = held;
    *block = used;
  }
  *grid = blocks * function.module->context().device.limits().multiprocessors;
  return bestThreads ? cuda::kSuccess : cuda::kLaunchOutOfResources;
}

} // namespace

extern "C" {

Result cuFuncGetAttribute(int* value, int attribute, FunctionHandle handle) {
  return onFunction(handle, [&](const Function& function) {
    return value ? function.attribute(attribute, *value) : cuda::kInvalidValue;
  });
}
Result cuFuncSetAttribute(FunctionHandle handle, int attribute, int value) {
  return onFunction(handle, [&](Function& function) { return function.setAttribute(attribute, value); });
}
Result cuFuncSetCacheConfig(FunctionHandle handle, int config) {
  return onFunction(handle, [](const Function&) { return cuda::kSuccess; });
}
Result cuFuncSetSharedMemConfig(FunctionHandle handle, int config) { return cuFuncSetCacheConfig(handle, config); }

Result cuFuncGetModule(ModuleHandle* module, FunctionHandle handle) {
  return onFunction(handle, [&](const Function& function) {
    if (!module) return cuda::kInvalidValue;
    *module = function.module->handle;
    return cuda::kSuccess;
  });
}

Result cuFuncGetName(const char** name, FunctionHandle handle) {
  return onFunction(handle, [&](const Function& function) {
    if (!name) return cuda::kInvalidValue;
    *name = function.kernel->name().c_str(); // as long as the module
    return cuda::kSuccess;
  });
}

Result cuFuncGetParamInfo(FunctionHandle handle, size_t index, size_t* offset, size_t* bytes) {
  return onFunction(handle, [&](const Function& function) { return function.parameter(index, offset, bytes); });
}

Result cuFuncIsLoaded(int* state, FunctionHandle handle) {
  return onFunction(handle, [&](const Function&) {
    if (!state) return cuda::kInvalidValue;
    *state = 1;
    return cuda::kSuccess;
  });
}
Result cuFuncLoad(FunctionHandle handle) {
  return onFunction(handle, [](const Function&) { return cuda::kSuccess; });
}

Result cuLaunchKernel(FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                      unsigned blockY, unsigned blockZ, unsigned sharedBytes, StreamHandle stream, void** parameters,
                      void** extra) {
  LaunchShape shape;
  shape.grid = {gridX, gridY, gridZ};
  shape.block = {blockX, blockY, blockZ};
  shape.sharedBytes = sharedBytes;
  return launch(function, shape, stream, parameters, extra);
}

Result cuLaunchKernelEx(const LaunchConfig* config, FunctionHandle function, void** parameters, void** extra) {
  if (!config) return cuda::kInvalidValue;
  LaunchShape shape;
  if (const Result result = shapeOf(*config, shape)) return result;
  return launch(function, shape, config->stream, parameters, extra);
}

Result cuLaunchCooperativeKernel(FunctionHandle function, unsigned gridX, unsigned gridY, unsigned gridZ,
                                 unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                                 StreamHandle stream, void** parameters) {
  LaunchShape shape;
  shape.grid = {gridX, gridY, gridZ};
  shape.block = {blockX, blockY, blockZ};
  shape.sharedBytes = sharedBytes;
  shape.cooperative = true;
  return launch(function, shape, stream, parameters, nullptr);
}

Result cuLaunchHostFunc(StreamHandle handle, HostFunction function, void* data) {
  return inContext([&](Context& context) {
    const std::shared_ptr<Stream> stream = Stream::find(context, handle);
    if (!stream) return kInvalidHandle;
    if (!function) return cuda::kInvalidValue;
    return stream->give(std::make_shared<HostWork>(HostNodeParams{function, data}));
  });
}

Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, FunctionHandle handle, int threads,
                                                   size_t sharedBytes) {
  return onFunction(handle, [&](const Function& function) {
    if (!blocks || threads < 1) return cuda::kInvalidValue;
    *blocks = blocksPerMultiprocessor(function, threads, sharedBytes);
    return cuda::kSuccess;
  });
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, FunctionHandle handle, int threads,
                                                            size_t sharedBytes, unsigned flags) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, handle, threads, sharedBytes);
}

Result cuOccupancyMaxPotentialBlockSize(int* grid, int* block, FunctionHandle handle, SharedBytesOfBlock sharedOfBlock,
                                        size_t sharedBytes, int limit) {
  return onFunction(handle, [&](const Function& function) {
    return bestBlock(grid, block, function, sharedOfBlock, sharedBytes, limit);
  });
}
Result cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, FunctionHandle handle,
                                                 SharedBytesOfBlock sharedOfBlock, size_t sharedBytes, int limit,
                                                 unsigned flags) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, handle, sharedOfBlock, sharedBytes, limit);
}

Result cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, FunctionHandle handle, int blocks, int threads) {
  return onFunction(handle, [&](const Function& function) {
    if (!bytes || blocks < 1 || threads < 1) return cuda::kInvalidValue;
    const Limits& limits = function.module->context().device.limits();
    if (blocksPerMultiprocessor(function, threads, 0) < blocks) return cuda::kInvalidValue;
    constexpr int kGroup = 128;
    const int ofBlock = limits.sharedPerMultiprocessor / blocks / kGroup * kGroup; // with what the system reserves
    const int own = int(function.kernel->staticShared());
    *bytes = size_t(std::clamp(ofBlock - own, 0, function.maxDynamicShared()));
    return cuda::kSuccess;
  });
}

Result cuOccupancyMaxPotentialClusterSize(int* size, FunctionHandle handle, const LaunchConfig* config) {
  return onFunction(handle, [&](const Function& function) {
    constexpr int kPortable = 8, kMost = 16;
    if (!size || !config) return cuda::kInvalidValue;
    if (function.module->context().device.limits().major < 9) return cuda::kNotSupported;
    *size = function.settings.nonPortable ? kMost : kPortable;
    return cuda::kSuccess;
  });
}

// Multiprocessors come in groups of 16 at the most, and a cluster stays within one.
Result cuOccupancyMaxActiveClusters(int* count, FunctionHandle handle, const LaunchConfig* config) {
  return onFunction(handle, [&](const Function& function) {
    LaunchShape shape;
    if (!count || !config) return cuda::kInvalidValue;
    if (const Result result = shapeOf(*config, shape)) return result;
    const Limits& limits = function.module->context().device.limits();
    if (limits.major < 9) return cuda::kNotSupported;
    const int threads = int(shape.block[0] * shape.block[1] * shape.block[2]);
    const int ctas = std::max(int(shape.cluster[0] * shape.cluster[1] * shape.cluster[2]), 1);
    *count = blocksPerMultiprocessor(function, threads, shape.sharedBytes) * limits.multiprocessors / ctas;
    return cuda::kSuccess;
  });
}

Result cuTensorMapEncodeTiled(void* map, int type, uint32_t rank, void* address, const uint64_t* sizes,
                              const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,
                              int swizzle, int promotion, int fill) {
  return inDriver([&] {
    if (!map || !address || !sizes || !box || !steps || (rank > 1 && !strides)) return cuda::kInvalidValue;
    std::string error;
    if (sim::encodeTensorMap(map, sim::TensorMapType(type), rank, address, sizes, strides, box, steps,
                             sim::TensorMapInterleave(interleave), sim::TensorMapSwizzle(swizzle),
                             sim::TensorMapPromotion(promotion), sim::TensorMapFill(fill), error))
      return cuda::kSuccess;
    std::fprintf(stderr, "tiletwin gpu: cuTensorMapEncodeTiled: %s\n", error.c_str());
    return cuda::kInvalidValue;
  });
}

Result cuTensorMapEncodeIm2col(void* map, int type, uint32_t rank, void* address, const uint64_t* sizes,
                               const uint64_t* strides, const int* lower, const int* upper, uint32_t channels,
                               uint32_t pixels, const uint32_t* steps, int interleave, int swizzle, int promotion,
                               int fill) {
  return inDriver([&] {
    if (!map || !address || !sizes || !strides || !lower || !upper || !steps) return cuda::kInvalidValue;
    std::string error;
    if (sim::encodeIm2colMap(map, sim::TensorMapType(type), rank, address, sizes, strides, lower, upper, channels,
                             pixels, steps, sim::TensorMapInterleave(interleave), sim::TensorMapSwizzle(swizzle),
                             sim::TensorMapPromotion(promotion), sim::TensorMapFill(fill), error))
      return cuda::kSuccess;
    std::fprintf(stderr, "tiletwin gpu: cuTensorMapEncodeIm2col: %s\n", error.c_str());
    return cuda::kInvalidValue;
  });
}

Result cuTensorMapReplaceAddress(void* map, void* address) {
  return inDriver([&] {
    if (!map || !address) return cuda::kInvalidValue;
    std::string error;
    if (sim::replaceTensorMapAddress(map, address, error)) return cuda::kSuccess;
    std::fprintf(stderr, "tiletwin gpu: cuTensorMapReplaceAddress: %s\n", error.c_str());
    return cuda::kInvalidValue;
  });
}

} // extern "C"
} // namespace tiletwin::driver
