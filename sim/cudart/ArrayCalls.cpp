// sim/cudart/ArrayCalls.cpp -- the runtime's arrays, textures and surfaces: the driver's, with formats told in another way.
#include "sim/cudart/Runtime.h"
#include "sim/driver/ArrayApi.h"
#include "sim/driver/MemoryApi.h"
#include <algorithm>

namespace tiletwin::cudart {
namespace {

enum ChannelKind : int { kSigned, kUnsigned, kFloatingPoint };
struct FormatRow {
  int format, bits, kind;
};
constexpr FormatRow kFormats[] = {
    {1, 8, kUnsigned}, {2, 16, kUnsigned}, {3, 32, kUnsigned},         {8, 8, kSigned},
    {9, 16, kSigned},  {10, 32, kSigned},  {0x10, 16, kFloatingPoint}, {0x20, 32, kFloatingPoint}};

/// False: channels of different sizes, or of a size that there is not.
bool formatOf(const ChannelFormat& c, int& format, unsigned& channels) {
  channels = c.w ? 4 : c.z ? 3 : c.y ? 2 : 1;
  const auto* row =
      std::ranges::find_if(kFormats, [&](const FormatRow& r) { return r.bits == c.x && r.kind == c.kind; });
  const bool isEven = (!c.y || c.y == c.x) && (!c.z || c.z == c.x) && (!c.w || c.w == c.x);
  if (row == std::end(kFormats) || !isEven) return false;
  format = row->format;
  return true;
}

ChannelFormat channelsOf(int format, unsigned channels) {
  const auto* row = std::ranges::find(kFormats, format, &FormatRow::format);
  if (row == std::end(kFormats)) return {};
  const int bits = row->bits;
  return {bits, channels > 1 ? bits : 0, channels > 2 ? bits : 0, channels > 3 ? bits : 0, row->kind};
}

/// body(the driver's description of an array).
template <class Body>
Error withArray(const ChannelFormat* channels, const Extent& extent, unsigned flags, const Body& body) noexcept {
  return inRuntime([&]() -> Error {
    Array3DDescription asked{extent.width, extent.height, extent.depth, 0, 0, flags};
    if (!channels || !formatOf(*channels, asked.format, asked.channels)) return kInvalidChannel;
    return body(asked);
  });
}

Error plainResource(const RuntimeResource& given, ResourceDescription& plain) {
  plain = {};
  plain.type = given.type;
  switch (given.type) {
  case kResourceArray: plain.array = given.array; return cuda::kSuccess;
  case kResourceMipmapped: plain.mipmapped = given.mipmapped; return cuda::kSuccess;
  case kResourceLinear:
    plain.linear.address = reinterpret_cast<DevicePointer>(given.linear.address);
    plain.linear.bytes = given.linear.bytes;
    return formatOf(given.linear.channels, plain.linear.format, plain.linear.channels) ? Error(cuda::kSuccess)
                                                                                       : kInvalidChannel;
  case kResourcePitched:
    plain.pitched.address = reinterpret_cast<DevicePointer>(given.pitched.address);
    plain.pitched.width = given.pitched.width, plain.pitched.height = given.pitched.height;
    plain.pitched.pitch = given.pitched.pitch;
    return formatOf(given.pitched.channels, plain.pitched.format, plain.pitched.channels) ? Error(cuda::kSuccess)
                                                                                          : kInvalidChannel;
  default: return cuda::kInvalidValue;
  }
}

TextureDescription plainTexture(const RuntimeTexture& given) {
  TextureDescription plain{};
  plain.addressing = given.addressing;
  plain.filter = given.filter;
  plain.flags = (given.readMode == 0 ? kReadAsInteger : 0) | (given.isNormalized ? kNormalizedCoordinates : 0);
  plain.anisotropy = given.anisotropy;
  plain.levelFilter = given.levelFilter;
  plain.levelBias = given.levelBias, plain.leastLevel = given.leastLevel, plain.mostLevel = given.mostLevel;
  plain.border = given.border;
  return plain;
}

/// A side of a copy of rows: an array, or memory with a pitch.
struct RowsSide {
  ArrayHandle array;
  const void* memory;
  size_t x, y, pitch;
};
Error copyRows(const RowsSide& from, const RowsSide& to, size_t width, size_t height,
               const StreamHandle* stream) noexcept {
  return inRuntime([&]() -> Error {
    if (!width || !height) return cuda::kSuccess;
    Copy2D copy{};
    copy.fromType = from.array ? kArrayMemory : kUnifiedMemory, copy.fromArray = from.array;
    copy.fromDevice = reinterpret_cast<DevicePointer>(from.memory);
    copy.fromX = from.x, copy.fromY = from.y, copy.fromPitch = from.pitch;
    copy.toType = to.array ? kArrayMemory : kUnifiedMemory, copy.toArray = to.array;
    copy.toDevice = reinterpret_cast<DevicePointer>(to.memory);
    copy.toX = to.x, copy.toY = to.y, copy.toPitch = to.pitch;
    copy.width = width, copy.height = height;
    return stream ? cuMemcpy2DAsync_v2(&copy, *stream) : cuMemcpy2D_v2(&copy);
  });
}
/// Bytes that go on from one row of an array to the next: whole rows, or a part of one.
Error copyRun(const RowsSide& from, const RowsSide& to, size_t bytes, const StreamHandle* stream) noexcept {
  Array3DDescription asked{};
  sim::TexelType type{};
  if (const Result result = cuArray3DGetDescriptor_v2(&asked, from.array ? from.array : to.array))
    return record(result);
  if (!texelOf(asked.format, type)) return record(cuda::kInvalidValue);
  const size_t row = asked.width * size_t(sim::bytesOf(type)) * asked.channels;
  RowsSide a = from, b = to;
  a.pitch = b.pitch = row;
  if (bytes <= row) return copyRows(a, b, bytes, 1, stream);
  return bytes % row || from.x || to.x ? record(cuda::kInvalidValue) : copyRows(a, b, row, bytes / row, stream);
}

} // namespace

extern "C" {

Error cudaMallocArray(ArrayHandle* array, const ChannelFormat* channels, size_t width, size_t height, unsigned flags) {
  return withArray(channels, {width, height, 0}, flags,
                   [&](const Array3DDescription& asked) { return cuArray3DCreate_v2(array, &asked); });
}
Error cudaMalloc3DArray(ArrayHandle* array, const ChannelFormat* channels, Extent extent, unsigned flags) {
  return withArray(channels, extent, flags,
                   [&](const Array3DDescription& asked) { return cuArray3DCreate_v2(array, &asked); });
}
Error cudaMallocMipmappedArray(MipmappedHandle* array, const ChannelFormat* channels, Extent extent, unsigned levels,
                               unsigned flags) {
  return withArray(channels, extent, flags,
                   [&](const Array3DDescription& asked) { return cuMipmappedArrayCreate(array, &asked, levels); });
}
Error cudaFreeArray(ArrayHandle array) {
  return inRuntime([&]() -> Error { return array ? cuArrayDestroy(array) : Error(cuda::kSuccess); });
}
Error cudaFreeMipmappedArray(MipmappedHandle array) {
  return inRuntime([&]() -> Error { return array ? cuMipmappedArrayDestroy(array) : Error(cuda::kSuccess); });
}
Error cudaArrayGetInfo(ChannelFormat* channels, Extent* extent, unsigned* flags, ArrayHandle array) {
  return inRuntime([&]() -> Error {
    Array3DDescription asked{};
    if (const Result result = cuArray3DGetDescriptor_v2(&asked, array)) return result;
    if (channels) *channels = channelsOf(asked.format, asked.channels);
    if (extent) *extent = {asked.width, asked.height, asked.depth};
    if (flags) *flags = asked.flags;
    return cuda::kSuccess;
  });
}
Error cudaGetChannelDesc(ChannelFormat* channels, ArrayHandle array) {
  return cudaArrayGetInfo(channels, nullptr, nullptr, array);
}

Error cudaMemcpy2DToArray(ArrayHandle to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                          size_t height, int kind) {
  return copyRows({nullptr, from, 0, 0, pitch}, {to, nullptr, x, y, 0}, width, height, nullptr);
}
Error cudaMemcpy2DToArrayAsync(ArrayHandle to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                               size_t height, int kind, StreamHandle stream) {
  return copyRows({nullptr, from, 0, 0, pitch}, {to, nullptr, x, y, 0}, width, height, &stream);
}
Error cudaMemcpy2DFromArray(void* to, size_t pitch, ArrayHandle from, size_t x, size_t y, size_t width, size_t height,
                            int kind) {
  return copyRows({from, nullptr, x, y, 0}, {nullptr, to, 0, 0, pitch}, width, height, nullptr);
}
Error cudaMemcpy2DFromArrayAsync(void* to, size_t pitch, ArrayHandle from, size_t x, size_t y, size_t width,
                                 size_t height, int kind, StreamHandle stream) {
  return copyRows({from, nullptr, x, y, 0}, {nullptr, to, 0, 0, pitch}, width, height, &stream);
}
Error cudaMemcpy2DArrayToArray(ArrayHandle to, size_t toX, size_t toY, ArrayHandle from, size_t fromX, size_t fromY,
                               size_t width, size_t height, int kind) {
  return copyRows({from, nullptr, fromX, fromY, 0}, {to, nullptr, toX, toY, 0}, width, height, nullptr);
}
Error cudaMemcpyToArray(ArrayHandle to, size_t x, size_t y, const void* from, size_t bytes, int kind) {
  return copyRun({nullptr, from, 0, 0, 0}, {to, nullptr, x, y, 0}, bytes, nullptr);
}
Error cudaMemcpyToArrayAsync(ArrayHandle to, size_t x, size_t y, const void* from, size_t bytes, int kind,
                             StreamHandle stream) {
  return copyRun({nullptr, from, 0, 0, 0}, {to, nullptr, x, y, 0}, bytes, &stream);
}
Error cudaMemcpyFromArray(void* to, ArrayHandle from, size_t x, size_t y, size_t bytes, int kind) {
  return copyRun({from, nullptr, x, y, 0}, {nullptr, to, 0, 0, 0}, bytes, nullptr);
}
Error cudaMemcpyFromArrayAsync(void* to, ArrayHandle from, size_t x, size_t y, size_t bytes, int kind,
                               StreamHandle stream) {
  return copyRun({from, nullptr, x, y, 0}, {nullptr, to, 0, 0, 0}, bytes, &stream);
}

Error cudaCreateTextureObject(unsigned long long* texture, const RuntimeResource* resource, const RuntimeTexture* asked,
                              const ViewDescription* view) {
  return inRuntime([&]() -> Error {
    ResourceDescription plain{};
    if (!texture || !resource || !asked) return cuda::kInvalidValue;
    if (const Error error = plainResource(*resource, plain)) return error;
    const TextureDescription description = plainTexture(*asked);
    uint64_t handle = 0;
    const Result result = cuTexObjectCreate(&handle, &plain, &description, view);
    *texture = handle;
    return result;
  });
}
Error cudaCreateSurfaceObject(unsigned long long* surface, const RuntimeResource* resource) {
  return inRuntime([&]() -> Error {
    ResourceDescription plain{};
    if (!surface || !resource) return cuda::kInvalidValue;
    if (const Error error = plainResource(*resource, plain)) return error;
    uint64_t handle = 0;
    const Result result = cuSurfObjectCreate(&handle, &plain);
    *surface = handle;
    return result;
  });
}

} // extern "C"
} // namespace tiletwin::cudart
