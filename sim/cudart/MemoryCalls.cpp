// sim/cudart/MemoryCalls.cpp -- the runtime's functions that make memory, give it back and tell about it.
#include "sim/cudart/Binaries.h"
#include "sim/cudart/Runtime.h"
#include "sim/driver/MemoryApi.h"

namespace tiletwin::cudart {
namespace {

DevicePointer addressOf(const void* memory) { return reinterpret_cast<DevicePointer>(memory); }

/// Of functions that make `bytes` bytes: null for none. make(address) is the driver's.
template <class Make> Error allocate(void** memory, size_t bytes, const Make& make) noexcept {
  return inRuntime([&]() -> Error {
    if (!memory) return cuda::kInvalidValue;
    *memory = nullptr;
    if (!bytes) return cuda::kSuccess;
    DevicePointer address = 0;
    const Result result = make(&address);
    if (!result) *memory = reinterpret_cast<void*>(address); // NOLINT: an address
    return result;
  });
}

} // namespace

extern "C" {

Error cudaMalloc(void** address, size_t bytes) {
  return allocate(address, bytes, [&](DevicePointer* made) { return cuMemAlloc_v2(made, bytes); });
}

Error cudaFree(void* address) {
  return inRuntime([&] { return cuMemFree_v2(addressOf(address)); });
}

Error cudaHostAlloc(void** address, size_t bytes, unsigned flags) {
  return allocate(address, bytes,
                  [&](DevicePointer* made) { return cuMemHostAlloc(reinterpret_cast<void**>(made), bytes, flags); });
}

Error cudaMallocHost(void** address, size_t bytes) { return cudaHostAlloc(address, bytes, 0); }

Error cudaFreeHost(void* address) {
  return inRuntime([&] { return address ? cuMemFreeHost(address) : cuda::kSuccess; });
}

Error cudaMallocManaged(void** address, size_t bytes, unsigned flags) {
  return inRuntime([&]() -> Error {
    DevicePointer made = 0;
    if (!address) return cuda::kInvalidValue;
    const Result result = cuMemAllocManaged(&made, bytes, flags);
    if (!result) *address = reinterpret_cast<void*>(made); // NOLINT: an address
    return result;
  });
}

Error cudaMallocPitch(void** address, size_t* pitch, size_t width, size_t height) {
  constexpr unsigned kElementBytes = 4;
  if (!pitch) return record(cuda::kInvalidValue);
  *pitch = 0;
  return allocate(address, width && height,
                  [&](DevicePointer* made) { return cuMemAllocPitch_v2(made, pitch, width, height, kElementBytes); });
}

Error cudaMalloc3D(PitchedPointer* made, Extent extent) {
  size_t rows = 0;
  if (!made || __builtin_mul_overflow(extent.height, extent.depth, &rows)) return record(cuda::kInvalidValue);
  *made = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&made->address, &made->pitch, extent.width, rows);
}

Error cudaMallocAsync(void** address, size_t bytes, StreamHandle stream) {
  return allocate(address, bytes, [&](DevicePointer* made) { return cuMemAllocAsync(made, bytes, stream); });
}

Error cudaMallocFromPoolAsync(void** address, size_t bytes, PoolHandle pool, StreamHandle stream) {
  return allocate(address, bytes,
                  [&](DevicePointer* made) { return cuMemAllocFromPoolAsync(made, bytes, pool, stream); });
}

Error cudaFreeAsync(void* address, StreamHandle stream) {
  return inRuntime([&] { return address ? cuMemFreeAsync(addressOf(address), stream) : cuda::kSuccess; });
}

Error cudaHostRegister(void* address, size_t bytes, unsigned flags) {
  return inRuntime([&] { return cuMemHostRegister_v2(address, bytes, flags); });
}

Error cudaHostGetDevicePointer(void** address, void* host, unsigned flags) {
  return inRuntime(
      [&] { return cuMemHostGetDevicePointer_v2(reinterpret_cast<DevicePointer*>(address), host, flags); });
}

Error cudaPointerGetAttributes(PointerAttributes* attributes, const void* address) {
  return inRuntime([&]() -> Error {
    if (!attributes) return cuda::kInvalidValue;
    *attributes = {};
    MemoryType type = kNoMemory;
    unsigned isManaged = 0;
    if (cuPointerGetAttribute(&type, kPointerMemoryType, addressOf(address))) { // memory that only the host knows
      attributes->device = -2;
      attributes->hostPointer = const_cast<void*>(address); // NOLINT: a client's own
      return cuda::kSuccess;
    }
    (void)cuPointerGetAttribute(&isManaged, kPointerIsManaged, addressOf(address));
    (void)cuPointerGetAttribute(&attributes->device, kPointerDeviceOrdinal, addressOf(address));
    constexpr int kManaged = 3;
    attributes->type = isManaged ? kManaged : int(type);
    attributes->devicePointer = const_cast<void*>(address); // NOLINT: one address for all
    if (isManaged || type == kHostMemory) attributes->hostPointer = attributes->devicePointer;
    return cuda::kSuccess;
  });
}

Error cudaMemAdvise(const void* address, size_t bytes, int advice, Location location) {
  return inRuntime([&] { return cuMemAdvise_v2(addressOf(address), bytes, advice, location); });
}

Error cudaMemPrefetchAsync(const void* address, size_t bytes, Location location, unsigned flags, StreamHandle stream) {
  return inRuntime([&] { return cuMemPrefetchAsync_v2(addressOf(address), bytes, location, flags, stream); });
}

Error cudaStreamAttachMemAsync(StreamHandle stream, void* address, size_t bytes, unsigned flags) {
  return inRuntime([&] { return cuStreamAttachMemAsync(stream, addressOf(address), bytes, flags); });
}

Error cudaStreamAddCallback(StreamHandle stream, StreamCallback callback, void* data, unsigned flags) {
  return inRuntime([&] { return cuStreamAddCallback(stream, callback, data, flags); });
}

[[gnu::visibility("default")]] ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

Error cudaGetSymbolAddress(void** address, const void* symbol) {
  return inRuntime([&]() -> Error {
    size_t bytes = 0;
    if (!address) return cuda::kInvalidValue;
    return Binaries::instance().variable(symbol, *reinterpret_cast<DevicePointer*>(address), bytes);
  });
}

Error cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return inRuntime([&]() -> Error {
    DevicePointer address = 0;
    if (!bytes) return cuda::kInvalidValue;
    return Binaries::instance().variable(symbol, address, *bytes);
  });
}

} // extern "C"
} // namespace tiletwin::cudart
