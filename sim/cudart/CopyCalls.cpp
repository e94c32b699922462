// sim/cudart/CopyCalls.cpp -- the runtime's copies and fills.
// Invariant: what a kind calls a device's memory is memory that the driver knows; otherwise the copy is refused, as on a GPU.
#include "sim/cudart/Binaries.h"
#include "sim/cudart/Runtime.h"
#include "sim/driver/ArrayApi.h"
#include "sim/driver/MemoryApi.h"

namespace tiletwin::cudart {
namespace {

DevicePointer addressOf(const void* memory) { return reinterpret_cast<DevicePointer>(memory); }

bool isKnown(const void* memory) {
  MemoryType type = kNoMemory;
  return cuPointerGetAttribute(&type, kPointerMemoryType, addressOf(memory)) == cuda::kSuccess;
}

/// kInvalidCopyDirection, kInvalidValue: the kind is none, or not that of the addresses.
Error checkKind(const void* to, const void* from, int kind) {
  if (kind < kHostToHost || kind > kCopyDefault) return kInvalidCopyDirection;
  const bool toDevice = kind == kHostToDevice || kind == kDeviceToDevice;
  const bool fromDevice = kind == kDeviceToHost || kind == kDeviceToDevice;
  return (toDevice && !isKnown(to)) || (fromDevice && !isKnown(from)) ? cuda::kInvalidValue : cuda::kSuccess;
}

/// A copy; `give(to, from)` hands it to the driver.
template <class Give> Error copy(void* to, const void* from, size_t bytes, int kind, const Give& give) noexcept {
  return inRuntime([&]() -> Error {
    if (!bytes) return cuda::kSuccess;
    if (!to || !from) return cuda::kInvalidValue;
    if (const Error error = checkKind(to, from, kind)) return error;
    return give(addressOf(to), addressOf(from));
  });
}

MemoryType typeOf(bool isDevice, int kind) {
  if (kind == kCopyDefault) return kUnifiedMemory;
  return isDevice ? kDeviceMemory : kHostMemory;
}

Copy3D plain3D(const Copy3DParameters& p) {
  Copy3D c{};
  const int kind = p.kind;
  c.fromType = typeOf(kind == kDeviceToHost || kind == kDeviceToDevice, kind);
  c.toType = typeOf(kind == kHostToDevice || kind == kDeviceToDevice, kind);
  c.fromX = p.fromPosition.x, c.fromY = p.fromPosition.y, c.fromZ = p.fromPosition.z;
  c.toX = p.toPosition.x, c.toY = p.toPosition.y, c.toZ = p.toPosition.z;
  c.fromHost = p.from.address, c.fromDevice = addressOf(p.from.address);
  c.toHost = p.to.address, c.toDevice = addressOf(p.to.address);
  c.fromPitch = p.from.pitch, c.fromHeight = p.from.height;
  c.toPitch = p.to.pitch, c.toHeight = p.to.height;
  c.width = p.extent.width, c.height = p.extent.height, c.depth = p.extent.depth;
  return c;
}

/// With an array on one side widths and places along rows are in its texels.
Error useArrays(const Copy3DParameters& p, Copy3D& plain) {
  Array3DDescription asked{};
  sim::TexelType type{};
  auto* const array = static_cast<ArrayHandle>(p.fromArray ? p.fromArray : p.toArray);
  if (const Result result = cuArray3DGetDescriptor_v2(&asked, array)) return result;
  if (!texelOf(asked.format, type)) return cuda::kInvalidValue;
  const size_t texel = size_t(sim::bytesOf(type)) * asked.channels;
  plain.width *= texel;
  if (p.fromArray) plain.fromType = kArrayMemory, plain.fromArray = p.fromArray, plain.fromX *= texel;
  if (p.toArray) plain.toType = kArrayMemory, plain.toArray = p.toArray, plain.toX *= texel;
  return cuda::kSuccess;
}

template <class Give> Error copy3D(const Copy3DParameters* p, const Give& give) noexcept {
  return inRuntime([&]() -> Error {
    if (!p) return cuda::kInvalidValue;
    if (!p->extent.width || !p->extent.height || !p->extent.depth) return cuda::kSuccess;
    if (!p->fromArray && !p->toArray)
      if (const Error error = checkKind(p->to.address, p->from.address, p->kind)) return error;
    Copy3D plain = plain3D(*p);
    if (p->fromArray || p->toArray)
      if (const Error error = useArrays(*p, plain)) return error;
    return give(plain);
  });
}

template <class Give>
Error copy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height, int kind,
             const Give& give) noexcept {
  if (width > toPitch || width > fromPitch) return record(kInvalidPitch);
  Copy3DParameters p{};
  p.from = {const_cast<void*>(from), fromPitch, width, height}; // NOLINT: it is read
  p.to = {to, toPitch, width, height};
  p.extent = {width, height, 1};
  p.kind = kind;
  return copy3D(&p, give);
}

/// body(the address of a variable, moved by an offset).
template <class Body> Error onSymbol(const void* symbol, size_t bytes, size_t offset, const Body& body) noexcept {
  DevicePointer address = 0;
  const Error error = inRuntime([&]() -> Error {
    size_t size = 0;
    if (const Error missing = Binaries::instance().variable(symbol, address, size)) return missing;
    return offset > size || bytes > size - offset ? cuda::kInvalidValue : cuda::kSuccess;
  });
  return error ? error : body(reinterpret_cast<void*>(address + offset)); // NOLINT: an address
}

} // namespace

extern "C" {

Error cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return copy(to, from, bytes, kind, [&](DevicePointer t, DevicePointer f) { return cuMemcpy(t, f, bytes); });
}

Error cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, StreamHandle stream) {
  return copy(to, from, bytes, kind,
              [&](DevicePointer t, DevicePointer f) { return cuMemcpyAsync(t, f, bytes, stream); });
}

// Memory of all devices is the host's, so a copy between two is a copy.
Error cudaMemcpyPeer(void* to, int toDevice, const void* from, int fromDevice, size_t bytes) {
  return cudaMemcpy(to, from, bytes, kDeviceToDevice);
}

Error cudaMemcpyPeerAsync(void* to, int toDevice, const void* from, int fromDevice, size_t bytes, StreamHandle stream) {
  return cudaMemcpyAsync(to, from, bytes, kDeviceToDevice, stream);
}

Error cudaMemcpy2D(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                   int kind) {
  return copy2D(to, toPitch, from, fromPitch, width, height, kind,
                [](const Copy3D& plain) { return cuMemcpy3D_v2(&plain); });
}

Error cudaMemcpy2DAsync(void* to, size_t toPitch, const void* from, size_t fromPitch, size_t width, size_t height,
                        int kind, StreamHandle stream) {
  return copy2D(to, toPitch, from, fromPitch, width, height, kind,
                [&](const Copy3D& plain) { return cuMemcpy3DAsync_v2(&plain, stream); });
}

Error cudaMemcpy3D(const Copy3DParameters* copy) {
  return copy3D(copy, [](const Copy3D& plain) { return cuMemcpy3D_v2(&plain); });
}

Error cudaMemcpy3DAsync(const Copy3DParameters* copy, StreamHandle stream) {
  return copy3D(copy, [&](const Copy3D& plain) { return cuMemcpy3DAsync_v2(&plain, stream); });
}

Error cudaMemset(void* to, int value, size_t bytes) {
  return inRuntime(
      [&] { return bytes ? cuMemsetD8_v2(addressOf(to), (unsigned char)(value), bytes) : cuda::kSuccess; });
}

Error cudaMemsetAsync(void* to, int value, size_t bytes, StreamHandle stream) {
  return inRuntime(
      [&] { return bytes ? cuMemsetD8Async(addressOf(to), (unsigned char)(value), bytes, stream) : cuda::kSuccess; });
}

Error cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, StreamHandle stream) {
  return inRuntime([&] {
    if (!width || !height) return cuda::kSuccess;
    return cuMemsetD2D8Async(addressOf(to), pitch, (unsigned char)(value), width, height, stream);
  });
}

Error cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}

Error cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, StreamHandle stream) {
  for (size_t z = 0; z < extent.depth; ++z) {
    void* slice = static_cast<char*>(to.address) + z * to.pitch * to.height;
    if (const Error error = cudaMemset2DAsync(slice, to.pitch, value, extent.width, extent.height, stream))
      return error;
  }
  return cuda::kSuccess;
}

Error cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return cudaMemset3DAsync(to, value, extent, nullptr);
}

Error cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return onSymbol(symbol, bytes, offset, [&](void* to) { return cudaMemcpy(to, from, bytes, kind); });
}

Error cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset, int kind,
                              StreamHandle stream) {
  return onSymbol(symbol, bytes, offset, [&](void* to) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

Error cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return onSymbol(symbol, bytes, offset, [&](void* from) { return cudaMemcpy(to, from, bytes, kind); });
}

Error cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int kind,
                                StreamHandle stream) {
  return onSymbol(symbol, bytes, offset, [&](void* from) { return cudaMemcpyAsync(to, from, bytes, kind, stream); });
}

} // extern "C"
} // namespace tiletwin::cudart
