// sim/driver/CopyCalls.cpp -- the driver's functions that copy and fill memory.
// Host and devices share one address space, so every copy is one between addresses of this process. Which side is a device's is
// checked where the driver knows: a range has to lie in one allocation as a whole.
#include "sim/driver/Arrays.h"
#include "sim/driver/Call.h"
#include "sim/driver/Copies.h"
#include "sim/driver/DeviceMemory.h"
#include "sim/driver/Handles.h"
#include "sim/driver/MemoryApi.h"
#include "sim/driver/Stream.h"
#include <cstring>

namespace tiletwin::driver {
namespace {

bool mayAccess(const void* at, size_t bytes) {
  return DeviceMemory::instance().mayAccess(reinterpret_cast<uint64_t>(at), bytes);
}
const std::byte* hostAt(DevicePointer address) { return reinterpret_cast<const std::byte*>(address); } // NOLINT
bool isDevice(DevicePointer address) { return DeviceMemory::instance().find(address).has_value(); }

/// Bytes from the first one of a shape to the last one, on one side.
size_t reach(const CopyShape& s, size_t pitch, size_t slice) {
  return (s.depth - 1) * slice + (s.height - 1) * pitch + s.width;
}

/// Gives a copy to a stream; a call that returns when it is done has null.
Result give(Context& context, const std::shared_ptr<CopyWork>& work, const StreamHandle* handle) {
  const CopyShape& s = work->shape;
  if (!s.width || !s.height || !s.depth) return cuda::kSuccess;
  if (!s.from || !s.to || !mayAccess(s.from, reach(s, s.fromPitch, s.fromSlice)) ||
      !mayAccess(s.to, reach(s, s.toPitch, s.toSlice)))
    return cuda::kInvalidValue;
  if (!handle) return context.legacy->giveNow(*work);
  const std::shared_ptr<Stream> stream = Stream::find(context, *handle);
  return stream ? stream->give(work) : kInvalidHandle;
}

Result copyBytes(void* to, const void* from, size_t bytes, const StreamHandle* stream) noexcept {
  return inContext([&](Context& context) {
    if (!bytes) return cuda::kSuccess;
    CopyShape shape;
    shape.from = static_cast<const std::byte*>(from);
    shape.to = static_cast<std::byte*>(to);
    shape.width = bytes;
    auto work = std::make_shared<CopyWork>(shape);
    work->asked = askedOf(shape, isDevice(reinterpret_cast<uint64_t>(from)), isDevice(reinterpret_cast<uint64_t>(to)));
    return give(context, work, stream);
  });
}
void* at(DevicePointer address) { return reinterpret_cast<void*>(address); } // NOLINT: an address

Result copy3D(const Copy3D* copy, const StreamHandle* stream) noexcept {
  return inContext([&](Context& context) {
    if (!copy) return cuda::kInvalidValue;
    std::shared_ptr<CopyWork> work;
    if (const Result result = makeCopy(*copy, work)) return result;
    return give(context, work, stream);
  });
}

/// A side of a copy of one row.
struct RowEnd {
  MemoryType type;
  const void* host;
  DevicePointer device;
  ArrayHandle array;
};
Result copyRow(const RowEnd& from, const RowEnd& to, size_t fromOffset, size_t toOffset, size_t bytes,
               const StreamHandle* stream) noexcept {
  Copy3D copy{};
  copy.fromType = from.type, copy.fromHost = from.host, copy.fromDevice = from.device, copy.fromArray = from.array;
  copy.toType = to.type, copy.toHost = const_cast<void*>(to.host), copy.toDevice = to.device, copy.toArray = to.array;
  copy.fromX = fromOffset, copy.toX = toOffset;
  copy.width = bytes, copy.height = copy.depth = 1;
  return copy3D(&copy, stream);
}

Copy3D with3Dimensions(const Copy2D& flat) {
  Copy3D copy{};
  copy.fromX = flat.fromX;
  copy.fromY = flat.fromY;
  copy.fromType = flat.fromType;
  copy.fromHost = flat.fromHost;
  copy.fromDevice = flat.fromDevice;
  copy.fromArray = flat.fromArray;
  copy.fromPitch = flat.fromPitch;
  copy.toX = flat.toX;
  copy.toY = flat.toY;
  copy.toType = flat.toType;
  copy.toHost = flat.toHost;
  copy.toDevice = flat.toDevice;
  copy.toArray = flat.toArray;
  copy.toPitch = flat.toPitch;
  copy.width = flat.width;
  copy.height = flat.height;
  copy.depth = 1;
  return copy;
}

Result copy2D(const Copy2D* flat, const StreamHandle* stream) noexcept {
  if (!flat) return cuda::kInvalidValue;
  const Copy3D copy = with3Dimensions(*flat);
  return copy3D(&copy, stream);
}

Result fill(const MemsetNodeParams& params, const StreamHandle* handle) noexcept {
  return inContext([&](Context& context) {
    if (!params.width || !params.height) return cuda::kSuccess;
    if (const Result result = checkFill(params)) return result;
    FillWork now(params);
    if (!handle) return context.legacy->giveNow(now);
    const std::shared_ptr<Stream> stream = Stream::find(context, *handle);
    return stream ? stream->give(std::make_shared<FillWork>(params)) : kInvalidHandle;
  });
}

} // namespace

// ---- What graphs' nodes need too --------------------------------------------------------------------------------------------------

Result checkFill(const MemsetNodeParams& params) {
  const size_t row = params.width * params.elementBytes;
  if (params.elementBytes != 1 && params.elementBytes != 2 && params.elementBytes != 4) return cuda::kInvalidValue;
  if (params.to % params.elementBytes || (params.height > 1 && params.pitch < row)) return cuda::kInvalidValue;
  if (!isDevice(params.to) || !mayAccess(hostAt(params.to), (params.height - 1) * params.pitch + row))
    return cuda::kInvalidValue;
  return cuda::kSuccess;
}

Copy3D askedOf(const CopyShape& shape, bool fromDevice, bool toDevice) {
  Copy3D copy{};
  copy.fromType = fromDevice ? kDeviceMemory : kHostMemory;
  copy.fromHost = fromDevice ? nullptr : shape.from;
  copy.fromDevice = fromDevice ? reinterpret_cast<uint64_t>(shape.from) : 0;
  copy.toType = toDevice ? kDeviceMemory : kHostMemory;
  copy.toHost = toDevice ? nullptr : shape.to;
  copy.toDevice = toDevice ? reinterpret_cast<uint64_t>(shape.to) : 0;
  copy.width = shape.width;
  copy.height = copy.depth = 1;
  return copy;
}

namespace {

/// One side of a copy: where its first byte lies, and the bytes from row to row and slice to slice.
struct Side {
  const std::byte* first = nullptr;
  size_t pitch = 0, slice = 0;
};

struct SideDescription {
  size_t x, y, z;
  MemoryType type;
  const void* host;
  DevicePointer device;
  void* array;
  size_t pitch, height;
};

Result sideOf(const SideDescription& d, const Copy3D& copy, Side& side) {
  if (d.type == kArrayMemory) {
    const std::shared_ptr<Array> array = find<Array>(d.array);
    if (!array) return kInvalidHandle;
    const sim::ImageLevel& level = array->level;
    if (d.x + copy.width > level.pitch || d.y + copy.height > level.height || d.z + copy.depth > level.depth ||
        d.x % size_t(array->texelBytes) || copy.width % size_t(array->texelBytes))
      return cuda::kInvalidValue;
    side.pitch = level.pitch;
    side.slice = level.slice;
    side.first = level.data;
  } else {
    side.first = d.type == kHostMemory                                 ? static_cast<const std::byte*>(d.host)
                 : d.type == kDeviceMemory || d.type == kUnifiedMemory ? hostAt(d.device)
                                                                       : nullptr;
    side.pitch = d.pitch ? d.pitch : d.x + copy.width; // 0: rows without gaps
    side.slice = side.pitch * (d.height ? d.height : copy.height);
    if (!side.first || (copy.height > 1 && side.pitch < copy.width)) return cuda::kInvalidValue;
  }
  side.first += d.z * side.slice + d.y * side.pitch + d.x;
  return cuda::kSuccess;
}

} // namespace

Result makeCopy(const Copy3D& copy, std::shared_ptr<CopyWork>& work) {
  Side from, to;
  if (const Result result = sideOf({copy.fromX, copy.fromY, copy.fromZ, copy.fromType, copy.fromHost, copy.fromDevice,
                                    copy.fromArray, copy.fromPitch, copy.fromHeight},
                                   copy, from))
    return result;
  if (const Result result = sideOf({copy.toX, copy.toY, copy.toZ, copy.toType, copy.toHost, copy.toDevice, copy.toArray,
                                    copy.toPitch, copy.toHeight},
                                   copy, to))
    return result;
  CopyShape shape;
  shape.width = copy.width;
  shape.height = copy.height;
  shape.depth = copy.depth;
  shape.from = from.first;
  shape.fromPitch = from.pitch;
  shape.fromSlice = from.slice;
  shape.to = const_cast<std::byte*>(to.first);
  shape.toPitch = to.pitch;
  shape.toSlice = to.slice;
  work = std::make_shared<CopyWork>(shape);
  work->asked = copy;
  return cuda::kSuccess;
}

extern "C" {

Result cuMemcpy(DevicePointer to, DevicePointer from, size_t bytes) {
  return copyBytes(at(to), at(from), bytes, nullptr);
}
Result cuMemcpyAsync(DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) {
  return copyBytes(at(to), at(from), bytes, &stream);
}
Result cuMemcpyHtoD_v2(DevicePointer to, const void* from, size_t bytes) {
  return isDevice(to) || !bytes ? copyBytes(at(to), from, bytes, nullptr) : cuda::kInvalidValue;
}
Result cuMemcpyDtoH_v2(void* to, DevicePointer from, size_t bytes) {
  return isDevice(from) || !bytes ? copyBytes(to, at(from), bytes, nullptr) : cuda::kInvalidValue;
}
Result cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, size_t bytes) {
  return (isDevice(to) && isDevice(from)) || !bytes ? copyBytes(at(to), at(from), bytes, nullptr) : cuda::kInvalidValue;
}
Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  return isDevice(to) || !bytes ? copyBytes(at(to), from, bytes, &stream) : cuda::kInvalidValue;
}
Result cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  return isDevice(from) || !bytes ? copyBytes(to, at(from), bytes, &stream) : cuda::kInvalidValue;
}
Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) {
  return (isDevice(to) && isDevice(from)) || !bytes ? copyBytes(at(to), at(from), bytes, &stream) : cuda::kInvalidValue;
}
Result cuMemcpyPeer(DevicePointer to, ContextHandle toContext, DevicePointer from, ContextHandle fromContext,
                    size_t bytes) {
  if (!find<Context>(toContext) || !find<Context>(fromContext)) return cuda::kInvalidContext;
  return cuMemcpyDtoD_v2(to, from, bytes);
}
Result cuMemcpyPeerAsync(DevicePointer to, ContextHandle toContext, DevicePointer from, ContextHandle fromContext,
                         size_t bytes, StreamHandle stream) {
  if (!find<Context>(toContext) || !find<Context>(fromContext)) return cuda::kInvalidContext;
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
Result cuMemcpy2D_v2(const Copy2D* copy) { return copy2D(copy, nullptr); }
Result cuMemcpy2DUnaligned_v2(const Copy2D* copy) { return copy2D(copy, nullptr); }
Result cuMemcpy2DAsync_v2(const Copy2D* copy, StreamHandle stream) { return copy2D(copy, &stream); }
Result cuMemcpy3D_v2(const Copy3D* copy) { return copy3D(copy, nullptr); }
Result cuMemcpy3DAsync_v2(const Copy3D* copy, StreamHandle stream) { return copy3D(copy, &stream); }

Result cuMemcpyHtoA_v2(ArrayHandle to, size_t offset, const void* from, size_t bytes) {
  return copyRow({kHostMemory, from, 0, nullptr}, {kArrayMemory, nullptr, 0, to}, 0, offset, bytes, nullptr);
}
Result cuMemcpyHtoAAsync_v2(ArrayHandle to, size_t offset, const void* from, size_t bytes, StreamHandle stream) {
  return copyRow({kHostMemory, from, 0, nullptr}, {kArrayMemory, nullptr, 0, to}, 0, offset, bytes, &stream);
}
Result cuMemcpyAtoH_v2(void* to, ArrayHandle from, size_t offset, size_t bytes) {
  return copyRow({kArrayMemory, nullptr, 0, from}, {kHostMemory, to, 0, nullptr}, offset, 0, bytes, nullptr);
}
Result cuMemcpyAtoHAsync_v2(void* to, ArrayHandle from, size_t offset, size_t bytes, StreamHandle stream) {
  return copyRow({kArrayMemory, nullptr, 0, from}, {kHostMemory, to, 0, nullptr}, offset, 0, bytes, &stream);
}
Result cuMemcpyDtoA_v2(ArrayHandle to, size_t offset, DevicePointer from, size_t bytes) {
  return copyRow({kDeviceMemory, nullptr, from, nullptr}, {kArrayMemory, nullptr, 0, to}, 0, offset, bytes, nullptr);
}
Result cuMemcpyAtoD_v2(DevicePointer to, ArrayHandle from, size_t offset, size_t bytes) {
  return copyRow({kArrayMemory, nullptr, 0, from}, {kDeviceMemory, nullptr, to, nullptr}, offset, 0, bytes, nullptr);
}
Result cuMemcpyAtoA_v2(ArrayHandle to, size_t toOffset, ArrayHandle from, size_t fromOffset, size_t bytes) {
  return copyRow({kArrayMemory, nullptr, 0, from}, {kArrayMemory, nullptr, 0, to}, fromOffset, toOffset, bytes,
                 nullptr);
}

Result cuMemsetD8_v2(DevicePointer to, unsigned char value, size_t count) {
  return fill({to, 0, value, 1, count, 1}, nullptr);
}
Result cuMemsetD16_v2(DevicePointer to, unsigned short value, size_t count) {
  return fill({to, 0, value, 2, count, 1}, nullptr);
}
Result cuMemsetD32_v2(DevicePointer to, unsigned value, size_t count) {
  return fill({to, 0, value, 4, count, 1}, nullptr);
}
Result cuMemsetD2D8_v2(DevicePointer to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fill({to, pitch, value, 1, width, height}, nullptr);
}
Result cuMemsetD2D16_v2(DevicePointer to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fill({to, pitch, value, 2, width, height}, nullptr);
}
Result cuMemsetD2D32_v2(DevicePointer to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fill({to, pitch, value, 4, width, height}, nullptr);
}
Result cuMemsetD8Async(DevicePointer to, unsigned char value, size_t count, StreamHandle stream) {
  return fill({to, 0, value, 1, count, 1}, &stream);
}
Result cuMemsetD16Async(DevicePointer to, unsigned short value, size_t count, StreamHandle stream) {
  return fill({to, 0, value, 2, count, 1}, &stream);
}
Result cuMemsetD32Async(DevicePointer to, unsigned value, size_t count, StreamHandle stream) {
  return fill({to, 0, value, 4, count, 1}, &stream);
}
Result cuMemsetD2D8Async(DevicePointer to, size_t pitch, unsigned char value, size_t width, size_t height,
                         StreamHandle stream) {
  return fill({to, pitch, value, 1, width, height}, &stream);
}
Result cuMemsetD2D16Async(DevicePointer to, size_t pitch, unsigned short value, size_t width, size_t height,
                          StreamHandle stream) {
  return fill({to, pitch, value, 2, width, height}, &stream);
}
Result cuMemsetD2D32Async(DevicePointer to, size_t pitch, unsigned value, size_t width, size_t height,
                          StreamHandle stream) {
  return fill({to, pitch, value, 4, width, height}, &stream);
}

} // extern "C"
} // namespace tiletwin::driver
